// CUDA's types on the host: 16-bit and 8-bit floats by our own arithmetic, vectors, the functions of its math API.
#pragma once

#include "machine.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

using std::isfinite, std::isinf, std::isnan;

#define CUDART_INF_F HUGE_VALF
#define CUDART_NAN_F machine::same_bits<float>(0x7fffffffu)
#define CUDART_INF HUGE_VAL
#define CUDART_NAN machine::same_bits<double>(0xfff8000000000000ULL)
#define CUDART_INF_FP16 machine::same_bits<half>((unsigned short)0x7c00)
#define CUDART_NAN_FP16 machine::same_bits<half>((unsigned short)0x7fff)
#define CUDART_INF_BF16 machine::same_bits<__nv_bfloat16>((unsigned short)0x7f80)
#define CUDART_NAN_BF16 machine::same_bits<__nv_bfloat16>((unsigned short)0x7fff)

// ---- small floats ---------------------------------------------------------------------------------------------------

namespace machine {

// A number as the nearest of a format with E exponent and M mantissa bits, ties to even: sign apart, biased magnitude.
// `largest` is the largest finite code; beyond it comes `beyond`.
template <int E, int M, typename Wide> unsigned int encoded(Wide value, unsigned int largest, unsigned int beyond) {
  constexpr int bias = (1 << (E - 1)) - 1;
  const Wide magnitude = std::fabs(value);
  const unsigned int sign = std::signbit(value) ? 1u << (E + M) : 0;
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | beyond;
  int exponent;
  std::frexp(magnitude, &exponent);                                // 0.5 <= fraction < 1
  const int unit = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - M;  // the last bit is worth 2^unit
  const Wide scaled = std::nearbyint(std::ldexp(magnitude, -unit));
  if (scaled == 0) return sign;
  const unsigned long long units = (unsigned long long)scaled;
  // subnormal numbers are plain units; the others add their exponent, and a carry moves on to the next one
  const unsigned long long code = units + ((unsigned long long)(unit + M - (1 - bias)) << M);
  return sign | (code > largest ? beyond : (unsigned int)code);
}

template <int E, int M> float decoded(unsigned int code) {
  constexpr int bias = (1 << (E - 1)) - 1;
  const int exponent = code >> M & ((1 << E) - 1), fraction = code & ((1 << M) - 1);
  const float magnitude =
      exponent ? std::ldexp((float)(fraction | 1 << M), exponent - bias - M) : std::ldexp((float)fraction, 1 - bias - M);
  return code >> (E + M) & 1 ? -magnitude : magnitude;
}

template <typename T> using wide_of = std::conditional_t<(std::is_same_v<T, float>), double, std::conditional_t<std::is_same_v<T, double>, double, long double>>;

struct Half {
  static constexpr unsigned int infinity = 0x7c00, nan = 0x7fff;
  template <typename T> static unsigned short from(T x) {
    const auto wide = (wide_of<T>)x;
    return (unsigned short)(std::isnan(wide) ? nan : encoded<5, 10>(wide, 0x7bff, infinity));
  }
  static float to(unsigned short bits) {
    if ((bits & 0x7c00) == 0x7c00) return bits & 0x3ff ? NAN : bits & 0x8000 ? -HUGE_VALF : HUGE_VALF;
    return decoded<5, 10>(bits);
  }
};
struct BFloat {
  static constexpr unsigned int infinity = 0x7f80, nan = 0x7fff;
  template <typename T> static unsigned short from(T x) {
    const auto wide = (wide_of<T>)x;
    return (unsigned short)(std::isnan(wide) ? nan : encoded<8, 7>(wide, 0x7f7f, infinity));
  }
  static float to(unsigned short bits) { return same_bits<float>((unsigned int)bits << 16); }
};

// A float of 16 bits; nothing converts by itself, so what the source does not say does not compile.
template <typename Format> struct Small {
  unsigned short bits = 0;
  Small() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> explicit Small(T x) : bits(Format::from(x)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> explicit operator T() const { return (T)Format::to(bits); }
  float wide() const { return Format::to(bits); }
};
// One rounding of the float result is the rounding of the exact one: float has more than twice the digits.
#define OPERATOR(op) \
  template <typename F> Small<F> operator op(Small<F> a, Small<F> b) { return Small<F>(a.wide() op b.wide()); } \
  template <typename F> Small<F>& operator op##=(Small<F>& a, Small<F> b) { return a = a op b; }
OPERATOR(+) OPERATOR(-) OPERATOR(*) OPERATOR(/)
#undef OPERATOR
#define COMPARISON(op) template <typename F> bool operator op(Small<F> a, Small<F> b) { return a.wide() op b.wide(); }
COMPARISON(==) COMPARISON(!=) COMPARISON(<) COMPARISON(<=) COMPARISON(>) COMPARISON(>=)
#undef COMPARISON
template <typename F> Small<F> operator-(Small<F> a) { a.bits ^= 0x8000; return a; }
template <typename F> Small<F> operator+(Small<F> a) { return a; }

// Floats of 8 bits. Their constructors saturate: what is too large becomes the largest finite number.
struct E4M3 {
  static unsigned char from(double x) { return (unsigned char)(std::isnan(x) ? 0x7f : encoded<4, 3>(x, 0x7e, 0x7e)); }
  static float to(unsigned char bits) { return (bits & 0x7f) == 0x7f ? NAN : decoded<4, 3>(bits); }
};
struct E5M2 {
  static unsigned char from(double x) { return (unsigned char)(std::isnan(x) ? 0x7f : encoded<5, 2>(x, 0x7b, 0x7b)); }
  static float to(unsigned char bits) {
    if ((bits & 0x7c) == 0x7c) return bits & 3 ? NAN : bits & 0x80 ? -HUGE_VALF : HUGE_VALF;
    return decoded<5, 2>(bits);
  }
};
// Floats of 6 and 4 bits have no NaN: it becomes the largest number.
template <int E, int M> struct Finite {
  static unsigned char from(double x) {
    constexpr unsigned int largest = (1 << (E + M)) - 1;
    return (unsigned char)(std::isnan(x) ? largest : encoded<E, M>(x, largest, largest));
  }
  static float to(unsigned char bits) { return decoded<E, M>(bits); }
};
template <typename Format> struct Tiny {
  unsigned char __x = 0;
  Tiny() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> explicit Tiny(T x) : __x(Format::from((double)x)) {}
  template <typename T, typename = std::enable_if_t<!std::is_arithmetic_v<T>>, typename = decltype(std::declval<T>().wide())>
  explicit Tiny(T x) : __x(Format::from((double)x.wide())) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> explicit operator T() const { return (T)Format::to(__x); }
};

}  // namespace machine

using half = machine::Small<machine::Half>;
using __half = half;
using __nv_bfloat16 = machine::Small<machine::BFloat>;
using __nv_fp8_e4m3 = machine::Tiny<machine::E4M3>;
using __nv_fp8_e5m2 = machine::Tiny<machine::E5M2>;
using __nv_fp6_e2m3 = machine::Tiny<machine::Finite<2, 3>>;
using __nv_fp6_e3m2 = machine::Tiny<machine::Finite<3, 2>>;
using __nv_fp4_e2m1 = machine::Tiny<machine::Finite<2, 1>>;

inline unsigned short __half_as_ushort(half x) { return x.bits; }
inline short __half_as_short(half x) { return (short)x.bits; }
inline half __ushort_as_half(unsigned short x) { return machine::same_bits<half>(x); }
inline half __short_as_half(short x) { return machine::same_bits<half>(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return machine::same_bits<__nv_bfloat16>(x); }

#define SMALL template <typename F> machine::Small<F>
// The operand that is a number; +0 is larger than -0.
SMALL __hmax(machine::Small<F> a, machine::Small<F> b) {
  if (std::isnan(a.wide())) return b;
  return std::isnan(b.wide()) || a > b || (a == b && !(a.bits & 0x8000)) ? a : b;
}
SMALL __hmin(machine::Small<F> a, machine::Small<F> b) {
  if (std::isnan(a.wide())) return b;
  return std::isnan(b.wide()) || a < b || (a == b && (a.bits & 0x8000)) ? a : b;
}
SMALL __habs(machine::Small<F> a) { a.bits &= 0x7fff; return a; }
SMALL hsqrt(machine::Small<F> a) { return machine::Small<F>(std::sqrt((double)a.wide())); }
SMALL hfloor(machine::Small<F> a) { return machine::Small<F>(std::floor(a.wide())); }
SMALL hceil(machine::Small<F> a) { return machine::Small<F>(std::ceil(a.wide())); }
SMALL htrunc(machine::Small<F> a) { return machine::Small<F>(std::trunc(a.wide())); }
SMALL hrint(machine::Small<F> a) { return machine::Small<F>(std::nearbyint(a.wide())); }
SMALL __hfma(machine::Small<F> a, machine::Small<F> b, machine::Small<F> c) {
  return machine::Small<F>((long double)a.wide() * b.wide() + c.wide());
}
#undef SMALL
template <typename F> bool __hisnan(machine::Small<F> a) { return std::isnan(a.wide()); }

// ---- vectors --------------------------------------------------------------------------------------------------------

#define VECTORS(T, name, a2, a4) \
  struct alignas(a2) name##2 { T x, y; }; \
  struct name##3 { T x, y, z; }; \
  struct alignas(a4) name##4 { T x, y, z, w; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTORS(signed char, char, 2, 4) VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8) VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16) VECTORS(float, float, 8, 16)
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
inline uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
#undef VECTORS
#define VECTORS(T, name) \
  struct alignas(16) name##2 { T x, y; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }
VECTORS(double, double) VECTORS(long long, longlong) VECTORS(unsigned long long, ulonglong)
#undef VECTORS

namespace machine {
template <typename F> struct alignas(4) Pair { Small<F> x, y; };
#define OPERATOR(op) template <typename F> Pair<F> operator op(Pair<F> a, Pair<F> b) { return {a.x op b.x, a.y op b.y}; }
OPERATOR(+) OPERATOR(-) OPERATOR(*) OPERATOR(/)
#undef OPERATOR
}  // namespace machine
using half2 = machine::Pair<machine::Half>;
using __half2 = half2;
using __nv_bfloat162 = machine::Pair<machine::BFloat>;
inline half2 make_half2(half x, half y) { return {x, y}; }
inline half2 __half2half2(half x) { return {x, x}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline half2 __float22half2_rn(float2 a) { return {half(a.x), half(a.y)}; }
inline float2 __half22float2(half2 a) { return {(float)a.x, (float)a.y}; }
template <typename F> machine::Pair<F> __hmax2(machine::Pair<F> a, machine::Pair<F> b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
template <typename F> machine::Pair<F> __hmin2(machine::Pair<F> a, machine::Pair<F> b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

// Two floats of 4 bits in a byte, the first in its lower half.
struct __nv_fp4x2_e2m1 {
  unsigned char __x;
  __nv_fp4x2_e2m1() = default;
  template <typename P, typename = decltype(std::declval<P>().y)>
  explicit __nv_fp4x2_e2m1(P pair) : __x(__nv_fp4_e2m1(pair.x).__x | __nv_fp4_e2m1(pair.y).__x << 4) {}
  float at(int i) const { return machine::decoded<2, 1>(__x >> 4 * i & 15); }
  explicit operator float2() const { return {at(0), at(1)}; }
  explicit operator half2() const { return {half(at(0)), half(at(1))}; }
  explicit operator __nv_bfloat162() const { return {__nv_bfloat16(at(0)), __nv_bfloat16(at(1))}; }
};

// ---- arithmetic -----------------------------------------------------------------------------------------------------

#define MINMAX(T) \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
MINMAX(int) MINMAX(unsigned int) MINMAX(long long) MINMAX(unsigned long long)
#undef MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

using std::abs;
inline int __float_as_int(float x) { return machine::same_bits<int>(x); }
inline unsigned int __float_as_uint(float x) { return machine::same_bits<unsigned int>(x); }
inline float __int_as_float(int x) { return machine::same_bits<float>(x); }
inline float __uint_as_float(unsigned int x) { return machine::same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return machine::same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return machine::same_bits<double>(x); }
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline float rsqrtf(float x) { return (float)(1.0 / std::sqrt((double)x)); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __saturatef(float x) { return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f; }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }
template <typename T> T __ldg(const T* address) { return *address; }
inline std::size_t __cvta_generic_to_shared(const void* address) { return (std::size_t)address; }
template <typename T> auto dot4(T a, T b, T c) {
  using Byte = std::conditional_t<std::is_signed_v<T>, signed char, unsigned char>;
  for (int i = 0; i < 4; ++i) c += (T)(Byte)(a >> 8 * i) * (T)(Byte)(b >> 8 * i);
  return c;
}
inline int __dp4a(int a, int b, int c) { return dot4(a, b, c); }
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return dot4(a, b, c); }

// ---- atomics: a fibre is never interrupted inside; those that programs spin on give the others a turn ---------------

namespace machine {
template <typename T, typename F> T updated(T* address, F change) {
  if ((std::uintptr_t)address % sizeof(T)) fail("an atomic operation on a misaligned address");
  const T old = *address;
  *address = change(old);
  return old;
}
}  // namespace machine
#define ATOMIC(name, T, value) inline T atomic##name(T* address, T x) { return machine::updated(address, [x](T old) { return (T)(value); }); }
#define WORDS(name, value) ATOMIC(name, int, value) ATOMIC(name, unsigned int, value) ATOMIC(name, unsigned long long, value)
WORDS(Add, old + x) ATOMIC(Add, float, old + x) ATOMIC(Add, double, old + x) ATOMIC(Add, half, old + x) ATOMIC(Add, __nv_bfloat16, old + x)
WORDS(Max, old < x ? x : old) ATOMIC(Max, long long, old < x ? x : old)
WORDS(Min, x < old ? x : old) ATOMIC(Min, long long, x < old ? x : old)
WORDS(And, old & x) WORDS(Or, old | x) WORDS(Xor, old ^ x)
#undef WORDS
#define WORDS(T) inline T atomicCAS(T* address, T compare, T x) { \
    const T old = machine::updated(address, [=](T seen) { return seen == compare ? x : seen; }); \
    if (old != compare) machine::yield(); \
    return old; }
WORDS(int) WORDS(unsigned int) WORDS(unsigned long long) WORDS(unsigned short)
#undef WORDS
#define WORDS(T) inline T atomicExch(T* address, T x) { \
    const T old = machine::updated(address, [=](T) { return x; }); \
    machine::yield(); \
    return old; }
WORDS(int) WORDS(unsigned int) WORDS(unsigned long long) WORDS(float)
#undef WORDS
#undef ATOMIC
