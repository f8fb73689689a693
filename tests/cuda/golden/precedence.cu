extern "C" __global__ void __launch_bounds__(64) precedence_kernel(int* __restrict__ A, float* __restrict__ B) {
  int tx = threadIdx.x;
  int a = A[tx];
  float b = B[tx];
  A[0] = -5 - a * 3;
  A[1] = ((a << 2) | (a & 3)) ^ ~a;
  A[2] = -1;
  B[0] = b - (b + 1.0f) / (b * (b / 2.0f));
  B[1] = b + (b + (b + 1.0f));
  if ((a > 1 && b > 1.0f) || !(a == 2 || a != 3)) A[3] = 1;
}
