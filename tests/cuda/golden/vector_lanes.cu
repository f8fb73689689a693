__device__ inline float4 splat_float32x4(float a) {
  return make_float4(a, a, a, a);
}

extern "C" __global__ void __launch_bounds__(1) vector_lanes_kernel(float* __restrict__ A) {
  float4 x = *(float4*)&A[0];
  A[8] = x.z;
  *(float2*)&A[16] = make_float2(x.z, x.w);
  *(float4*)&A[4] = splat_float32x4(A[0] + 1.0f);
}
