#include <cuda_fp16.h>

struct alignas(16) float16x8 {
  half lane[8];
  __device__ half& operator[](int i) { return lane[i]; }
  __device__ const half& operator[](int i) const { return lane[i]; }
};

__device__ inline float16x8 operator*(float16x8 a, float16x8 b) {
  float16x8 r;
  #pragma unroll
  for (int i = 0; i < 8; i += 2) *(half2*)&r[i] = *(half2*)&a[i] * *(half2*)&b[i];
  return r;
}

extern "C" __global__ void __launch_bounds__(256) vector_halves_kernel(const half* __restrict__ A,
    half* __restrict__ B) {
  int tx = threadIdx.x;
  float16x8 x = *(float16x8*)&A[tx * 8];
  *(float16x8*)&B[tx * 8] = x * x;
}
