// Functions that generated source may call, by name (`//! name: helpers that it builds on`).

//! half_to_float
static inline float half_to_float(ushort bits) { return vload_half(0, (const half*)&bits); }

//! float_to_half
static inline ushort float_to_half(float value) {
  ushort bits;
  vstore_half_rte(value, 0, (half*)&bits);
  return bits;
}

//! narrowed
// The float towards zero, its last bit set where something was cut off: rounding it once more is as rounding once.
static inline float narrowed(double value) {
  float cut = convert_float_rtz(value);
  return isfinite(cut) && (double)cut != value ? as_float(as_uint(cut) | 1u) : cut;
}

//! double_to_half: narrowed float_to_half
static inline ushort double_to_half(double value) { return float_to_half(narrowed(value)); }

//! bfloat16_to_float
static inline float bfloat16_to_float(ushort bits) { return as_float((uint)bits << 16); }

//! float_to_bfloat16
static inline ushort float_to_bfloat16(float value) {
  uint bits = as_uint(value);
  if (isnan(value)) return (ushort)(bits >> 16 | 64u);
  return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//! double_to_bfloat16: narrowed float_to_bfloat16
static inline ushort double_to_bfloat16(double value) { return float_to_bfloat16(narrowed(value)); }

//! e4m3_to_float
static inline float e4m3_to_float(uchar bits) {
  uint magnitude = bits & 0x7fu;
  float value = magnitude == 0x7fu ? NAN : magnitude < 8u ? (float)magnitude * 0x1p-9f : as_float((magnitude << 20) + (120u << 23));
  return bits & 0x80u ? -value : value;
}

//! float_to_e4m3
// To nearest even; what is too large becomes the largest number.
static inline uchar float_to_e4m3(float value) {
  uchar sign = (uchar)(as_uint(value) >> 24 & 0x80u);
  float size = fabs(value);
  if (isnan(value)) return (uchar)(sign | 0x7f);
  if (size >= 448.0f) return (uchar)(sign | 0x7e);
  if (size < 0x1p-6f) return (uchar)(sign | (uchar)rint(size * 0x1p9f));
  uint bits = as_uint(size);
  return (uchar)(sign | (uchar)(((bits + 0x7ffffu + (bits >> 20 & 1u)) >> 20) - (120u << 3)));
}

//! double_to_e4m3: narrowed float_to_e4m3
static inline uchar double_to_e4m3(double value) { return float_to_e4m3(narrowed(value)); }

//! e5m2_to_float: half_to_float
static inline float e5m2_to_float(uchar bits) { return half_to_float((ushort)(bits << 8)); }

//! float_to_e5m2
static inline uchar float_to_e5m2(float value) {
  uchar sign = (uchar)(as_uint(value) >> 24 & 0x80u);
  float size = fabs(value);
  if (isnan(value)) return (uchar)(sign | 0x7e);
  if (size >= 57344.0f) return (uchar)(sign | 0x7b);
  if (size < 0x1p-14f) return (uchar)(sign | (uchar)rint(size * 0x1p16f));
  uint bits = as_uint(size);
  return (uchar)(sign | (uchar)(((bits + 0xfffffu + (bits >> 21 & 1u)) >> 21) - (112u << 2)));
}

//! double_to_e5m2: narrowed float_to_e5m2
static inline uchar double_to_e5m2(double value) { return float_to_e5m2(narrowed(value)); }

//! fail
// OpenCL cannot stop a kernel: the first assertion that fails leaves its text for the host.
static inline void fail(__global int* failure, __constant const char* text) {
  if (atomic_cmpxchg(failure, 0, 1) != 0) return;
  __global char* place = (__global char*)(failure + 1);
  for (int i = 0; i < 507 && text[i] != 0; ++i) place[i] = text[i];
}

//! sigmoid
static inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

//! atomics64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

//! subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable

//! lane_at: subgroups
static inline uint lane_at(uint lane, uint width) {
  uint own = get_sub_group_local_id();
  return own - own % width + lane % width;
}

//! lane_up: subgroups
static inline uint lane_up(uint delta, uint width) {
  uint own = get_sub_group_local_id();
  return own % width >= delta ? own - delta : own;
}

//! lane_down: subgroups
static inline uint lane_down(uint delta, uint width) {
  uint own = get_sub_group_local_id();
  return own % width + delta < width ? own + delta : own;
}

//! lane_xor: subgroups
static inline uint lane_xor(uint mask, uint width) {
  uint own = get_sub_group_local_id();
  return ((own % width) ^ mask) < width ? own ^ mask : own;
}

//! floordiv_char
static inline char floordiv_char(char a, char b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

//! floormod_char
static inline char floormod_char(char a, char b) { return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0); }

//! floordiv_short
static inline short floordiv_short(short a, short b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

//! floormod_short
static inline short floormod_short(short a, short b) { return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0); }

//! floordiv_int
static inline int floordiv_int(int a, int b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

//! floormod_int
static inline int floormod_int(int a, int b) { return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0); }

//! floordiv_long
static inline long floordiv_long(long a, long b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

//! floormod_long
static inline long floormod_long(long a, long b) { return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0); }

//! floordiv_uchar
static inline uchar floordiv_uchar(uchar a, uchar b) { return a / b; }

//! floormod_uchar
static inline uchar floormod_uchar(uchar a, uchar b) { return a % b; }

//! floordiv_ushort
static inline ushort floordiv_ushort(ushort a, ushort b) { return a / b; }

//! floormod_ushort
static inline ushort floormod_ushort(ushort a, ushort b) { return a % b; }

//! floordiv_uint
static inline uint floordiv_uint(uint a, uint b) { return a / b; }

//! floormod_uint
static inline uint floormod_uint(uint a, uint b) { return a % b; }

//! floordiv_ulong
static inline ulong floordiv_ulong(ulong a, ulong b) { return a / b; }

//! floormod_ulong
static inline ulong floormod_ulong(ulong a, ulong b) { return a % b; }

//! min_char
static inline char min_char(char a, char b) { return a < b ? a : b; }

//! max_char
static inline char max_char(char a, char b) { return a > b ? a : b; }

//! min_short
static inline short min_short(short a, short b) { return a < b ? a : b; }

//! max_short
static inline short max_short(short a, short b) { return a > b ? a : b; }

//! min_uchar
static inline uchar min_uchar(uchar a, uchar b) { return a < b ? a : b; }

//! max_uchar
static inline uchar max_uchar(uchar a, uchar b) { return a > b ? a : b; }

//! min_ushort
static inline ushort min_ushort(ushort a, ushort b) { return a < b ? a : b; }

//! max_ushort
static inline ushort max_ushort(ushort a, ushort b) { return a > b ? a : b; }
