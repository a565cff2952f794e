// Scalar products of pairs of vectors, a block of 256 threads per pair at a
// time: 1024 partial sums in shared memory, then a tree (hash paper, section
// 7.1: no conflicts). scalarprod_long has 12 words of shared memory more (sharing
// paper, Table X: SP with ACCUM_N + 12, 64 threads).

constexpr int PARTIAL = 1024;

template <int WORDS>
__device__ void products(float *out, const float *a, const float *b, int vectors, int elements)
{
    __shared__ float partial[WORDS];
    for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
        const int first = v * elements, last = first + elements;
        for (int i = threadIdx.x; i < PARTIAL; i += blockDim.x) {
            float sum = 0.0f;
            for (int at = first + i; at < last; at += PARTIAL)
                sum += a[at] * b[at];
            partial[i] = sum;
        }
        for (int stride = PARTIAL / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < stride; i += blockDim.x)
                partial[i] += partial[i + stride];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            out[v] = partial[0];
        __syncthreads();
    }
}

extern "C" __global__ void scalarprod(float *out, const float *a, const float *b, int vectors,
                                      int elements)
{
    products<PARTIAL>(out, a, b, vectors, elements);
}

extern "C" __global__ void scalarprod_long(float *out, const float *a, const float *b, int vectors,
                                           int elements)
{
    products<PARTIAL + 12>(out, a, b, vectors, elements);
}
