extern "C" __global__ void __launch_bounds__(1) vector_gather_kernel(float* __restrict__ A, int* __restrict__ B) {
  *(int4*)&B[0] = make_int4(3, 5, 7, 9);
  float4 lanes = make_float4(A[3], A[11], A[19], A[27]);
  A[0] = lanes.x;
  A[8] = lanes.y;
  A[16] = lanes.z;
  A[24] = lanes.w;
}
