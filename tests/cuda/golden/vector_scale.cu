__device__ inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ inline float4 exp(float4 a) {
  return make_float4(expf(a.x), expf(a.y), expf(a.z), expf(a.w));
}

__device__ inline float4 operator*(float4 a, float b) {
  return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
}

extern "C" __global__ void __launch_bounds__(256) vector_scale_kernel(const float* __restrict__ A,
    float* __restrict__ B, float s) {
  int tx = threadIdx.x;
  float4 x = *(float4*)&A[tx * 4];
  *(float4*)&B[tx * 4] = exp(x * s) + x;
}
