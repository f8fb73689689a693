__device__ inline void warpgroup_sync(int barrier) {
  asm volatile("bar.sync %0, 128;" : : "r"(barrier) : "memory");
}

extern "C" __global__ void __launch_bounds__(256) warpgroups_kernel(int* __restrict__ A) {
  int thread_x = threadIdx.x;
  int wg = __shfl_sync(0xffffffff, thread_x >> 7, 0);
  int warp = __shfl_sync(0xffffffff, (thread_x >> 5) & 3, 0);
  int lane = thread_x & 31;
  int t = thread_x & 127;
  warpgroup_sync(wg + 1);
  A[wg * 128 + t] = warp * 32 + lane;
}
