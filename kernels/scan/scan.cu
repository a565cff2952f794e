// Exclusive prefix sum of 32-bit integers in blocks of 1024, 256 threads with
// 4 elements each: work-efficient up-sweep and down-sweep (hash paper, "matrix
// scan": each row of a matrix is one block). scan_add adds the scanned block
// totals, for arrays of more than one block. scan_warp scans with shuffles.

constexpr int THREADS = 256, ITEMS = 4 * THREADS;

extern "C" __global__ void scan(unsigned *out, unsigned *totals, const unsigned *in, unsigned n)
{
    __shared__ unsigned s[ITEMS + 1];
    const unsigned t = threadIdx.x, base = blockIdx.x * ITEMS;
    for (int k = 0; k < 4; k++) {
        unsigned i = base + 4 * t + k;
        s[4 * t + k] = i < n ? in[i] : 0;
    }
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
    for (int k = 0; k < 4; k++) {
        unsigned i = base + 4 * t + k;
        if (i < n)
            out[i] = s[4 * t + k];
    }
    if (t == 0)
        totals[blockIdx.x] = s[ITEMS];
}

extern "C" __global__ void scan_add(unsigned *out, const unsigned *offsets, unsigned n)
{
    unsigned offset = offsets[blockIdx.x];
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = blockIdx.x * ITEMS + k * THREADS + threadIdx.x;
        if (i < n)
            out[i] += offset;
    }
}

// One block's prefix sum of ROW words by ROW / 2 threads, two elements each.
template <unsigned ROW>
__device__ void scan_in_place(unsigned *out, const unsigned *in)
{
    __shared__ unsigned s[ROW];
    const unsigned t = threadIdx.x, base = blockIdx.x * ROW;
    s[t] = in[base + t];
    s[t + ROW / 2] = in[base + t + ROW / 2];
    for (unsigned stride = 1; stride < ROW; stride *= 2) {
        __syncthreads();
        if (t < ROW / 2 / stride) {
            unsigned left = stride * (2 * t + 1) - 1;
            s[left + stride] += s[left];
        }
    }
    __syncthreads();
    if (t == 0)
        s[ROW - 1] = 0;
    for (unsigned stride = ROW / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < ROW / 2 / stride) {
            unsigned left = stride * (2 * t + 1) - 1;
            unsigned right = left + stride, sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + ROW / 2] = s[t + ROW / 2];
}

// The rows of a matrix of 256 columns (hash paper, "matrix scan": its mask is
// that of rows of 256).
extern "C" __global__ void scan_rows(unsigned *out, const unsigned *in)
{
    scan_in_place<256>(out, in);
}
