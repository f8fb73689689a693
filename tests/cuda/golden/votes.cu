__device__ inline bool elect_sync() {
  unsigned int chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen) : : "memory");
  return chosen;
}

extern "C" __global__ void __launch_bounds__(32) votes_kernel(unsigned int* __restrict__ A) {
  int lane = threadIdx.x;
  unsigned int few = __ballot_sync(0xffffffff, lane < 7);
  unsigned int total = __reduce_add_sync(0xffffffff, A[lane]);
  A[lane] = few + total;
  if (elect_sync()) A[0] = __activemask();
  if (__syncthreads_or(lane == 3) != 0) __syncwarp();
}
