// A sum of more elements than one round has, as popsift's orientations need it.
// What its build writes to sift_config.h, which is not in the checkout.
#define POPSIFT_IS_DEFINED(name) name() == 1
#define POPSIFT_HAVE_SHFL_DOWN_SYNC() 1
#include "popsift/common/excl_blk_prefix_sum.h"

struct Reader {
  const int *from;
  __device__ int get(int n) const { return from[n]; }
};
struct Writer {
  int *to;
  __device__ void set(int n, int value) { to[n] = value; }
};
struct Total {
  int *to;
  __device__ void set(int value) { *to = value; }
};
struct Mapping {
  __device__ void set(int, int, int) {}
};

__global__ void sums(const int *from, int *to, int *total, int count) {
  Reader reader{from};
  Writer writer{to};
  Total sum{total};
  Mapping mapping;
  ExclusivePrefixSum::Block<Reader, Writer, Total, Mapping>(count, reader, writer, sum, mapping);
}

int main() {
  const int count = 3000;
  int from[count], *in, *out, *total;
  for (int n = 0; n < count; n++) from[n] = n % 7;
  cudaMalloc((void **)&in, sizeof from);
  cudaMalloc((void **)&out, sizeof from);
  cudaMalloc((void **)&total, sizeof *total);
  cudaMemcpy(in, from, sizeof from, cudaMemcpyHostToDevice);
  sums<<<1, dim3(32, 32)>>>(in, out, total, count);
}
