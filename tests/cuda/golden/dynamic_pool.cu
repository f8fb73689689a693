#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256) dynamic_pool_kernel(const half* __restrict__ A,
    float* __restrict__ B) {
  extern __shared__ __align__(1024) unsigned char smem[];
  half* a = (half*)smem;
  float* b = (float*)smem + 128;
  int tx = threadIdx.x;
  a[tx] = A[tx];
  b[tx] = (float)a[tx];
  __syncthreads();
  B[tx] = b[255 - tx];
}
