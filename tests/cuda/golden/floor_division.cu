template <typename T>
__device__ inline T floormod(T a, T b) {
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <typename T>
__device__ inline T floordiv(T a, T b) {
  T q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}

extern "C" __global__ void __launch_bounds__(64) floor_division_kernel(int* __restrict__ A, int n) {
  int tx = threadIdx.x;
  int x = A[tx];
  A[0] = tx / 7 + tx % 7;
  A[1] = (x >> 3) + (x & 7);
  A[2] = floordiv(x, n) + floormod(x, n);
  A[3] = x / n + x % n;
}
