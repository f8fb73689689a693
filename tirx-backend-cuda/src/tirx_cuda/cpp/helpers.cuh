// Definitions that generated source may need. Each section begins with a line `//! name: helpers it needs; headers it needs`
// and is copied as it stands into the modules that use it, and only into those.

//! vec
template <typename T, int N>
struct alignas((sizeof(T) * N & -(sizeof(T) * N)) < 16 ? sizeof(T) * N & -(sizeof(T) * N) : 16) vec {
  T lane[N];
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};

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
  return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

//! bit_cast
template <typename To, typename From>
__device__ inline To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To bits;
  memcpy(&bits, &value, sizeof(To));
  return bits;
}

//! sigmoid
template <typename T>
__device__ inline T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

//! warp_sum
template <typename T>
__device__ inline T warp_sum(T value, int width) {
  for (int mask = width / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffff, value, mask, width);
  return value;
}

//! warp_max: fmax_any
template <typename T>
__device__ inline T warp_max(T value, int width) {
  for (int mask = width / 2; mask > 0; mask /= 2) {
    T other = __shfl_xor_sync(0xffffffff, value, mask, width);
    value = larger(value, other);
  }
  return value;
}
