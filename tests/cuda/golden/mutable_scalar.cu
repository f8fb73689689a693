extern "C" __global__ void __launch_bounds__(256) mutable_scalar_kernel(const float* __restrict__ A,
    float* __restrict__ B) {
  int tx = threadIdx.x;
  float acc = 0.0f;
  for (int k = 0; k < 4; ++k) {
    acc += A[k * 256 + tx];
  }
  B[tx] = acc;
}
