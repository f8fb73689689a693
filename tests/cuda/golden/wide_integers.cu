template <typename T, int N>
struct alignas((sizeof(T) * N & -(sizeof(T) * N)) < 16 ? sizeof(T) * N & -(sizeof(T) * N) : 16) vec {
  T lane[N];
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};

extern "C" __global__ void __launch_bounds__(128) wide_integers_kernel(const signed char* __restrict__ A,
    signed char* __restrict__ B) {
  int tx = threadIdx.x;
  vec<signed char, 16> A_lanes = *(vec<signed char, 16>*)&A[tx * 16];
  vec<signed char, 16> B_lanes = *(vec<signed char, 16>*)&B[tx * 16];
  vec<signed char, 16> lanes;
  #pragma unroll
  for (int v = 0; v < 16; ++v) lanes[v] = (signed char)max(A_lanes[v], 0) + B_lanes[v];
  *(vec<signed char, 16>*)&B[tx * 16] = lanes;
}
