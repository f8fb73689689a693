extern "C" __global__ void __launch_bounds__(1024) shared_tile_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int index = ty * 32 + tx;
  __shared__ float tile[1056];
  tile[ty * 33 + tx] = A[index];
  __syncthreads();
  B[index] = tile[tx * 33 + ty];
}
