extern "C" __global__ void __launch_bounds__(256, 2) launch_bounds_kernel(int* __restrict__ A) {
  int tx = threadIdx.x;
  A[tx] = tx;
}
