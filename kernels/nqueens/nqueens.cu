// Number of solutions of the n queens problem (GPGPU-Sim's NQU; sharing paper:
// 64 threads, five arrays, 10496 bytes). A thread has the queens of the first
// two rows given by its number and searches the other rows with a stack of bit
// masks in shared memory; n is at most 12.
//
// nqueens_states is given its first queens, as GPGPU-Sim's kernel is, whose host
// places two of them and launches blocks for many more states than there are:
// threads without a state only take part in the sum.

constexpr int THREADS = 64, DEPTH = 10;

extern "C" __global__ void nqueens(unsigned *solutions, int n)
{
    __shared__ unsigned columns[THREADS][DEPTH], left[THREADS][DEPTH], right[THREADS][DEPTH],
        open[THREADS][DEPTH], sum[THREADS];
    const int t = threadIdx.x, state = blockIdx.x * THREADS + t;
    const unsigned all = (1u << n) - 1;
    unsigned count = 0;
    const int first = state / n, second = state % n;
    bool valid = first < n && (second > first + 1 || second + 1 < first);
    if (valid) {
        unsigned a = 1u << first, b = 1u << second;
        const int rows = n - 2;
        int i = 0;
        columns[t][0] = a | b;
        left[t][0] = (a << 2 | b << 1) & all;
        right[t][0] = a >> 2 | b >> 1;
        open[t][0] = all & ~(columns[t][0] | left[t][0] | right[t][0]);
        while (i >= 0) {
            unsigned free = open[t][i];
            if (free == 0) {
                i--;
                continue;
            }
            unsigned queen = free & -free;
            open[t][i] = free ^ queen;
            if (i + 1 == rows) {
                count++;
            } else {
                columns[t][i + 1] = columns[t][i] | queen;
                left[t][i + 1] = (left[t][i] | queen) << 1 & all;
                right[t][i + 1] = (right[t][i] | queen) >> 1;
                i++;
                open[t][i] = all & ~(columns[t][i] | left[t][i] | right[t][i]);
            }
        }
    }
    sum[t] = count;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sum[t] += sum[t + half];
    }
    if (t == 0)
        solutions[blockIdx.x] = sum[0];
}

extern "C" __global__ void nqueens_states(unsigned *solutions, const unsigned *columns_of,
                                          const unsigned *left_of, const unsigned *right_of,
                                          int n, int rows, int states)
{
    __shared__ unsigned columns[THREADS][DEPTH], left[THREADS][DEPTH], right[THREADS][DEPTH],
        taken[THREADS][DEPTH], sum[THREADS];
    const int t = threadIdx.x, state = blockIdx.x * THREADS + t;
    const unsigned all = (1u << n) - 1;
    unsigned count = 0;
    if (state < states) {
        int i = 0;
        columns[t][0] = columns_of[state];
        left[t][0] = left_of[state];
        right[t][0] = right_of[state];
        taken[t][0] = columns[t][0] | left[t][0] | right[t][0];
        while (i >= 0) {
            if ((taken[t][i] & all) == all) {
                i--;
                continue;
            }
            unsigned queen = (taken[t][i] + 1) & ~taken[t][i];
            taken[t][i] |= queen;
            if (i + 1 == rows) {
                count++;
                i--;
                continue;
            }
            columns[t][i + 1] = columns[t][i] | queen;
            left[t][i + 1] = (left[t][i] | queen) << 1;
            right[t][i + 1] = (right[t][i] | queen) >> 1;
            taken[t][i + 1] = columns[t][i + 1] | left[t][i + 1] | right[t][i + 1];
            i++;
        }
        sum[t] = count;
    } else {
        sum[t] = 0;
    }
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0)
        solutions[blockIdx.x] = sum[0];
}
