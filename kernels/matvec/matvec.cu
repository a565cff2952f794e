// Matrix times vector, a row for each of 32 threads: a block copies tiles of
// 32 x 32 to shared memory, by rows, and each thread reads a row of them (sharing
// paper, Table IX, MV: 32 threads, 4224 bytes). The width is a multiple of 32.

constexpr int TILE = 32;

extern "C" __global__ void matvec(float *out, const float *matrix, const float *vector, int width)
{
    __shared__ float tile[TILE][TILE + 1];
    const int t = threadIdx.x, first = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int column = 0; column < width; column += TILE) {
        for (int row = 0; row < TILE; row++)
            tile[row][t] = matrix[(first + row) * width + column + t];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile[t][k] * vector[column + k];
        __syncthreads();
    }
    out[first + t] = sum;
}
