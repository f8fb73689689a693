extern "C" __global__ void __launch_bounds__(64) early_exit_kernel(int* __restrict__ A, int n) {
  int tx = threadIdx.x;
  if (tx >= n) return;
  A[tx] = tx;
}
