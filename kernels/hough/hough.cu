// Hough transform for lines (atomics paper, section on the Hough transform):
// one block per angle, whose voting space of distances is in shared memory,
// with replication, padding and bin stretching as template parameters. An edge
// point is y << 16 | x; cosine and sine are fixed-point numbers of 14 fraction
// bits, so that the votes are exact.

constexpr int ANGLES = 180, FRACTION = 14;

__constant__ int cosine[ANGLES], sine[ANGLES];

// REACH is the largest distance from the origin that has a bin of its own: 384
// for images up to 256 x 256, 800 for 640 x 480; distances may be negative.
// Bin stretching puts the copies of a bin side by side: INTERLEAVED.
template <int COPIES, int PAD, int STRETCH, int REACH = 384, bool INTERLEAVED = false>
__device__ void vote(unsigned *votes, const unsigned *points, unsigned n)
{
    constexpr int BINS = 2 * REACH;
    constexpr int SIZE = INTERLEAVED ? 1 : BINS * STRETCH + PAD;
    constexpr int WORDS = INTERLEAVED ? BINS * STRETCH : COPIES * SIZE;
    __shared__ unsigned s[WORDS];
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    const unsigned angle = blockIdx.x;
    const int c = cosine[angle], d = sine[angle];
    unsigned *mine = s + threadIdx.x % COPIES * SIZE;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        int x = points[i] & 0xffff, y = points[i] >> 16;
        int distance = (x * c + y * d + (1 << (FRACTION - 1))) >> FRACTION;
        atomicAdd(mine + (distance + REACH) * STRETCH, 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; copy++)
            sum += s[copy * SIZE + bin * STRETCH];
        votes[angle * BINS + bin] = sum;
    }
}

#define ENTRY(NAME, ...)                                                                \
    extern "C" __global__ void NAME(unsigned *votes, const unsigned *points, unsigned n) \
    {                                                                                   \
        vote<__VA_ARGS__>(votes, points, n);                                            \
    }
ENTRY(hough, 1, 0, 1)
ENTRY(hough_replicated, 6, 0, 1)
ENTRY(hough_padded, 6, 1, 1)
ENTRY(hough_stretched, 1, 0, 6)
// Images of 640 x 480.
ENTRY(hough640_1, 1, 0, 1, 800)
ENTRY(hough640_2, 2, 0, 1, 800)
ENTRY(hough640_3, 3, 0, 1, 800)
ENTRY(hough640_4, 4, 0, 1, 800)
ENTRY(hough640_5, 5, 0, 1, 800)
ENTRY(hough640_6, 6, 0, 1, 800)
ENTRY(hough640_stretched, 6, 0, 6, 800, true)
