// The machine that CUDA C++ describes, on the host: a fibre for each thread of a cta, the ctas one after the other.
// Force-included before generated source. Written from CUDA's public documentation (C++ Programming Guide, Math API).
// Outside of it: inline PTX, clusters, cooperative grids, asynchronous copies.
#pragma once

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ucontext.h>

// ---- qualifiers -----------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ thread_local  // static, and may follow `extern`
#define __builtin_assume(condition) ((condition) ? void() : machine::fail("an assumption does not hold"))

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x = 1, y = 1, z = 1; };
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

// ---- fibres ---------------------------------------------------------------------------------------------------------

namespace machine {

enum class State { ready, at_barrier, in_warp, done };

struct Fibre {
  jmp_buf here;
  uint3 index;
  int rank = 0;
  State state = State::ready;
  std::unique_ptr<char[]> stack;
};

// What a lane brings to something that its warp does together, and what it gets.
enum class Kind { sync, shuffle, vote, add, min, max, min_signed, max_signed, bit_and, bit_or, bit_xor, match };
struct Deposit { Kind kind; unsigned int mask; unsigned long long value; int from; };
struct Warp {
  Deposit given[32];
  unsigned long long got[32];
  unsigned int arrived = 0, exited = 0;
};

struct Machine {
  std::vector<Fibre> fibres;
  std::vector<Warp> warps;
  std::function<void()> kernel;
  jmp_buf scheduler;
  ucontext_t home, fresh;
  int threads = 0, current = 0, waiting = 0, finished = 0;
  long votes_now = 0, votes_then = 0;  // true conditions at the barrier that fills, and at the last one
  long turns = 0;
  bool backwards = false;
  const char* failure = nullptr;
  std::vector<char> output;
};
static Machine m;

inline Fibre& me() { return m.fibres[m.current]; }

// Back to the scheduler until it is this fibre's turn again.
__attribute__((noinline)) inline void yield() {
  if (!_setjmp(me().here)) _longjmp(m.scheduler, 1);
}

[[noreturn]] inline void fail(const char* why) {
  if (!m.failure) m.failure = why;
  _longjmp(m.scheduler, 2);
}

inline void open_barrier_when_full() {
  if (!m.waiting || m.waiting + m.finished < m.threads) return;
  m.votes_then = m.votes_now, m.votes_now = 0, m.waiting = 0;
  for (int i = 0; i < m.threads; ++i)
    if (m.fibres[i].state == State::at_barrier) m.fibres[i].state = State::ready;
}

inline long barrier(bool vote) {
  m.votes_now += vote, ++m.waiting;
  me().state = State::at_barrier;
  open_barrier_when_full();
  while (me().state == State::at_barrier) yield();
  return m.votes_then;
}

inline unsigned long long combined(Kind kind, unsigned long long a, unsigned long long b) {
  const auto sa = (int)a, sb = (int)b;
  switch (kind) {
    case Kind::add: return (unsigned int)(a + b);
    case Kind::min: return a < b ? a : b;
    case Kind::max: return a < b ? b : a;
    case Kind::min_signed: return (unsigned int)(sa < sb ? sa : sb);
    case Kind::max_signed: return (unsigned int)(sa < sb ? sb : sa);
    case Kind::bit_and: return a & b;
    case Kind::bit_or: return a | b;
    case Kind::bit_xor: return a ^ b;
    default: return 0;
  }
}

// All lanes of `mask` are here: give each what it came for.
inline void complete(Warp& warp, unsigned int mask) {
  const int first = __builtin_ctz(mask);
  const Kind kind = warp.given[first].kind;
  unsigned long long all = kind == Kind::vote ? 0 : warp.given[first].value;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Deposit& given = warp.given[lane];
    if (given.kind != kind || given.mask != mask) fail("threads of a warp meet in different functions, or with different masks");
    if (kind == Kind::vote) all |= (unsigned long long)(given.value != 0) << lane;
    else if (lane != first) all = combined(kind, all, given.value);
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const int from = warp.given[lane].from;
    if (kind == Kind::shuffle && !(mask >> from & 1)) fail("a shuffle reads a lane that does not take part");
    warp.got[lane] = kind == Kind::shuffle ? warp.given[from].value : all;
  }
  warp.arrived &= ~mask;
  const int base = (int)(&warp - m.warps.data()) * 32;
  for (int lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) m.fibres[base + lane].state = State::ready;
}

inline unsigned long long together(Kind kind, unsigned int mask, unsigned long long value, int from = 0) {
  Warp& warp = m.warps[me().rank / 32];
  const int lane = me().rank % 32;
  if (!(mask >> lane & 1)) fail("a lane is not in the mask that it gives");
  const int lanes = m.threads - me().rank / 32 * 32;
  if (lanes < 32 && kind == Kind::sync) mask &= (1u << lanes) - 1;  // a last warp that is not full
  if (kind == Kind::sync) mask &= ~warp.exited;
  warp.given[lane] = {kind, mask, value, from};
  warp.arrived |= 1u << lane;
  me().state = State::in_warp;
  if ((warp.arrived & mask) == mask) complete(warp, mask);
  while (me().state == State::in_warp) yield();
  return warp.got[lane];
}

// A fibre lives as long as the launch: it runs the kernel for one cta after the other.
inline void live() {
  for (;;) {
    m.kernel();
    Fibre& fibre = me();
    fibre.state = State::done, ++m.finished;
    m.warps[fibre.rank / 32].exited |= 1u << fibre.rank % 32;
    open_barrier_when_full();
    yield();
  }
}

inline void enter() {
  if (!_setjmp(me().here)) swapcontext(&m.fresh, &m.home);
  live();
}

inline void make(int threads, unsigned int stack) {
  m.threads = threads;
  m.fibres = std::vector<Fibre>(threads);
  m.warps = std::vector<Warp>((threads + 31) / 32);
  for (int rank = 0; rank < threads; ++rank) {
    Fibre& fibre = m.fibres[rank];
    fibre.rank = rank;
    fibre.index = {rank % blockDim.x, rank / blockDim.x % blockDim.y, rank / blockDim.x / blockDim.y};
    fibre.stack.reset(new char[stack]);
    getcontext(&m.fresh);
    m.fresh.uc_stack.ss_sp = fibre.stack.get();
    m.fresh.uc_stack.ss_size = stack;
    m.current = rank;
    makecontext(&m.fresh, enter, 0);
    swapcontext(&m.home, &m.fresh);  // as far as its first line
  }
}

// The threads of one cta, in order, each until it waits or ends.
__attribute__((noinline)) inline bool run_cta() {
  for (Fibre& fibre : m.fibres) fibre.state = State::ready;
  for (Warp& warp : m.warps) warp = Warp();
  m.waiting = m.finished = 0, m.votes_now = m.votes_then = 0;
  static volatile int at;
  static volatile bool moved;
  while (m.finished < m.threads) {
    moved = false;
    for (at = 0; at < m.threads;) {
      m.current = m.backwards ? m.threads - 1 - at : at;
      const int next = at + 1;
      at = next;
      if (me().state != State::ready) continue;
      moved = true;
      threadIdx = me().index;
      if (++m.turns > 400'000'000) m.failure = "it does not end";
      else if (!_setjmp(m.scheduler)) _longjmp(me().here, 1);
      if (m.failure) return false;
    }
    if (!moved) return m.failure = "threads wait for threads that never come", false;
  }
  return true;
}

struct Shape { unsigned int grid[3], block[3], dynamic_bytes, backwards; };

inline int run(const Shape& shape, void* dynamic, std::size_t capacity, std::function<void()> kernel) {
  blockDim = {shape.block[0], shape.block[1], shape.block[2]};
  gridDim = {shape.grid[0], shape.grid[1], shape.grid[2]};
  m.kernel = std::move(kernel), m.failure = nullptr, m.turns = 0, m.backwards = shape.backwards;
  m.output.clear();
  if (shape.dynamic_bytes > capacity) return m.failure = "more dynamic shared memory than there is", 1;
  make((int)(blockDim.x * blockDim.y * blockDim.z), 64 * 1024);
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        if (dynamic) std::memset(dynamic, 0xcd, capacity);  // nobody may count on what was there
        if (!run_cta()) return 1;
      }
  return 0;
}

template <typename... A, std::size_t... I>
void apply(void (*kernel)(A...), void* const* values, std::index_sequence<I...>) { kernel(*(A*)values[I]...); }
template <typename... A>
int launch(void (*kernel)(A...), const Shape& shape, void* const* values, void* dynamic = nullptr, std::size_t capacity = 0) {
  return run(shape, dynamic, capacity, [=] { apply(kernel, values, std::index_sequence_for<A...>()); });
}

inline int print(const char* format, ...) {
  char text[1024];
  va_list values;
  va_start(values, format);
  const int count = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  m.output.insert(m.output.end(), text, text + (count < (int)sizeof text ? count : (int)sizeof text - 1));
  return count;
}

template <typename To, typename From> inline To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace machine

#define printf machine::print
[[noreturn]] inline void __trap() { machine::fail("trap"); }

// ---- threads together -----------------------------------------------------------------------------------------------

inline void __syncthreads() { machine::barrier(false); }
inline int __syncthreads_count(int p) { return (int)machine::barrier(p != 0); }
inline int __syncthreads_or(int p) { return machine::barrier(p != 0) != 0; }
inline int __syncthreads_and(int p) { return machine::barrier(p == 0) == 0; }
inline void __syncwarp(unsigned int mask = 0xffffffff) { machine::together(machine::Kind::sync, mask, 0); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned int) { machine::yield(); }
inline unsigned int __ballot_sync(unsigned int mask, int p) { return (unsigned int)machine::together(machine::Kind::vote, mask, p != 0); }
inline int __any_sync(unsigned int mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned int mask, int p) { return __ballot_sync(mask, p) == mask; }

namespace machine {
template <typename T> T shuffled(unsigned int mask, T value, int from) {
  unsigned long long word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = together(Kind::shuffle, mask, word, from);
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline int lane() { return me().rank % 32; }
}  // namespace machine

template <typename T> T __shfl_sync(unsigned int mask, T value, int source, int width = 32) {
  const int lane = machine::lane(), first = lane & ~(width - 1);
  return machine::shuffled(mask, value, first | (source & (width - 1)));
}
template <typename T> T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  const int lane = machine::lane(), from = lane - (int)delta;
  return machine::shuffled(mask, value, from < (lane & ~(width - 1)) ? lane : from);
}
template <typename T> T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  const int lane = machine::lane(), from = lane + (int)delta;
  return machine::shuffled(mask, value, from > (lane | (width - 1)) ? lane : from);
}
// Lanes below the own group can be read, those above cannot.
template <typename T> T __shfl_xor_sync(unsigned int mask, T value, int bits, int width = 32) {
  const int lane = machine::lane(), from = lane ^ bits;
  return machine::shuffled(mask, value, from > (lane | (width - 1)) ? lane : from);
}
#define REDUCE(name, signed_kind, unsigned_kind) \
  inline unsigned int __reduce_##name##_sync(unsigned int mask, unsigned int v) { \
    return (unsigned int)machine::together(machine::Kind::unsigned_kind, mask, v); } \
  inline int __reduce_##name##_sync(unsigned int mask, int v) { \
    return (int)machine::together(machine::Kind::signed_kind, mask, (unsigned int)v); }
REDUCE(add, add, add) REDUCE(min, min_signed, min) REDUCE(max, max_signed, max)
REDUCE(and, bit_and, bit_and) REDUCE(or, bit_or, bit_or) REDUCE(xor, bit_xor, bit_xor)
#undef REDUCE
