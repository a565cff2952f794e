// Histograms in shared memory with the ways of the atomics paper to spread
// conflicting updates as template parameters: COPIES sub-histograms
// (replication), PAD unused words behind each of them (padding), bins STRETCH
// words apart (bin stretching).

// Sub-histogram by warp (as in the CUDA samples) or by lane.
enum Choice { BY_WARP, BY_LANE };

template <int BINS, int COPIES, int PAD, int STRETCH, Choice C>
__device__ void count(unsigned *histogram, const unsigned *words, unsigned n)
{
    constexpr int SIZE = BINS * STRETCH + PAD;
    __shared__ unsigned s[COPIES * SIZE];
    for (unsigned i = threadIdx.x; i < COPIES * SIZE; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    unsigned copy = (C == BY_WARP ? threadIdx.x / 32 : threadIdx.x) % COPIES;
    unsigned *mine = s + copy * SIZE;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned word = words[i];
        for (int byte = 0; byte < 4; byte++) {
            unsigned bin = (word >> (8 * byte) & 255) / (256 / BINS);
            atomicAdd(mine + bin * STRETCH, 1u);
        }
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int i = 0; i < COPIES; i++)
            sum += s[i * SIZE + bin * STRETCH];
        atomicAdd(histogram + bin, sum);
    }
}

#define ENTRY(NAME, ...)                                                              \
    extern "C" __global__ void NAME(unsigned *histogram, const unsigned *words, unsigned n) \
    {                                                                                 \
        count<__VA_ARGS__>(histogram, words, n);                                      \
    }
// One copy for each of 6 warps.
ENTRY(histogram256, 256, 6, 0, 1, BY_WARP)
// 9216 bytes, as in the sharing paper: a copy for each of 6 warps, with room for
// 384 bins in place of 256 (Table V).
ENTRY(histogram256_9216, 256, 6, 128, 1, BY_WARP)
ENTRY(histogram256_plain, 256, 1, 0, 1, BY_LANE)
ENTRY(histogram256_padded, 256, 8, 1, 1, BY_LANE)
ENTRY(histogram256_stretched, 256, 4, 1, 3, BY_LANE)

// 12-bit pixels, one a thread at a time, COPIES sub-histograms by lane: the
// hash paper's hist64 and hist256 (section 7.2: 32 of them).
template <int BINS, int COPIES>
__device__ void count_pixels(unsigned *histogram, const unsigned short *pixels, unsigned n)
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

#define ENTRY_PIXELS(BINS)                                                                    \
    extern "C" __global__ void histogram##BINS##_32(unsigned *histogram,                      \
                                                    const unsigned short *pixels, unsigned n) \
    {                                                                                         \
        count_pixels<BINS, 32>(histogram, pixels, n);                                         \
    }
ENTRY_PIXELS(64)
ENTRY_PIXELS(256)

// 64 bins, counted without atomics: every thread has a byte per bin, laid out
// so that the threads of a warp meet in different banks.
constexpr unsigned THREADS64 = 64;

extern "C" __global__ void histogram64(unsigned *histogram, const unsigned *words, unsigned n)
{
    __shared__ unsigned char s[64 * THREADS64];
    unsigned *cleared = (unsigned *)s;
    for (unsigned i = threadIdx.x; i < 64 * THREADS64 / 4; i += THREADS64)
        cleared[i] = 0;
    // The lowest bits of the thread choose the word, the others the byte.
    unsigned t = threadIdx.x;
    unsigned place = (t & ~63u) | (t & 15) << 2 | (t & 48) >> 4;
    __syncthreads();
    // At most 255 pixels a thread, or a byte would overflow.
    unsigned first = blockIdx.x * THREADS64 * 63;
    for (unsigned i = 0; i < 63; i++) {
        unsigned at = first + i * THREADS64 + t;
        if (at < n) {
            unsigned word = words[at];
            for (int byte = 0; byte < 4; byte++)
                s[(word >> (8 * byte + 2) & 63) * THREADS64 + place]++;
        }
    }
    __syncthreads();
    // Thread t sums up bin t, starting at a bank of its own.
    unsigned sum = 0, start = (t & 15) * 4;
    for (unsigned i = 0; i < THREADS64; i++)
        sum += s[t * THREADS64 + ((start + i) & (THREADS64 - 1))];
    atomicAdd(histogram + t, sum);
}

extern "C" __global__ void histogram64_atomic(unsigned *histogram, const unsigned *words, unsigned n)
{
    count<64, 4, 1, 1, BY_LANE>(histogram, words, n);
}
