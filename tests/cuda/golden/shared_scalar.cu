extern "C" __global__ void __launch_bounds__(64) shared_scalar_kernel(int* __restrict__ A) {
  int tx = threadIdx.x;
  __shared__ int flag;
  if (tx == 0) flag = 5;
  __syncthreads();
  A[tx] = flag;
}
