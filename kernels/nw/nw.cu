// Needleman-Wunsch alignment scores of an n x n table with a border of one, in
// tiles of B x B by B threads: a wavefront inside the tile, another over the
// tiles (hash paper, NW-1 and NW-2 with B = 16; sharing paper, B = 32: 8452
// bytes). nw_border fills row and column 0; nw_upper and nw_lower take the
// anti-diagonal of tiles number `wave`, before and behind the middle one.

extern "C" __global__ void nw_border(int *score, int n, int penalty)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        score[i] = -i * penalty;
        score[i * (n + 1)] = -i * penalty;
    }
}

__device__ inline int best(int diagonal, int left, int up)
{
    return max(diagonal, max(left, up));
}

template <int B>
__device__ void tile(int *score, const int *similarity, int n, int penalty, int tx, int ty)
{
    // The hash paper's parameters fit accesses with `similar` in front
    // (nw.similar-first.ptx); Rodinia's own trace has it behind (nw.ptx).
#ifdef SIMILAR_FIRST
    __shared__ int similar[B][B];
    __shared__ int s[B + 1][B + 1];
#else
    __shared__ int s[B + 1][B + 1];
    __shared__ int similar[B][B];
#endif
    const int t = threadIdx.x, row = n + 1;
    int *corner = score + ty * B * row + tx * B;
    const int *from = similarity + (ty * B) * n + tx * B;
    if (t == 0)
        s[0][0] = corner[0];
    for (int y = 0; y < B; y++)
        similar[y][t] = from[y * n + t];
    __syncthreads();
    s[t + 1][0] = corner[(t + 1) * row];
    __syncthreads();
    s[0][t + 1] = corner[t + 1];
    __syncthreads();
    for (int m = 0; m < B; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            s[y][x] = best(s[y - 1][x - 1] + similar[y - 1][x - 1], s[y][x - 1] - penalty,
                           s[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = B - 2; m >= 0; m--) {
        if (t <= m) {
            int x = t + B - m, y = B - t;
            s[y][x] = best(s[y - 1][x - 1] + similar[y - 1][x - 1], s[y][x - 1] - penalty,
                           s[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int y = 1; y <= B; y++)
        corner[y * row + t + 1] = s[y][t + 1];
}

template <int B>
__device__ void upper(int *score, const int *similarity, int n, int penalty, int wave)
{
    tile<B>(score, similarity, n, penalty, blockIdx.x, wave - blockIdx.x);
}

template <int B>
__device__ void lower(int *score, const int *similarity, int n, int penalty, int wave)
{
    int last = n / B - 1;
    tile<B>(score, similarity, n, penalty, wave - last + blockIdx.x, last - blockIdx.x);
}

#define ENTRY(NAME, HALF, B)                                                                \
    extern "C" __global__ void NAME(int *score, const int *similarity, int n, int penalty,  \
                                    int wave)                                               \
    {                                                                                       \
        HALF<B>(score, similarity, n, penalty, wave);                                       \
    }
ENTRY(nw_upper, upper, 16)
ENTRY(nw_lower, lower, 16)
ENTRY(nw_upper32, upper, 32)
ENTRY(nw_lower32, lower, 32)
