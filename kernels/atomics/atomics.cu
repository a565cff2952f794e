// The synthetic benchmarks of the atomics paper: the first `way` threads of
// each warp update words `stride` apart, the others words of their own. Stride
// 0: one word (position conflicts); 32: one bank; 256 and above: one lock, too.

constexpr unsigned WORDS = 8192;

extern "C" __global__ void atomics(unsigned *counters, unsigned stride, unsigned way,
                                   unsigned times)
{
    __shared__ unsigned s[WORDS];
    const unsigned t = threadIdx.x, lane = t % 32;
    for (unsigned i = t; i < WORDS; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    unsigned at = lane < way ? lane * stride : lane;
    for (unsigned i = 0; i < times; i++)
        atomicAdd(&s[at % WORDS], t + i);
    __syncthreads();
    for (unsigned i = t; i < WORDS; i += blockDim.x)
        counters[i] = s[i];
}
