// LU decomposition without pivoting, in place, of an n x n matrix in tiles of
// B x B (hash paper, LUD-1 and LUD-2; sharing paper, lud_internal with B = 22:
// 484 threads, 3872 bytes). For each tile on the diagonal: lud_diagonal with B
// threads factors it; lud_perimeter with 2 B threads, a block per remaining
// tile, solves the row and the column of tiles; lud_internal with B x B
// threads updates the rest.

template <int B>
__device__ void diagonal(float *m, int n, int first)
{
    __shared__ float s[B][B];
    const int t = threadIdx.x;
    float *tile = m + first * n + first;
    for (int i = 0; i < B; i++)
        s[i][t] = tile[i * n + t];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        // Column i of L below the diagonal, then row i + 1 of U.
        if (t > i) {
            float v = s[t][i];
            for (int j = 0; j < i; j++)
                v -= s[t][j] * s[j][i];
            s[t][i] = v / s[i][i];
        }
        __syncthreads();
        if (t > i) {
            float v = s[i + 1][t];
            for (int j = 0; j <= i; j++)
                v -= s[i + 1][j] * s[j][t];
            s[i + 1][t] = v;
        }
        __syncthreads();
    }
    for (int i = 1; i < B; i++)
        tile[i * n + t] = s[i][t];
}

template <int B>
__device__ void perimeter(float *m, int n, int first)
{
    __shared__ float dia[B][B], row[B][B], column[B][B];
    const int t = threadIdx.x % B, away = first + (blockIdx.x + 1) * B;
    const bool left = threadIdx.x >= B;
    float *tile_row = m + first * n + away, *tile_column = m + away * n + first;
    for (int i = 0; i < B; i++) {
        if (left) {
            column[i][t] = tile_column[i * n + t];
        } else {
            dia[i][t] = m[(first + i) * n + first + t];
            row[i][t] = tile_row[i * n + t];
        }
    }
    __syncthreads();
    if (left) {
        // Row t of the tile below: X U = A.
        for (int i = 0; i < B; i++) {
            float v = column[t][i];
            for (int j = 0; j < i; j++)
                v -= column[t][j] * dia[j][i];
            column[t][i] = v / dia[i][i];
        }
    } else {
        // Column t of the tile to the right: L X = A, L with a unit diagonal.
        for (int i = 1; i < B; i++) {
            float v = row[i][t];
            for (int j = 0; j < i; j++)
                v -= dia[i][j] * row[j][t];
            row[i][t] = v;
        }
    }
    __syncthreads();
    // Two loops: in one the compiler selects between the arrays, and both
    // halves of the warp access shared memory at once.
    if (left) {
        for (int i = 0; i < B; i++)
            tile_column[i * n + t] = column[i][t];
    } else {
        for (int i = 0; i < B; i++)
            tile_row[i * n + t] = row[i][t];
    }
}

template <int B>
__device__ void internal(float *m, int n, int first)
{
    __shared__ float row[B][B], column[B][B];
    const int x = threadIdx.x, y = threadIdx.y;
    const int right = first + (blockIdx.x + 1) * B, below = first + (blockIdx.y + 1) * B;
    row[y][x] = m[(first + y) * n + right + x];
    column[y][x] = m[(below + y) * n + first + x];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < B; i++)
        sum += column[y][i] * row[i][x];
    m[(below + y) * n + right + x] -= sum;
}

#define ENTRY(NAME, KIND, B)                                              \
    extern "C" __global__ void NAME(float *m, int n, int first)           \
    {                                                                     \
        KIND<B>(m, n, first);                                             \
    }
ENTRY(lud_diagonal, diagonal, 16)
ENTRY(lud_perimeter, perimeter, 16)
ENTRY(lud_internal, internal, 16)
ENTRY(lud_diagonal22, diagonal, 22)
ENTRY(lud_perimeter22, perimeter, 22)
ENTRY(lud_internal22, internal, 22)
