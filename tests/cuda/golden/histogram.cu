extern "C" __global__ void __launch_bounds__(256) histogram_kernel(const int* __restrict__ A, int* __restrict__ H) {
  int tx = threadIdx.x;
  atomicAdd(&H[A[tx]], 1);
  atomicAdd(H, 2);
}
