// One transform in place, as cuFHE's accumulation does it.
#include <include/ntt_gpu/ntt.cuh>

using namespace cufhe;

__global__ void transform(FFP *data, FFP *twiddles, FFP *roots) {
  __shared__ FFP shared[1024];
  for (int n = threadIdx.x; n < 1024; n += blockDim.x) shared[n] = data[n];
  __syncthreads();
  NTT1024<FFP>(shared, shared, shared, twiddles, roots, 0);
  __syncthreads();
  for (int n = threadIdx.x; n < 1024; n += blockDim.x) data[n] = shared[n];
}

int main() {
  const int count = 1024;
  unsigned long long from[count];
  for (int n = 0; n < count; n++) from[n] = 3 * n + 1;
  FFP *data, *twiddles, *roots;
  for (FFP **to : {&data, &twiddles, &roots}) {
    cudaMalloc((void **)to, sizeof from);
    cudaMemcpy(*to, from, sizeof from, cudaMemcpyHostToDevice);
  }
  transform<<<1, 128>>>(data, twiddles, roots);
}
