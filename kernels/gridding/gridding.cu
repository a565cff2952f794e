// Gridding of scattered samples (Parboil's mri-gridding scheme; hash paper,
// MRI-grid-1 to -4): samples get the number of their bin as key (bin_keys), are
// sorted by it in digits of 4 bits (split_sort in blocks of 1024, scan_counts
// over the digit counts, rearrange), bin_starts finds where each bin begins,
// and gridding sums up, for each cell, the samples near it.

constexpr unsigned THREADS = 256, ITEMS = 4 * THREADS, DIGITS = 16;
// Bins of 8 x 8 cells.
constexpr int SIDE = 8;

// A sample is its position in cells and its value.
struct __align__(16) Sample {
    float x, y, value, unused;
};

extern "C" __global__ void bin_keys(unsigned *keys, unsigned *indices, const Sample *samples,
                                    unsigned n, int bins)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int bx = min((int)samples[i].x / SIDE, bins - 1);
        int by = min((int)samples[i].y / SIDE, bins - 1);
        keys[i] = by * bins + bx;
        indices[i] = i;
    }
}

// Exclusive prefix sum of the ITEMS words of s; s[ITEMS] becomes their sum.
__device__ inline void scan(unsigned *s, unsigned t)
{
    for (unsigned stride = 1; stride < ITEMS; stride *= 2) {
        __syncthreads();
        for (unsigned pair = t; pair < ITEMS / 2 / stride; pair += THREADS) {
            unsigned left = stride * (2 * pair + 1) - 1;
            s[left + stride] += s[left];
        }
    }
    if (t == 0) {
        s[ITEMS] = s[ITEMS - 1];
        s[ITEMS - 1] = 0;
    }
    for (unsigned stride = ITEMS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        for (unsigned pair = t; pair < ITEMS / 2 / stride; pair += THREADS) {
            unsigned left = stride * (2 * pair + 1) - 1;
            unsigned right = left + stride, sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
    }
    __syncthreads();
}

// Sorts each block's items by the digit at `shift`, stable, one bit at a time;
// n is a multiple of ITEMS. counts[digit * blocks + block] is how many there
// are.
extern "C" __global__ void split_sort(unsigned *keys, unsigned *values, unsigned *counts,
                                      unsigned shift)
{
    __shared__ unsigned s[ITEMS + 1], digits[DIGITS];
    const unsigned t = threadIdx.x, base = blockIdx.x * ITEMS;
    unsigned key[4], value[4];
    if (t < DIGITS)
        digits[t] = 0;
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) {
        key[k] = keys[base + 4 * t + k];
        value[k] = values[base + 4 * t + k];
        atomicAdd(&digits[key[k] >> shift & (DIGITS - 1)], 1u);
    }
    for (unsigned bit = shift; bit < shift + 4; bit++) {
        for (unsigned k = 0; k < 4; k++)
            s[4 * t + k] = ~key[k] >> bit & 1;
        scan(s, t);
        // Zeros go to the front, ones behind all zeros.
        unsigned zeros = s[ITEMS], to[4];
        for (unsigned k = 0; k < 4; k++) {
            unsigned at = 4 * t + k, before = s[at];
            to[k] = key[k] >> bit & 1 ? zeros + at - before : before;
        }
        __syncthreads();
        for (unsigned k = 0; k < 4; k++)
            s[to[k]] = key[k];
        __syncthreads();
        for (unsigned k = 0; k < 4; k++)
            key[k] = s[4 * t + k];
        __syncthreads();
        for (unsigned k = 0; k < 4; k++)
            s[to[k]] = value[k];
        __syncthreads();
        for (unsigned k = 0; k < 4; k++)
            value[k] = s[4 * t + k];
        __syncthreads();
    }
    for (unsigned k = 0; k < 4; k++) {
        keys[base + 4 * t + k] = key[k];
        values[base + 4 * t + k] = value[k];
    }
    if (t < DIGITS)
        counts[t * gridDim.x + blockIdx.x] = digits[t];
}

// In place, one block, at most ITEMS counts.
extern "C" __global__ void scan_counts(unsigned *counts, unsigned n)
{
    __shared__ unsigned s[ITEMS + 1];
    const unsigned t = threadIdx.x;
    for (unsigned k = 0; k < 4; k++)
        s[4 * t + k] = 4 * t + k < n ? counts[4 * t + k] : 0;
    scan(s, t);
    for (unsigned k = 0; k < 4; k++)
        if (4 * t + k < n)
            counts[4 * t + k] = s[4 * t + k];
}

// Moves each block's digits to where the scanned counts say.
extern "C" __global__ void rearrange(unsigned *keys_out, unsigned *values_out, const unsigned *keys,
                                     const unsigned *values, const unsigned *offsets,
                                     unsigned shift)
{
    __shared__ unsigned first[DIGITS], to[DIGITS];
    const unsigned t = threadIdx.x, base = blockIdx.x * ITEMS;
    if (t < DIGITS)
        to[t] = offsets[t * gridDim.x + blockIdx.x];
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = k * THREADS + t, digit = keys[base + i] >> shift & (DIGITS - 1);
        if (i == 0 || (keys[base + i - 1] >> shift & (DIGITS - 1)) != digit)
            first[digit] = i;
    }
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = k * THREADS + t, key = keys[base + i];
        unsigned digit = key >> shift & (DIGITS - 1);
        unsigned place = to[digit] + i - first[digit];
        keys_out[place] = key;
        values_out[place] = values[base + i];
    }
}

// starts[bin] is the first sample of the bin or of a later one; starts[bins] n.
extern "C" __global__ void bin_starts(unsigned *starts, const unsigned *keys, unsigned n,
                                      unsigned bins)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned from = i == 0 ? 0 : keys[i - 1] + 1;
        for (unsigned bin = from; bin <= keys[i]; bin++)
            starts[bin] = i;
        if (i == n - 1)
            for (unsigned bin = keys[i] + 1; bin <= bins; bin++)
                starts[bin] = n;
    }
}

constexpr int CHUNK = SIDE * SIDE;

// One bin per block, one cell per thread: samples of the bin and its eight
// neighbours, weighted with a triangle of `radius` cells in x and y.
extern "C" __global__ void gridding(float *cells, const Sample *samples, const unsigned *indices,
                                    const unsigned *starts, float radius)
{
    __shared__ Sample chunk[CHUNK];
    const int bins_x = gridDim.x, bins_y = gridDim.y;
    const int t = threadIdx.y * SIDE + threadIdx.x;
    const int cx = blockIdx.x * SIDE + threadIdx.x, cy = blockIdx.y * SIDE + threadIdx.y;
    const float inverse = 1.0f / radius;
    float sum = 0.0f;
    for (int by = max((int)blockIdx.y - 1, 0); by <= min((int)blockIdx.y + 1, bins_y - 1); by++) {
        int left = max((int)blockIdx.x - 1, 0), right = min((int)blockIdx.x + 1, bins_x - 1);
        unsigned from = starts[by * bins_x + left], to = starts[by * bins_x + right + 1];
        for (unsigned i = from; i < to; i += CHUNK) {
            if (i + t < to)
                chunk[t] = samples[indices[i + t]];
            __syncthreads();
            unsigned count = min((unsigned)CHUNK, to - i);
            for (unsigned j = 0; j < count; j++) {
                float wx = 1.0f - fabsf(chunk[j].x - cx) * inverse;
                float wy = 1.0f - fabsf(chunk[j].y - cy) * inverse;
                if (wx > 0.0f && wy > 0.0f)
                    sum += wx * wy * chunk[j].value;
            }
            __syncthreads();
        }
    }
    cells[cy * bins_x * SIDE + cx] = sum;
}

// The two halves of a prefix sum over blocks' totals (hash paper, MRI-grid-2
// and -3): a block of PAIRS threads takes 2 * PAIRS totals, thread t the words
// 2 t and 2 t + 1. scan_up leaves the tree of sums in place and the block's sum
// in sums; scan_down begins with the block's offset and makes the prefixes.
constexpr unsigned PAIRS = 64;

extern "C" __global__ void scan_up(unsigned *totals, unsigned *sums)
{
    __shared__ unsigned s[2 * PAIRS];
    const unsigned t = threadIdx.x, at = 2 * (blockIdx.x * PAIRS + t);
    s[2 * t] = totals[at];
    s[2 * t + 1] = totals[at + 1];
    for (unsigned stride = 1; stride <= PAIRS; stride *= 2) {
        __syncthreads();
        if (t < PAIRS / stride) {
            unsigned left = stride * (2 * t + 1) - 1;
            s[left + stride] += s[left];
        }
    }
    __syncthreads();
    totals[at] = s[2 * t];
    totals[at + 1] = s[2 * t + 1];
    if (t == 0)
        sums[blockIdx.x] = s[2 * PAIRS - 1];
}

extern "C" __global__ void scan_down(unsigned *totals, const unsigned *offsets)
{
    __shared__ unsigned s[2 * PAIRS];
    const unsigned t = threadIdx.x, at = 2 * (blockIdx.x * PAIRS + t);
    s[2 * t] = totals[at];
    s[2 * t + 1] = t == PAIRS - 1 ? offsets[blockIdx.x] : totals[at + 1];
    for (unsigned stride = PAIRS; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < PAIRS / stride) {
            unsigned left = stride * (2 * t + 1) - 1;
            unsigned right = left + stride, sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
    }
    __syncthreads();
    totals[at] = s[2 * t];
    totals[at + 1] = s[2 * t + 1];
}
