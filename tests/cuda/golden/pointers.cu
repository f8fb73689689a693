extern "C" __global__ void __launch_bounds__(64) pointers_kernel(float* __restrict__ A) {
  int tx = threadIdx.x;
  float* p = &A[8];
  p[0] = A[tx];
  int* q = (int*)((unsigned char*)A + 16);
  q[1] = tx;
}
