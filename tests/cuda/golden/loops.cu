extern "C" __global__ void __launch_bounds__(32) loops_kernel(int* __restrict__ A, int n) {
  int tx = threadIdx.x;
  for (int i = 2; i < n; i += 3) {
    A[i] = tx;
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    A[i] = i;
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      int A_index = i * 4 + j;
      A[A_index] += 1;
    }
  }
  while (A[0] > 0) {
    A[0] -= 1;
    if (A[1] == 0) break;
    if (A[2] == 0) continue;
    A[3] = 0;
  }
}
