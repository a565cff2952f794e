// The multipliers of a step of Gaussian elimination (Rodinia's gaussian, Fan1;
// sharing paper, Set-3: no shared memory): a column by its pivot.

extern "C" __global__ void fan1(float *multipliers, const float *matrix, int width, int rows,
                                int step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows - 1 - step)
        return;
    const int at = width * (i + step + 1) + step;
    multipliers[at] = matrix[at] / matrix[width * step + step];
}
