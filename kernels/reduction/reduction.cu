// Sum of an array, one partial sum per block.
//
// reduction: strided index, sdata[2 s t] += sdata[2 s t + s] (hash paper,
// section 3.2.3; elastic paper, "Reduction"). reduction_sequential: the halves
// are added instead, without conflicts. reduction_warps:
// a whole sum, one atomic per warp. reduction_shuffle: floats, each warp by
// shuffles, one word per warp in shared memory.

constexpr int THREADS = 256;

extern "C" __global__ void reduction(int *sums, const int *in, unsigned n)
{
    __shared__ int sdata[THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sdata[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < THREADS; s *= 2) {
        unsigned index = 2 * s * t;
        if (index < THREADS)
            sdata[index] += sdata[index + s];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = sdata[0];
}

extern "C" __global__ void reduction_sequential(int *sums, const int *in, unsigned n)
{
    __shared__ int sdata[THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * 2 * THREADS + t;
    int mine = i < n ? in[i] : 0;
    if (i + THREADS < n)
        mine += in[i + THREADS];
    sdata[t] = mine;
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (t < s)
            sdata[t] += sdata[t + s];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = sdata[0];
}

// Warps by redux.sync from sm_80 on, by shuffles before.
__device__ inline int warp_sum_exact(int v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, v);
#else
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(0xffffffffu, v, delta);
    return v;
#endif
}

extern "C" __global__ void reduction_warps(int *sum, const int *in, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = warp_sum_exact(i < n ? in[i] : 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}

__device__ inline float warp_sum(float v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(0xffffffffu, v, delta);
    return v;
}

extern "C" __global__ void reduction_shuffle(float *sums, const float *in, unsigned n)
{
    __shared__ float partial[THREADS / 32];
    unsigned t = threadIdx.x;
    float mine = 0.0f;
    for (unsigned i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        mine += in[i];
    mine = warp_sum(mine);
    if (t % 32 == 0)
        partial[t / 32] = mine;
    __syncthreads();
    if (t < 32) {
        mine = warp_sum(t < THREADS / 32 ? partial[t] : 0.0f);
        if (t == 0)
            sums[blockIdx.x] = mine;
    }
}
