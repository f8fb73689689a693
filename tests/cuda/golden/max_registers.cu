extern "C" __global__ void __maxnreg__(40) max_registers_kernel(int* __restrict__ A) {
  int tx = threadIdx.x;
  A[tx] = tx;
}
