// Hough transform for lines (atomics paper, section on the Hough transform):
// one block per angle, whose voting space of distances is in shared memory,
// with replication, padding and bin stretching as template parameters. An edge
// point is y << 16 | x; cosine and sine are fixed-point numbers of 14 fraction
// bits, so that the votes are exact.

constexpr int ANGLES = 180, FRACTION = 14;

__constant__ int cosine[ANGLES], sine[ANGLES];

// Largest distance from the origin that has a bin of its own: images up to 256
// x 256; distances may be negative.
constexpr int REACH = 384, BINS = 2 * REACH;

template <int COPIES, int PAD, int STRETCH>
__device__ void vote(unsigned *votes, const unsigned *points, unsigned n)
{
    constexpr int SIZE = BINS * STRETCH + PAD;
    __shared__ unsigned s[COPIES * SIZE];
    for (unsigned i = threadIdx.x; i < COPIES * SIZE; i += blockDim.x)
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
