__device__ float twice(float x) { return 2.0f * x; }

extern "C" __global__ void __launch_bounds__(64) foreign_kernel(float* __restrict__ A) {
  int tx = threadIdx.x;
  A[tx] = twice(A[tx]);
  A[0] = __saturatef(A[0]) + twice(A[1]);
}
