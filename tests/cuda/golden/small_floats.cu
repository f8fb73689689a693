#include <cuda_fp8.h>

extern "C" __global__ void __launch_bounds__(64) small_floats_kernel(__nv_fp8_e4m3* __restrict__ A,
    const float* __restrict__ B) {
  int tx = threadIdx.x;
  A[tx] = (__nv_fp8_e4m3)(B[tx] * (float)A[tx]);
}
