// Temperatures of a chip (Rodinia's hotspot scheme; hash paper, section 7.1: no
// conflicts): blocks of 16 x 16 threads do two time steps at once, each step
// makes the valid area one cell smaller on every side. Cells beyond the chip
// have the temperature of its border.

constexpr int B = 16, STEPS = 2, INNER = B - 2 * STEPS;

extern "C" __global__ void hotspot(float *out, const float *in, const float *power, int columns,
                                   int rows, float rx, float ry, float rz, float ambient,
                                   float step)
{
    __shared__ float temperature[B][B], heat[B][B], next[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (int)blockIdx.x * INNER + tx - STEPS, y = (int)blockIdx.y * INNER + ty - STEPS;
    const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
    if (inside) {
        temperature[ty][tx] = in[y * columns + x];
        heat[ty][tx] = power[y * columns + x];
    }
    __syncthreads();
    // Neighbours, held inside the chip.
    const int up = y > 0 ? ty - 1 : ty, down = y < rows - 1 ? ty + 1 : ty;
    const int left = x > 0 ? tx - 1 : tx, right = x < columns - 1 ? tx + 1 : tx;
    for (int i = 1; i <= STEPS; i++) {
        bool valid = inside && tx >= i && tx < B - i && ty >= i && ty < B - i;
        if (valid) {
            float t = temperature[ty][tx];
            next[ty][tx] = t + step * (heat[ty][tx] +
                                       (temperature[down][tx] + temperature[up][tx] - 2.0f * t) * ry +
                                       (temperature[ty][right] + temperature[ty][left] - 2.0f * t) * rx +
                                       (ambient - t) * rz);
        }
        __syncthreads();
        if (valid)
            temperature[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (inside && tx >= STEPS && tx < B - STEPS && ty >= STEPS && ty < B - STEPS)
        out[y * columns + x] = temperature[ty][tx];
}
