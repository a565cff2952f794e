// Second layer of a network that reads digits (GPGPU-Sim's NN, executeSecondLayer;
// sharing paper, Set-3: no shared memory): 5 x 5 threads a block, a neuron each,
// which sums six maps of 13 x 13 under windows of 5 x 5, two apart. Weights of a
// map: a bias, then six for each place of the window.

constexpr int SIDE = 13, WINDOW = 5, MAPS = 6, OUT = 5, WEIGHTS = 1 + MAPS * WINDOW * WINDOW;

extern "C" __global__ void second_layer(float *neurons, const float *layer, const float *weights)
{
    const int x = threadIdx.x, y = threadIdx.y, map = blockIdx.x, image = blockIdx.y;
    const float *from = layer + image * MAPS * SIDE * SIDE + 2 * y * SIDE + 2 * x;
    const float *weight = weights + map * WEIGHTS;
    float sum = weight[0];
    for (int i = 0; i < WINDOW * WINDOW; i++)
        for (int k = 0; k < MAPS; k++)
            sum += from[k * SIDE * SIDE + i / WINDOW * SIDE + i % WINDOW] * weight[1 + MAPS * i + k];
    // 1.7159 tanh(2/3 sum)
    float power = __expf(1.33333333f * sum);
    neurons[((image * gridDim.x + map) * OUT + y) * OUT + x] =
        1.7159f * (power - 1.0f) / (power + 1.0f);
}
