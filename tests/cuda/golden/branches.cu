extern "C" __global__ void __launch_bounds__(64) branches_kernel(int* __restrict__ A) {
  int tx = threadIdx.x;
  if (tx == 0) {
    A[0] = 1;
  } else if (tx < 8) {
    A[tx] = 2;
    A[tx + 1] = 3;
  } else {
    A[tx] = tx < 32 ? A[tx] : 4;
  }
}
