extern "C" __global__ void __launch_bounds__(256) vector_copy_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  *(float4*)&B[tx * 4] = *(float4*)&A[tx * 4];
}
