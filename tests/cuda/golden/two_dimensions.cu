extern "C" __global__ void __launch_bounds__(256) two_dimensions_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  B[bx * 512 + tx * 32 + by * 16 + ty] = A[by * 1024 + ty * 64 + bx * 16 + tx];
}
