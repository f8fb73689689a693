__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

extern "C" __global__ void __launch_bounds__(64) mathematics_kernel(float* __restrict__ A, double* __restrict__ B,
    int* __restrict__ C) {
  int tx = threadIdx.x;
  A[tx] = expf(A[tx]) + rsqrtf(A[0]) * powf(A[1], 2.0f) + fmaf(A[2], A[3], A[4]) + sigmoid(A[5]);
  B[tx] = log1p(B[tx]) + atan2(B[0], B[1]);
  C[tx] = __popc(C[tx]) + __clz(C[0]) + abs(C[1]) + min(C[2], C[3]);
}
