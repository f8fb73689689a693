extern "C" __global__ void __launch_bounds__(256) scale_kernel(const float* __restrict__ A, float* __restrict__ B,
    float s, int n) {
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int i = bx * 256 + tx;
  if (i < n) B[i] = A[i] * s;
}
