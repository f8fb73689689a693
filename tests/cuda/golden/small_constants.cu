#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <math_constants.h>

template <typename To, typename From>
__device__ inline To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To bits;
  memcpy(&bits, &value, sizeof(To));
  return bits;
}

extern "C" __global__ void __launch_bounds__(1) small_constants_kernel(__nv_fp8_e4m3* __restrict__ A,
    __nv_fp8_e5m2* __restrict__ B, float* __restrict__ C) {
  A[0] = __nv_fp8_e4m3(CUDART_NAN_F);
  B[0] = bit_cast<__nv_fp8_e5m2>((unsigned char)0x7c);
  B[1] = bit_cast<__nv_fp8_e5m2>((unsigned char)0xfc);
  C[0] = (float)half(0.1f);
  C[1] = (float)__nv_fp4_e2m1(1.5f);
}
