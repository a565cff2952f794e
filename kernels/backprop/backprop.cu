// Back propagation (Rodinia's scheme).
//
// layer_forward: 16 inputs times a 16 x 16 tile of weights per block, a tree
// sum over the inputs (hash paper, section 7.1: no conflicts).
// layer_forward48: the same with 48 x 48 weights by 16 x 16 threads, 9408 bytes
// (sharing paper, backprop); layer_forward_bias has Rodinia's indices.
// adjust_weights: the weight update, without shared
// memory. The layer has `hidden` outputs, a multiple of the tile; weights are
// stored input by input.

constexpr int H = 16;

extern "C" __global__ void layer_forward(float *partial, float *products, const float *input,
                                         const float *weights, int hidden)
{
    __shared__ float node[H], tile[H][H];
    const int x = threadIdx.x, y = threadIdx.y;
    const int at = (blockIdx.y * H + y) * hidden + blockIdx.x * H + x;
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
        partial[blockIdx.y * hidden + blockIdx.x * H + y] = tile[x][y];
}

constexpr int LARGE = 48;

extern "C" __global__ void layer_forward48(float *partial, const float *input,
                                           const float *weights, int hidden)
{
    __shared__ float node[LARGE], tile[LARGE][LARGE];
    const int x = threadIdx.x, y = threadIdx.y, t = y * H + x;
    if (t < LARGE)
        node[t] = input[blockIdx.y * LARGE + t];
    __syncthreads();
    for (int row = y; row < LARGE; row += H)
        for (int column = x; column < LARGE; column += H)
            tile[row][column] = node[row] * weights[(blockIdx.y * LARGE + row) * hidden +
                                                    blockIdx.x * LARGE + column];
    __syncthreads();
    // The upper half takes the lower; with an odd number the middle row stays.
    for (int rows = LARGE; rows > 1; rows = (rows + 1) / 2) {
        int half = (rows + 1) / 2;
        for (int row = y; row < rows / 2; row += H)
            for (int column = x; column < LARGE; column += H)
                tile[row][column] += tile[row + half][column];
        __syncthreads();
    }
    if (t < LARGE)
        partial[blockIdx.y * hidden + blockIdx.x * LARGE + t] = tile[0][t];
}

// The same by Rodinia's indices: inputs and outputs count from 1 (place 0 is
// the bias, so that a row of weights has hidden + 1 words), and 16 x 16 threads
// use the corner of an array with rows of 48, which has the sharing paper's
// size. The sums of products stay in weights.
extern "C" __global__ void layer_forward_bias(float *partial, float *weights, const float *input,
                                              int hidden)
{
    __shared__ float node[LARGE], tile[LARGE][LARGE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int at = (blockIdx.y * H + y + 1) * (hidden + 1) + blockIdx.x * H + x + 1;
    if (x == 0)
        node[y] = input[blockIdx.y * H + y + 1];
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
    weights[at] = tile[y][x];
    __syncthreads();
    if (x == 0)
        partial[blockIdx.y * hidden + blockIdx.x * H + y] = tile[x][y];
}

extern "C" __global__ void adjust_weights(float *weights, float *previous, const float *delta,
                                          const float *input, int hidden, float rate,
                                          float momentum)
{
    const int column = blockIdx.x * H + threadIdx.x, row = blockIdx.y * H + threadIdx.y;
    const int at = row * hidden + column;
    float change = rate * delta[column] * input[row] + momentum * previous[at];
    weights[at] += change;
    previous[at] = change;
}
