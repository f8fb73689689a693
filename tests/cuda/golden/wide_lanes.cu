#include <cuda_fp16.h>

template <typename T, int N>
struct alignas((sizeof(T) * N & -(sizeof(T) * N)) < 16 ? sizeof(T) * N & -(sizeof(T) * N) : 16) vec {
  T lane[N];
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};

extern "C" __global__ void __launch_bounds__(256) wide_lanes_kernel(const half* __restrict__ A, half* __restrict__ B) {
  int tx = threadIdx.x;
  vec<half, 8> A_lanes = *(vec<half, 8>*)&A[tx * 8];
  vec<float, 8> x;
  #pragma unroll
  for (int v = 0; v < 8; ++v) x[v] = (float)A_lanes[v];
  vec<half, 8> lanes;
  #pragma unroll
  for (int v = 0; v < 8; ++v) lanes[v] = (half)(x[v] / (1.0f + expf(-x[v])));
  *(vec<half, 8>*)&B[tx * 8] = lanes;
}
