extern "C" __global__ void __launch_bounds__(1) integers_kernel(long long* __restrict__ A, unsigned int* __restrict__ B,
    signed char* __restrict__ C, unsigned long long* __restrict__ D) {
  A[0] = (-9223372036854775807LL - 1);
  A[1] = 5000000000LL;
  B[0] = 0xffffffffu;
  C[0] = C[1] + C[2];
  D[0] = 0xffffffffffffffffULL;
  if ((signed char)(C[1] + C[2]) < C[3]) C[0] = -128;
}
