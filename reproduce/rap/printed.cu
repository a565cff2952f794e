// What section VI of the RAP paper prints, and what its index arithmetic costs: rap.t3.
//
// printed: the statement as it stands in the paper. The threads of a warp have one i, so
// that their writes to b[...][i] are all in one bank.
// one_shift: the same index arithmetic, one shift of a row, with accesses of congestion 1;
// not a transpose.
// The matrix is filled without a shift, so that the shift is computed between the barriers.

constexpr int W = 32, REGISTERS = 6;

// (r[i/6] >> (5 * (i % 6))), by selects: a register file cannot be indexed.
__device__ int shift(const int (&r)[REGISTERS], int i)
{
    int word = r[0];
    for (int k = 1; k < REGISTERS; k++)
        word = i / 6 == k ? r[k] : word;
    return word >> (5 * (i % 6));
}

#define ENTRY(NAME, STATEMENT)                                                              \
    extern "C" __global__ void NAME(double *out, const double *in, const int *shifts)       \
    {                                                                                       \
        __shared__ double a[W][W], b[W][W];                                                 \
        int i = threadIdx.x / W, j = threadIdx.x % W;                                       \
        int r[REGISTERS];                                                                   \
        for (int k = 0; k < REGISTERS; k++)                                                 \
            r[k] = shifts[k];                                                               \
        a[i][j] = in[i * W + j];                                                            \
        __syncthreads();                                                                    \
        STATEMENT;                                                                          \
        __syncthreads();                                                                    \
        out[i * W + j] = b[i][j];                                                           \
    }
ENTRY(printed, b[(j + shift(r, i)) & 31][i] = a[i][(j + shift(r, i)) & 31])
ENTRY(one_shift, b[i][(j + shift(r, i)) & 31] = a[i][(j + shift(r, i)) & 31])
