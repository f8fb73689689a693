__device__ inline float4 operator+(float4 a, float b) {
  return make_float4(a.x + b, a.y + b, a.z + b, a.w + b);
}

extern "C" __global__ void __launch_bounds__(256) vectorized_loop_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  *(float4*)&B[tx * 4] = *(float4*)&A[tx * 4] + 1.0f;
}
