__device__ inline float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  return value;
}

__device__ inline float warp_max_16(float value) {
  for (int step = 8; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step, 16));
  return value;
}

__device__ inline int thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ inline float cta_sum(float value, int warps, float* scratch) {
  int rank = thread_rank();
  value = warp_sum(value);
  __syncthreads();
  if (rank % 32 == 0) scratch[rank / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int i = 1; i < warps; ++i) value += scratch[i];
  return value;
}

extern "C" __global__ void __launch_bounds__(256) reductions_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  float s = warp_sum(A[tx]);
  float m = warp_max_16(A[tx]);
  __shared__ __align__(16) float scratch[8];
  float total = cta_sum(s + m, 8, scratch);
  B[0] = total;
}
