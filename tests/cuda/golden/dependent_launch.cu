extern "C" __global__ void __launch_bounds__(256) dependent_launch_kernel(const int* A, int* B) {
  int tx = threadIdx.x;
  B[tx] = A[tx];
}
