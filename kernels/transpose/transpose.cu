// Matrix transpose through shared memory.
//
// transpose, transpose_padded: a tile of 16 x 16, stored row by row and read
// column by column (hash paper, sections 3.2.1 and 3.2.2; elastic paper,
// "Transpose"). crsw, srcw, drdw: both matrices lie in shared memory (RAP
// paper): contiguous read and stride write, stride read and contiguous write,
// diagonal read and diagonal write; each with plain rows, with a word of padding per
// row, and with RAP (row i rotated by shift[i]).

constexpr int TILE = 16;
constexpr int W = 32;

template <int PAD>
__device__ void through_tile(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void transpose(float *out, const float *in, int width, int height)
{
    through_tile<0>(out, in, width, height);
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int width, int height)
{
    through_tile<1>(out, in, width, height);
}

// The random permutation of RAP; the host may write another one.
__constant__ int shift[W] = {19, 4,  28, 11, 0,  23, 7,  30, 14, 2,  25, 9,  17, 31, 5,  21,
                             12, 26, 1,  16, 8,  29, 22, 3,  10, 27, 13, 6,  20, 24, 15, 18};

enum Layout { PLAIN, PADDED, RAP };

template <Layout L>
struct Matrix {
    float word[W * (W + (L == PADDED))];
    __device__ float &at(int i, int j)
    {
        if (L == RAP)
            return word[i * W + ((j + shift[i]) & (W - 1))];
        return word[i * (W + (L == PADDED)) + j];
    }
};

enum Order { CRSW, SRCW, DRDW };

template <Layout L, Order O>
__device__ void in_shared(float *out, const float *in)
{
    __shared__ Matrix<L> a, b;
    int i = threadIdx.y, j = threadIdx.x, d = (i + j) & (W - 1);
    int base = blockIdx.x * W * W;
    a.at(i, j) = in[base + i * W + j];
    __syncthreads();
    if (O == CRSW)
        b.at(j, i) = a.at(i, j);
    else if (O == SRCW)
        b.at(i, j) = a.at(j, i);
    else
        b.at(j, d) = a.at(d, j);
    __syncthreads();
    out[base + i * W + j] = b.at(i, j);
}

#define ENTRY(NAME, LAYOUT, ORDER)                                   \
    extern "C" __global__ void NAME(float *out, const float *in)     \
    {                                                                \
        in_shared<LAYOUT, ORDER>(out, in);                           \
    }
ENTRY(crsw, PLAIN, CRSW)
ENTRY(srcw, PLAIN, SRCW)
ENTRY(drdw, PLAIN, DRDW)
ENTRY(crsw_padded, PADDED, CRSW)
ENTRY(srcw_padded, PADDED, SRCW)
ENTRY(drdw_padded, PADDED, DRDW)
ENTRY(crsw_rap, RAP, CRSW)
ENTRY(srcw_rap, RAP, SRCW)
ENTRY(drdw_rap, RAP, DRDW)
