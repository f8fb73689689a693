template <int Bytes> struct word;
template <> struct word<2> { using type = unsigned short; };
template <> struct word<4> { using type = unsigned int; };
template <> struct word<8> { using type = unsigned long long; };

template <typename To, typename From>
__device__ inline To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To bits;
  memcpy(&bits, &value, sizeof(To));
  return bits;
}

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

template <typename T>
__device__ inline T larger(T a, T b) { return a < b ? b : a; }
__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

template <typename T>
__device__ inline T atomic_max(T* address, T value) {
  return atomic_update(address, [=](T old) { return larger(old, value); });
}

extern "C" __global__ void __launch_bounds__(64) atomics_kernel(float* __restrict__ A, long long* __restrict__ B,
    unsigned int* __restrict__ C) {
  int tx = threadIdx.x;
  A[tx] = atomic_max(A, 1.0f);
  atomicAdd((unsigned long long*)B, (unsigned long long)1LL);
  C[tx] = atomicCAS(C, 0u, 1u);
  atomicExch(&A[1], 2.0f);
}
