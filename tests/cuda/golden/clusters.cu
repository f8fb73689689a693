__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : : : "memory");
}

extern "C" __global__ void __launch_bounds__(64) clusters_kernel(int* __restrict__ A) {
  int cl = __clusterIdx().x;
  int rank = __clusterRelativeBlockIdx().x;
  int tx = threadIdx.x;
  cluster_sync();
  A[cl * 128 + rank * 64 + tx] = rank;
}
