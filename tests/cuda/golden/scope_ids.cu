extern "C" __global__ void __launch_bounds__(256) scope_ids_kernel(int* __restrict__ A) {
  int bx = blockIdx.x;
  int thread_x = threadIdx.x;
  int warp = __shfl_sync(0xffffffff, thread_x >> 5, 0);
  int lane = thread_x & 31;
  A[bx * 256 + warp * 32 + lane] = lane;
}
