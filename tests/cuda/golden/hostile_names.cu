extern "C" __global__ void __launch_bounds__(64) hostile_names_kernel(int* __restrict__ half_, int threadIdx_) {
  int int_ = threadIdx.x;
  int grou00dfe = int_ + threadIdx_;
  int float4_ = grou00dfe * 2;
  int expf_ = float4_ + grou00dfe;
  half_[int_] = expf_;
}
