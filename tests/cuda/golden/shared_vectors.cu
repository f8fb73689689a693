extern "C" __global__ void __launch_bounds__(256) shared_vectors_kernel(float* __restrict__ A) {
  int tx = threadIdx.x;
  __shared__ __align__(16) float tile[1024];
  *(float4*)&tile[tx * 4] = *(float4*)&A[tx * 4];
  __syncthreads();
  A[tx] = tile[1023 - tx];
}
