#include <cuda_fp16.h>

struct alignas(16) float16x8 {
  half lane[8];
  __device__ half& operator[](int i) { return lane[i]; }
  __device__ const half& operator[](int i) const { return lane[i]; }
};

struct alignas(16) float32x8 {
  float lane[8];
  __device__ float& operator[](int i) { return lane[i]; }
  __device__ const float& operator[](int i) const { return lane[i]; }
};

extern "C" __global__ void __launch_bounds__(256) wide_lanes_kernel(const half* __restrict__ A, half* __restrict__ B) {
  int tx = threadIdx.x;
  float16x8 A_lanes = *(float16x8*)&A[tx * 8];
  float32x8 x;
  #pragma unroll
  for (int v = 0; v < 8; ++v) x[v] = (float)A_lanes[v];
  float16x8 lanes;
  #pragma unroll
  for (int v = 0; v < 8; ++v) lanes[v] = (half)(x[v] / (1.0f + expf(-x[v])));
  *(float16x8*)&B[tx * 8] = lanes;
}
