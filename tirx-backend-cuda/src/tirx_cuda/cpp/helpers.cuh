// Definitions that generated source may need. Each section begins with a line `//! name: helpers it needs; headers it needs`
// and is copied as it stands into the modules that use it, and only into those.

//! floordiv
template <typename T>
__device__ inline T floordiv(T a, T b) {
  T q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}

//! floormod
template <typename T>
__device__ inline T floormod(T a, T b) {
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

//! bit_cast
template <typename To, typename From>
__device__ inline To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To bits;
  memcpy(&bits, &value, sizeof(To));
  return bits;
}

//! fp4_lane:; cuda_fp4.h
__device__ inline __nv_fp4_e2m1 fp4_lane(__nv_fp4x2_e2m1 pair, int i) {
  __nv_fp4_e2m1 lane;
  lane.__x = pair.__x >> 4 * i & 15;
  return lane;
}
template <typename V>
__device__ inline __nv_fp4_e2m1 fp4_lane(V vector, int i) { return fp4_lane(vector[i / 2], i % 2); }

//! fp4_with_lane:; cuda_fp4.h
__device__ inline __nv_fp4x2_e2m1 fp4_with_lane(const __nv_fp4x2_e2m1& old, int i, __nv_fp4_e2m1 value) {
  __nv_fp4x2_e2m1 pair;
  pair.__x = (old.__x & ~(15 << 4 * i)) | value.__x << 4 * i;
  return pair;
}

//! fp4_vector: bit_cast; cuda_fp4.h
template <typename V, typename... E>
__device__ inline V fp4_vector(E... lanes) {
  const unsigned char given[] = {lanes.__x...};
  struct { unsigned char pair[sizeof(V)]; } bits;
  #pragma unroll
  for (int i = 0; i < int(sizeof(V)); ++i) bits.pair[i] = given[2 * i] | given[2 * i + 1] << 4;
  return bit_cast<V>(bits);
}

//! fp4_splat: bit_cast; cuda_fp4.h
template <typename V>
__device__ inline V fp4_splat(__nv_fp4_e2m1 value) {
  struct { unsigned char pair[sizeof(V)]; } bits;
  #pragma unroll
  for (int i = 0; i < int(sizeof(V)); ++i) bits.pair[i] = value.__x * 17;
  return bit_cast<V>(bits);
}

//! fp4_pairs:; cuda_fp4.h
template <typename To, typename ToPair, typename FromPair, typename From>
__device__ inline To fp4_pairs(From vector) {
  To result;
  #pragma unroll
  for (int i = 0; i < int(sizeof(To) / sizeof(ToPair)); ++i) ((ToPair*)&result)[i] = ToPair(((FromPair*)&vector)[i]);
  return result;
}

//! sigmoid
__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

//! larger
template <typename T>
__device__ inline T larger(T a, T b) { return a < b ? b : a; }
__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

//! smaller
template <typename T>
__device__ inline T smaller(T a, T b) { return b < a ? b : a; }
__device__ inline float smaller(float a, float b) { return fminf(a, b); }
__device__ inline double smaller(double a, double b) { return fmin(a, b); }

//! word
template <int Bytes> struct word;
template <> struct word<2> { using type = unsigned short; };
template <> struct word<4> { using type = unsigned int; };
template <> struct word<8> { using type = unsigned long long; };

//! atomic_cas: word bit_cast
template <typename T>
__device__ inline T atomic_cas(T* address, T compare, T value) {
  using W = typename word<sizeof(T)>::type;
  return bit_cast<T>(atomicCAS((W*)address, bit_cast<W>(compare), bit_cast<W>(value)));
}

//! atomic_update: word bit_cast
template <typename T, typename F>
__device__ inline T atomic_update(T* address, F change) {
  using W = typename word<sizeof(T)>::type;
  W seen = *(volatile W*)address, old;
  do {
    old = seen;
    seen = atomicCAS((W*)address, old, bit_cast<W>(change(bit_cast<T>(old))));
  } while (seen != old);
  return bit_cast<T>(old);
}

//! atomic_add: atomic_update
template <typename T>
__device__ inline T atomic_add(T* address, T value) {
  return atomic_update(address, [=](T old) { return T(old + value); });
}

//! atomic_max: atomic_update larger
template <typename T>
__device__ inline T atomic_max(T* address, T value) {
  return atomic_update(address, [=](T old) { return larger(old, value); });
}

//! atomic_min: atomic_update smaller
template <typename T>
__device__ inline T atomic_min(T* address, T value) {
  return atomic_update(address, [=](T old) { return smaller(old, value); });
}

//! atomic_exch: atomic_update
template <typename T>
__device__ inline T atomic_exch(T* address, T value) {
  return atomic_update(address, [=](T) { return value; });
}

//! masked_load
template <typename V, typename T, int N, typename M>
__device__ inline V masked_load(const T* address, const M& mask) {
  V value = {};
  for (int i = 0; i < N; ++i) {
    if (((const bool*)&mask)[i]) ((T*)&value)[i] = address[i];
  }
  return value;
}

//! masked_store
template <int N, typename T, typename V, typename M>
__device__ inline void masked_store(T* address, const V& value, const M& mask) {
  for (int i = 0; i < N; ++i) {
    if (((const bool*)&mask)[i]) address[i] = ((const T*)&value)[i];
  }
}

//! thread_rank
__device__ inline int thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

//! warpgroup_sync
__device__ inline void warpgroup_sync(int barrier) {
  asm volatile("bar.sync %0, 128;" : : "r"(barrier) : "memory");
}

//! elect_sync
__device__ inline bool elect_sync() {
  unsigned int chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen) : : "memory");
  return chosen;
}

//! cluster_sync
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : : : "memory");
}

//! grid_sync: ; cooperative_groups.h
__device__ inline void grid_sync() { cooperative_groups::this_grid().sync(); }

//! fmul2_rn
__device__ inline float2 fmul2_rn(float2 a, float2 b) {
#if __CUDA_ARCH__ >= 1000
  return __fmul2_rn(a, b);
#else
  return make_float2(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y));
#endif
}

//! fadd2_rn
__device__ inline float2 fadd2_rn(float2 a, float2 b) {
#if __CUDA_ARCH__ >= 1000
  return __fadd2_rn(a, b);
#else
  return make_float2(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
#endif
}

//! float22half2: ; cuda_fp16.h
__device__ inline void float22half2(void* dst, const void* src) { *(half2*)dst = __float22half2_rn(*(const float2*)src); }

//! half8tofloat8: ; cuda_fp16.h
__device__ inline void half8tofloat8(const void* src, void* dst) {
  for (int i = 0; i < 4; ++i) ((float2*)dst)[i] = __half22float2(((const half2*)src)[i]);
}

//! float8tohalf8: ; cuda_fp16.h
__device__ inline void float8tohalf8(const void* src, void* dst) {
  for (int i = 0; i < 4; ++i) ((half2*)dst)[i] = __float22half2_rn(((const float2*)src)[i]);
}

//! trap_when_assert_failed
__device__ inline void trap_when_assert_failed(bool holds) {
  if (!holds) __trap();
}

//! mbarrier_wait
__device__ inline void mbarrier_wait(const void* barrier, unsigned int parity) {
  unsigned int address = __cvta_generic_to_shared(barrier), done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(address), "r"(parity) : "memory");
  } while (!done);
}

//! mbarrier_wait_acquire_cluster
__device__ inline void mbarrier_wait_acquire_cluster(const void* barrier, unsigned int parity) {
  unsigned int address = __cvta_generic_to_shared(barrier), done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(address), "r"(parity) : "memory");
  } while (!done);
}

//! cvt_e2m1x8_f32
__device__ inline unsigned int cvt_e2m1x8_f32(
    float v0, float v1, float v2, float v3, float v4, float v5, float v6, float v7) {
  unsigned int word;
  asm("{ .reg .b8 a, b, c, d;\n"
      "cvt.rn.satfinite.e2m1x2.f32 a, %2, %1;\n"
      "cvt.rn.satfinite.e2m1x2.f32 b, %4, %3;\n"
      "cvt.rn.satfinite.e2m1x2.f32 c, %6, %5;\n"
      "cvt.rn.satfinite.e2m1x2.f32 d, %8, %7;\n"
      "mov.b32 %0, {a, b, c, d}; }"
      : "=r"(word) : "f"(v0), "f"(v1), "f"(v2), "f"(v3), "f"(v4), "f"(v5), "f"(v6), "f"(v7));
  return word;
}

//! matrix_descriptor
__device__ inline unsigned long long matrix_descriptor(const void* address, unsigned long long fields) {
  return fields | (__cvta_generic_to_shared(address) & 0x3ffff) >> 4;
}

//! keep_register
__device__ inline void keep_register(float& value) { asm volatile("" : "+f"(value) : : "memory"); }
__device__ inline void keep_register(int& value) { asm volatile("" : "+r"(value) : : "memory"); }
__device__ inline void keep_register(unsigned int& value) { asm volatile("" : "+r"(value) : : "memory"); }

//! mma_fill
template <int N, typename T>
__device__ inline void mma_fill(T* registers) {
  for (int i = 0; i < N; ++i) registers[i] = T(0.0f);
}

//! mma_store: thread_rank
template <typename T>
__device__ inline void mma_store(T* tile, const T* registers, int stride) {
  int lane = thread_rank() % 32;
  for (int i = 0; i < 8; ++i) {
    int row = i / 2 % 2 * 8 + lane / 4, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    tile[row * stride + column] = registers[i];
  }
}

//! timer_init: thread_rank
template <typename Tag, typename Offset>
__device__ inline void timer_init(unsigned long long* log, Tag* tag, Offset* offset, int groups, int group) {
  unsigned int ctas = gridDim.x * gridDim.y * gridDim.z;
  unsigned int cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned int writer = cta * groups + group;
  if (writer == 0 && thread_rank() % 32 == 0) log[0] = (unsigned long long)groups << 32 | ctas;
  *tag = writer << 12;
  *offset = writer + 1;
}

//! timer_entry
template <typename Tag, typename Offset>
__device__ inline void timer_entry(
    unsigned int what, unsigned long long* log, const Tag* tag, Offset* offset, int stride, bool leader) {
  if (leader) {
    unsigned int now;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(now) : : "memory");
    log[*offset] = (unsigned long long)now << 32 | (unsigned int)*tag | what;
  }
  *offset += stride;
}

//! timer_start: timer_entry
template <typename Tag, typename Offset>
__device__ inline void timer_start(
    unsigned int event, unsigned long long* log, const Tag* tag, Offset* offset, int stride, bool leader) {
  timer_entry(event << 2, log, tag, offset, stride, leader);
}

//! timer_end: timer_entry
template <typename Tag, typename Offset>
__device__ inline void timer_end(
    unsigned int event, unsigned long long* log, const Tag* tag, Offset* offset, int stride, bool leader) {
  timer_entry(event << 2 | 1, log, tag, offset, stride, leader);
}

//! timer_finalize: timer_entry
template <typename Tag, typename Offset>
__device__ inline void timer_finalize(unsigned long long* log, const Tag* tag, Offset* offset, int stride, bool leader) {
  timer_entry(3, log, tag, offset, stride, leader);
}

//! iket_event
template <unsigned int Id>
__device__ __forceinline__ unsigned int iket_event() {
  asm volatile(
      "{ .reg .b32 place, time; mov.u32 place, %%cluster_ctarank; mov.u32 time, %%globaltimer_lo; or.b32 time, time, %0; "
      "mad.lo.u32 place, place, 0x1000000, 0x20; st.weak.shared.u32 [place], time; pmevent.mask %0; }"
      : : "n"(Id) : "memory");
  return Id;
}

//! iket_event_payload32
template <unsigned int Id>
__device__ __forceinline__ unsigned int iket_event_payload32(unsigned int value) {
  asm volatile(
      "{ .reg .pred chosen; .reg .b32 place, time, lanes; activemask.b32 lanes; elect.sync _|chosen, lanes; "
      "mov.u32 place, %%cluster_ctarank; mov.u32 time, %%globaltimer_lo; or.b32 time, time, %0; "
      "mad.lo.u32 place, place, 0x1000000, 0x20; @chosen st.weak.shared.u32 [place], time; "
      "@chosen st.weak.shared.u32 [place+4], %1; pmevent.mask %0; }"
      : : "n"(Id), "r"(value) : "memory");
  return Id;
}

//! iket_event_payload64
template <unsigned int Id>
__device__ __forceinline__ unsigned int iket_event_payload64(unsigned long long value) {
  asm volatile(
      "{ .reg .pred chosen; .reg .b32 place, time, lanes; activemask.b32 lanes; elect.sync _|chosen, lanes; "
      "mov.u32 place, %%cluster_ctarank; mov.u32 time, %%globaltimer_lo; or.b32 time, time, %0; "
      "mad.lo.u32 place, place, 0x1000000, 0x20; @chosen st.weak.shared.u32 [place], time; "
      "@chosen st.weak.shared.u64 [place+8], %1; pmevent.mask %0; }"
      : : "n"(Id), "l"(value) : "memory");
  return Id;
}

//! iket_any_event: iket_event
template <unsigned int Id = 1>
__device__ __forceinline__ unsigned int iket_any_event(unsigned int id) {
  if (id == Id) return iket_event<Id>();
  if constexpr (Id < 30) return iket_any_event<Id + 1>(id);
  return id;
}

//! iket_any_event_payload32: iket_event_payload32
template <unsigned int Id = 1>
__device__ __forceinline__ unsigned int iket_any_event_payload32(unsigned int id, unsigned int value) {
  if (id == Id) return iket_event_payload32<Id>(value);
  if constexpr (Id < 30) return iket_any_event_payload32<Id + 1>(id, value);
  return id;
}

//! iket_any_event_payload64: iket_event_payload64
template <unsigned int Id = 1>
__device__ __forceinline__ unsigned int iket_any_event_payload64(unsigned int id, unsigned long long value) {
  if (id == Id) return iket_event_payload64<Id>(value);
  if constexpr (Id < 30) return iket_any_event_payload64<Id + 1>(id, value);
  return id;
}
