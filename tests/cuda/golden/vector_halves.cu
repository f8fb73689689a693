#include <cuda_fp16.h>

template <typename T, int N>
struct alignas((sizeof(T) * N & -(sizeof(T) * N)) < 16 ? sizeof(T) * N & -(sizeof(T) * N) : 16) vec {
  T lane[N];
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};

__device__ inline vec<half, 8> operator*(vec<half, 8> a, vec<half, 8> b) {
  vec<half, 8> r;
  #pragma unroll
  for (int i = 0; i < 8; i += 2) *(half2*)&r[i] = *(half2*)&a[i] * *(half2*)&b[i];
  return r;
}

extern "C" __global__ void __launch_bounds__(256) vector_halves_kernel(const half* __restrict__ A,
    half* __restrict__ B) {
  int tx = threadIdx.x;
  vec<half, 8> x = *(vec<half, 8>*)&A[tx * 8];
  *(vec<half, 8>*)&B[tx * 8] = x * x;
}
