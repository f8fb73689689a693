#include <cuda_fp16.h>
#include <cuda_fp4.h>

struct alignas(4) float4_e2m1fnx8 {
  __nv_fp4x2_e2m1 lane[4];
  __device__ __nv_fp4x2_e2m1& operator[](int i) { return lane[i]; }
  __device__ const __nv_fp4x2_e2m1& operator[](int i) const { return lane[i]; }
};

template <typename To, typename ToPair, typename FromPair, typename From>
__device__ inline To fp4_pairs(From vector) {
  To result;
  #pragma unroll
  for (int i = 0; i < int(sizeof(To) / sizeof(ToPair)); ++i) ((ToPair*)&result)[i] = ToPair(((FromPair*)&vector)[i]);
  return result;
}

struct alignas(16) float16x8 {
  half lane[8];
  __device__ half& operator[](int i) { return lane[i]; }
  __device__ const half& operator[](int i) const { return lane[i]; }
};

__device__ inline __nv_fp4_e2m1 fp4_lane(__nv_fp4x2_e2m1 pair, int i) {
  __nv_fp4_e2m1 lane;
  lane.__x = pair.__x >> 4 * i & 15;
  return lane;
}
template <typename V>
__device__ inline __nv_fp4_e2m1 fp4_lane(V vector, int i) { return fp4_lane(vector[i / 2], i % 2); }

__device__ inline __nv_fp4x2_e2m1 fp4_with_lane(const __nv_fp4x2_e2m1& old, int i, __nv_fp4_e2m1 value) {
  __nv_fp4x2_e2m1 pair;
  pair.__x = (old.__x & ~(15 << 4 * i)) | value.__x << 4 * i;
  return pair;
}

extern "C" __global__ void __launch_bounds__(16) four_bits_kernel(const __nv_fp4x2_e2m1* __restrict__ A,
    __nv_fp4x2_e2m1* __restrict__ B, const half* __restrict__ C, half* __restrict__ D,
    __nv_fp4x2_e2m1* __restrict__ E) {
  int tx = threadIdx.x;
  *(float4_e2m1fnx8*)&B[tx * 4] = fp4_pairs<float4_e2m1fnx8, __nv_fp4x2_e2m1, half2>(*(float16x8*)&C[tx * 8]);
  D[tx] = (half)(float)fp4_lane(A[tx >> 1], tx & 1) + (half)(float)fp4_lane(A[tx], 1);
  __nv_fp4x2_e2m1 own[1];
  own[0] = fp4_with_lane(own[0], 0, fp4_lane(A[tx >> 1], tx & 1));
  own[0] = fp4_with_lane(own[0], 1, (__nv_fp4_e2m1)-(float)fp4_lane(A[tx >> 1], tx & 1));
  E[tx] = own[0];
}
