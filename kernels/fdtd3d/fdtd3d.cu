// Finite differences in three dimensions, a star of radius 4 (CUDA samples'
// FDTD3d; sharing paper: 32 x 4 threads, 3840 bytes declared, of which a block
// of that height uses half). A block walks along z with the neighbours before
// and behind in registers. The volume has a border of 4 on every side.

constexpr int R = 4, MAX_X = 32, MAX_Y = 16;

__constant__ float stencil[R + 1];

extern "C" __global__ void fdtd3d(float *out, const float *in, int nx, int ny, int nz)
{
    __shared__ float tile[MAX_Y + 2 * R][MAX_X + 2 * R];
    const int lx = threadIdx.x, ly = threadIdx.y, wx = blockDim.x, wy = blockDim.y;
    const int x = blockIdx.x * wx + lx, y = blockIdx.y * wy + ly;
    const int row = nx + 2 * R, plane = row * (ny + 2 * R);
    const int tx = lx + R, ty = ly + R;
    // Of plane 0 of the border, at this thread's x and y.
    int at = (y + R) * row + x + R;
    float behind[R], ahead[R], current;
    for (int i = 0; i < R; i++)
        behind[R - 1 - i] = in[at + i * plane];
    current = in[at + R * plane];
    for (int i = 0; i < R; i++)
        ahead[i] = in[at + (R + 1 + i) * plane];
    at += R * plane;
    for (int z = 0; z < nz; z++) {
        __syncthreads();
        if (ly < R) {
            tile[ly][tx] = in[at - R * row];
            tile[ly + wy + R][tx] = in[at + wy * row];
        }
        if (lx < R) {
            tile[ty][lx] = in[at - R];
            tile[ty][lx + wx + R] = in[at + wx];
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencil[0] * current;
        for (int i = 1; i <= R; i++)
            value += stencil[i] * (ahead[i - 1] + behind[i - 1] + tile[ty - i][tx] +
                                   tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        out[at] = value;
        for (int i = R - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = current;
        current = ahead[0];
        for (int i = 0; i < R - 1; i++)
            ahead[i] = ahead[i + 1];
        at += plane;
        // Beyond the last plane there is nothing left to read.
        ahead[R - 1] = z + 1 < nz ? in[at + R * plane] : 0.0f;
    }
}
