extern "C" __global__ void __launch_bounds__(64) registers_kernel(float* __restrict__ A) {
  int tx = threadIdx.x;
  float r[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    r[i] = A[i];
  }
  A[tx] = r[tx & 3];
}
