__device__ inline float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  return value;
}

__device__ float doubled(float x) { return 2.0f * x; }
__device__ float half_of(float x) { return x / 2.0f; }

extern "C" __global__ void __launch_bounds__(32) hidden_helpers_kernel(float* __restrict__ A) {
  int lane = threadIdx.x;
  float warp_sum_ = warp_sum(A[lane]);
  float doubled_ = doubled(warp_sum_);
  float half_of_ = half_of(doubled_);
  A[lane] = warp_sum_ + half_of_;
}
