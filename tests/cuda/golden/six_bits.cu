#include <cuda_fp6.h>

struct alignas(4) float6_e2m3fnx4 {
  __nv_fp6_e2m3 lane[4];
  __device__ __nv_fp6_e2m3& operator[](int i) { return lane[i]; }
  __device__ const __nv_fp6_e2m3& operator[](int i) const { return lane[i]; }
};

__device__ inline float4 to_float32x4(float6_e2m3fnx4 a) {
  return make_float4((float)a[0], (float)a[1], (float)a[2], (float)a[3]);
}

extern "C" __global__ void __launch_bounds__(16) six_bits_kernel(const __nv_fp6_e2m3* __restrict__ A,
    __nv_fp6_e3m2* __restrict__ B, float* __restrict__ C) {
  int tx = threadIdx.x;
  *(float4*)&C[tx * 4] = to_float32x4(*(float6_e2m3fnx4*)&A[tx * 4]);
  B[tx] = (__nv_fp6_e3m2)fmaxf((float)(__nv_fp6_e3m2)(float)A[tx], 0.0f);
}
