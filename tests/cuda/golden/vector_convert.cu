#include <cuda_fp16.h>

struct alignas(8) float16x4 {
  half lane[4];
  __device__ half& operator[](int i) { return lane[i]; }
  __device__ const half& operator[](int i) const { return lane[i]; }
};

__device__ inline float4 to_float32x4(float16x4 a) {
  return make_float4((float)a[0], (float)a[1], (float)a[2], (float)a[3]);
}

extern "C" __global__ void __launch_bounds__(256) vector_convert_kernel(const half* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  *(float4*)&B[tx * 4] = to_float32x4(*(float16x4*)&A[tx * 4]);
}
