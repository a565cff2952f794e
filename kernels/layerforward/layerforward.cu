// Forward pass of a layer with 16 x 16 weights a block in arrays for 48 x 48:
// the tile of back propagation as the sharing paper enlarges it. Its 4096 blocks
// for 65536 inputs and 125 instructions a thread say that the work stays that of
// 16 x 16. Weights are stored input by input.

constexpr int H = 16, LARGE = 48;

extern "C" __global__ void layerforward(float *partial, float *products, const float *input,
                                        const float *weights, int hidden)
{
    __shared__ float node[LARGE], tile[LARGE][LARGE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int at = (blockIdx.y * H + y) * hidden + x;
    if (x == 0)
        node[y] = input[blockIdx.y * H + y];
    __syncthreads();
    tile[y][x] = weights[at];
    __syncthreads();
    tile[y][x] = tile[y][x] * node[y];
    __syncthreads();
    for (int power = 2; power <= H; power *= 2) {
        if (y % power == 0)
            tile[y][x] += tile[y + power / 2][x];
        __syncthreads();
    }
    products[at] = tile[y][x];
    __syncthreads();
    if (x == 0)
        partial[blockIdx.y * hidden + y] = tile[0][y];
}
