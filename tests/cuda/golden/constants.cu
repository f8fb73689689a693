#include <cuda_fp16.h>
#include <math_constants.h>

extern "C" __global__ void __launch_bounds__(1) constants_kernel(float* __restrict__ A, double* __restrict__ B,
    half* __restrict__ C) {
  A[0] = 0.1f;
  A[1] = 1e30f;
  A[2] = 16777216.0f;
  A[3] = CUDART_INF_F;
  A[4] = -CUDART_INF_F;
  A[5] = CUDART_NAN_F;
  A[6] = 1e-45f;
  B[0] = 0.1;
  B[1] = CUDART_INF;
  C[0] = half(0.1f);
  C[1] = half(-2.0f);
}
