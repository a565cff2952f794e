// Separable convolution with 17 taps, zero outside the image.
//
// conv_rows: 16 x 4 threads, 8 results each, a halo of 16 words (hash paper,
// conv-1). conv_columns: 16 x 8 threads, 8 results each, a column per row of
// the tile: without padding a stride of 80 words (conv-2), with it of 81, as
// the CUDA samples have it; conv_columns_halo4 with halos of four steps in place of
// one, of which 17 taps need one (sharing paper, Table IX, CV: 8256 bytes);
// conv_columns_5 with 5 taps, as the hash paper's counts have it (section 2: 640
// stores and 2560 loads, four loads to a store, where 8 results and 2 halo steps
// make 10 stores and 8 x 5 loads a thread). The image's width is a multiple of 128 for rows and
// of 16 for columns, its height of 4 and of 64.

constexpr int RADIUS = 8, STEPS = 8;

__constant__ float taps[2 * RADIUS + 1];

constexpr int ROWS_X = 16, ROWS_Y = 4;

extern "C" __global__ void conv_rows(float *out, const float *in, int width, int height)
{
    __shared__ float tile[ROWS_Y][(STEPS + 2) * ROWS_X];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first = (blockIdx.x * STEPS - 1) * ROWS_X + x;
    const int row = (blockIdx.y * ROWS_Y + y) * width;
    for (int step = 1; step <= STEPS; step++)
        tile[y][x + step * ROWS_X] = in[row + first + step * ROWS_X];
    tile[y][x] = first >= 0 ? in[row + first] : 0.0f;
    const int last = first + (STEPS + 1) * ROWS_X;
    tile[y][x + (STEPS + 1) * ROWS_X] = last < width ? in[row + last] : 0.0f;
    __syncthreads();
    for (int step = 1; step <= STEPS; step++) {
        float sum = 0.0f;
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum += taps[RADIUS - tap] * tile[y][x + step * ROWS_X + tap];
        out[row + first + step * ROWS_X] = sum;
    }
}

constexpr int COLUMNS_X = 16, COLUMNS_Y = 8;

template <int PAD, int HALO = 1, int R = RADIUS>
__device__ void columns(float *out, const float *in, int width, int height)
{
    __shared__ float tile[COLUMNS_X][(STEPS + 2 * HALO) * COLUMNS_Y + PAD];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * COLUMNS_X + x;
    const int first = (blockIdx.y * STEPS - HALO) * COLUMNS_Y + y;
    for (int step = 0; step < STEPS + 2 * HALO; step++) {
        int row = first + step * COLUMNS_Y;
        bool inside = row >= 0 && row < height;
        tile[x][y + step * COLUMNS_Y] = inside ? in[row * width + column] : 0.0f;
    }
    __syncthreads();
    for (int step = HALO; step < STEPS + HALO; step++) {
        float sum = 0.0f;
        for (int tap = -R; tap <= R; tap++)
            sum += taps[R - tap] * tile[x][y + step * COLUMNS_Y + tap];
        out[(first + step * COLUMNS_Y) * width + column] = sum;
    }
}

extern "C" __global__ void conv_columns(float *out, const float *in, int width, int height)
{
    columns<0>(out, in, width, height);
}

extern "C" __global__ void conv_columns_padded(float *out, const float *in, int width, int height)
{
    columns<1>(out, in, width, height);
}

extern "C" __global__ void conv_columns_halo4(float *out, const float *in, int width, int height)
{
    columns<1, 4>(out, in, width, height);
}

extern "C" __global__ void conv_columns_5(float *out, const float *in, int width, int height)
{
    columns<0, 1, 2>(out, in, width, height);
}
