// Histogram of 64 bins of 12-bit pixels with COPIES sub-histograms by lane
// (atomics paper, Fig. 4): more copies have fewer votes for one word, but the
// same banks, from 16 on the same locks, and more words to clear and to sum up.

constexpr int BINS = 64;

template <int COPIES>
__device__ void count(unsigned *histogram, const unsigned short *pixels, unsigned n)
{
    __shared__ unsigned s[COPIES * BINS];
    for (unsigned i = threadIdx.x; i < COPIES * BINS; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    unsigned *mine = s + threadIdx.x % COPIES * BINS;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(mine + pixels[i] / (4096 / BINS), 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int i = 0; i < COPIES; i++)
            sum += s[i * BINS + bin];
        atomicAdd(histogram + bin, sum);
    }
}

#define ENTRY(COPIES)                                                                     \
    extern "C" __global__ void copies##COPIES(unsigned *histogram,                        \
                                              const unsigned short *pixels, unsigned n)   \
    {                                                                                     \
        count<COPIES>(histogram, pixels, n);                                              \
    }
ENTRY(1)
ENTRY(2)
ENTRY(4)
ENTRY(8)
ENTRY(16)
ENTRY(32)
ENTRY(64)
ENTRY(128)
