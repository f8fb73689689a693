template <typename T>
__device__ inline T warp_sum(T value, int width) {
  for (int step = width / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step, width);
  return value;
}

template <typename T>
__device__ inline T larger(T a, T b) { return a < b ? b : a; }
__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

template <typename T>
__device__ inline T warp_max(T value, int width) {
  for (int step = width / 2; step > 0; step /= 2) value = larger(value, T(__shfl_xor_sync(0xffffffff, value, step, width)));
  return value;
}

__device__ inline int thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

template <typename T>
__device__ inline T cta_sum(T value, int warps, T* scratch) {
  int rank = thread_rank(), lane = rank % 32;
  value = warp_sum(value, 32);
  __syncthreads();
  if (lane == 0) scratch[rank / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int i = 1; i < warps; ++i) value += scratch[i];
  return value;
}

extern "C" __global__ void __launch_bounds__(256) reductions_kernel(const float* __restrict__ A, float* __restrict__ B) {
  int tx = threadIdx.x;
  float s = warp_sum(A[tx], 32);
  float m = warp_max(A[tx], 16);
  __shared__ float scratch[8];
  float total = cta_sum(s + m, 8, &scratch[0]);
  B[0] = total;
}
