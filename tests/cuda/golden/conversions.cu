extern "C" __global__ void __launch_bounds__(64) conversions_kernel(float* __restrict__ A, int* __restrict__ B,
    bool* __restrict__ C) {
  int tx = threadIdx.x;
  B[tx] = (int)A[tx];
  A[tx] = (float)(B[tx] + 1);
  C[tx] = A[tx] > 0.0f;
  B[0] = __float_as_int(A[0]);
  A[1] = __int_as_float(B[1]);
  A[2] = (float)C[2];
}
