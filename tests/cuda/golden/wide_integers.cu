struct alignas(16) int8x16 {
  signed char lane[16];
  __device__ signed char& operator[](int i) { return lane[i]; }
  __device__ const signed char& operator[](int i) const { return lane[i]; }
};

extern "C" __global__ void __launch_bounds__(128) wide_integers_kernel(const signed char* __restrict__ A,
    signed char* __restrict__ B) {
  int tx = threadIdx.x;
  int8x16 A_lanes = *(int8x16*)&A[tx * 16];
  int8x16 B_lanes = *(int8x16*)&B[tx * 16];
  int8x16 lanes;
  #pragma unroll
  for (int v = 0; v < 16; ++v) lanes[v] = (signed char)max(A_lanes[v], 0) + B_lanes[v];
  *(int8x16*)&B[tx * 16] = lanes;
}
