// The transposes of the RAP paper as its sections III and VI print them: a 32 x 32
// matrix of doubles from shared memory to shared memory, 1024 threads.
//
// The numbers that rotate the rows lie packed in six registers, six of five
// bits in each (the paper's Fig. 7): a permutation is RAP, any numbers are RAS;
// RAW has none. A register file cannot be indexed, so that r[i/6] is a chain of
// selects. Filling the matrix and writing it back are before and behind a
// barrier: the paper's time is that of the statement between them.

constexpr int W = 32, REGISTERS = 6;

enum Layout { RAW, ROTATED };
enum Order { CRSW, SRCW, DRDW };

struct Packed {
    int r[REGISTERS];
    // (r[i/6] >> (5 * (i % 6))), whose lowest five bits are r_i.
    __device__ int at(int i) const
    {
        int word = r[0];
        for (int k = 1; k < REGISTERS; k++)
            word = i / 6 == k ? r[k] : word;
        return word >> (5 * (i % 6));
    }
};

template <Layout L>
__device__ double &at(double (&m)[W][W], const Packed &packed, int i, int j)
{
    return m[i][L == RAW ? j : (j + packed.at(i)) & (W - 1)];
}

template <Layout L, Order O>
__device__ void transpose(double *out, const double *in, const int *shifts)
{
    __shared__ double a[W][W], b[W][W];
    int i = threadIdx.x / W, j = threadIdx.x % W;
    Packed packed;
    for (int k = 0; k < REGISTERS; k++)
        packed.r[k] = L == RAW ? 0 : shifts[k];
    at<L>(a, packed, i, j) = in[i * W + j];
    __syncthreads();
    int d = (i + j) & (W - 1);
    if (O == CRSW)
        at<L>(b, packed, j, i) = at<L>(a, packed, i, j);
    else if (O == SRCW)
        at<L>(b, packed, i, j) = at<L>(a, packed, j, i);
    else
        at<L>(b, packed, j, d) = at<L>(a, packed, d, j);
    __syncthreads();
    out[i * W + j] = at<L>(b, packed, i, j);
}

#define ENTRY(NAME, LAYOUT, ORDER)                                                          \
    extern "C" __global__ void NAME(double *out, const double *in, const int *shifts)       \
    {                                                                                       \
        transpose<LAYOUT, ORDER>(out, in, shifts);                                          \
    }
ENTRY(crsw_raw, RAW, CRSW)
ENTRY(srcw_raw, RAW, SRCW)
ENTRY(drdw_raw, RAW, DRDW)
ENTRY(crsw_rotated, ROTATED, CRSW)
ENTRY(srcw_rotated, ROTATED, SRCW)
ENTRY(drdw_rotated, ROTATED, DRDW)
