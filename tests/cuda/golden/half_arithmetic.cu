#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(64) half_arithmetic_kernel(half* __restrict__ A,
    __nv_bfloat16* __restrict__ B) {
  int tx = threadIdx.x;
  A[tx] = __hmax(A[tx] * half(0.5f), hsqrt(A[tx])) + (half)expf((float)A[tx]);
  B[tx] = (__nv_bfloat16)(float)A[tx] + B[tx];
}
