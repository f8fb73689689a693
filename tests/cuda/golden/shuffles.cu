extern "C" __global__ void __launch_bounds__(32) shuffles_kernel(float* __restrict__ A, int* __restrict__ B) {
  int lane = threadIdx.x;
  float x = __shfl_xor_sync(0xffffffff, A[lane], 16);
  float y = __shfl_down_sync(0xffffffff, A[lane], 1, 8);
  A[lane] = x + y;
  B[lane] = __any_sync(0xffffffff, x > y);
}
