// Forward pass of a layer with 16 x 16 weights a block in arrays for 48 x 48:
// the tile of back propagation as the sharing paper enlarges it. Its 4096 blocks
// for 65536 inputs and 125 instructions a thread say that the work stays that of
// 16 x 16. The sum goes over powers of two up to 48, each computed in floating
// point as Rodinia's kernel does; rows beyond 16 add nothing. Inputs, and the
// weights of each input, begin at number 1: 0 is the bias.

constexpr int H = 16, LARGE = 48;

extern "C" __global__ void layerforward(float *partial, float *products, const float *input,
                                        const float *weights, int hidden)
{
    __shared__ float node[LARGE], tile[LARGE][LARGE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * H + y + 1, at = row * (hidden + 1) + x + 1;
    if (x == 0)
        node[y] = input[row];
    __syncthreads();
    tile[y][x] = weights[at];
    __syncthreads();
    tile[y][x] = tile[y][x] * node[y];
    __syncthreads();
    for (int i = 1; i <= __log2f(LARGE); i++) {
        int power = __powf(2.0f, i);
        if (y % power == 0 && y + power / 2 < H)
            tile[y][x] += tile[y + power / 2][x];
        __syncthreads();
    }
    products[at] = tile[y][x];
    __syncthreads();
    if (x == 0)
        partial[blockIdx.y * hidden + y] = tile[0][y];
}
