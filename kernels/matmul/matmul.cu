// Matrix multiplication C = A B of n x n floats.
//
// matmul: tiles of 32 x 32, a thread per element (Parboil's scheme; hash paper,
// section 7.1: no conflicts). matmul16: tiles of 16. matmul_wide: 64 x 64 tiles
// by 256 threads, 4 x 4 elements each, shared memory accessed with 128-bit
// loads and stores. n is a multiple of the tile.

// One float from global to shared memory, from sm_80 on without a register in
// between.
__device__ inline void copy(float *shared, const float *global)
{
#if __CUDA_ARCH__ >= 800
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
#else
    *shared = *global;
#endif
}

__device__ inline void copies_done()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
#endif
}

template <int TILE>
__device__ void tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        copy(&ta[y][x], &a[row * n + first + x]);
        copy(&tb[y][x], &b[(first + y) * n + column]);
        copies_done();
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n)
{
    tiled<32>(c, a, b, n);
}

extern "C" __global__ void matmul16(float *c, const float *a, const float *b, int n)
{
    tiled<16>(c, a, b, n);
}

constexpr int WIDE = 64, DEPTH = 16;

extern "C" __global__ void matmul_wide(float *c, const float *a, const float *b, int n)
{
    // A transposed, so that both operands of a step lie in one row.
    __shared__ float4 ta[DEPTH][WIDE / 4], tb[DEPTH][WIDE / 4];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const float *a0 = a + blockIdx.y * WIDE * n, *b0 = b + blockIdx.x * WIDE;
    float sum[4][4] = {};
    for (int first = 0; first < n; first += DEPTH) {
        // Thread t takes 4 elements of a row of A and 4 of a row of B.
        int row = t / 4, part = t % 4;
        float4 from_a = *(const float4 *)(a0 + row * n + first + 4 * part);
        float *column = (float *)ta;
        column[(4 * part + 0) * WIDE + row] = from_a.x;
        column[(4 * part + 1) * WIDE + row] = from_a.y;
        column[(4 * part + 2) * WIDE + row] = from_a.z;
        column[(4 * part + 3) * WIDE + row] = from_a.w;
        tb[ty][tx] = *(const float4 *)(b0 + (first + ty) * n + 4 * tx);
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float4 va = ta[k][ty], vb = tb[k][tx];
            float pa[4] = {va.x, va.y, va.z, va.w}, pb[4] = {vb.x, vb.y, vb.z, vb.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += pa[i] * pb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        float4 v;
        v.x = sum[i][0];
        v.y = sum[i][1];
        v.z = sum[i][2];
        v.w = sum[i][3];
        *(float4 *)(c + (blockIdx.y * WIDE + 4 * ty + i) * n + blockIdx.x * WIDE + 4 * tx) = v;
    }
}
