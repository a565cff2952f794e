// Tiles that are written one way and read another: the cases that layouts of
// shared memory are discussed on.

// A 32 x 32 tile of floats, written by rows and read by columns.
extern "C" __global__ void tile_columns(float *out, const float *in)
{
    __shared__ float tile[32 * 32];
    const int lane = threadIdx.x;
    for (int row = threadIdx.y; row < 32; row += blockDim.y)
        tile[32 * row + lane] = in[32 * row + lane];
    __syncthreads();
    for (int column = threadIdx.y; column < 32; column += blockDim.y)
        out[32 * column + lane] = tile[32 * lane + column];
}

// The same, written by 128-bit stores: each thread has four floats of a row.
extern "C" __global__ void tile_vector(float *out, const float4 *in)
{
    __shared__ float4 tile[32 * 8];
    const int thread = 32 * threadIdx.y + threadIdx.x;
    tile[thread] = in[thread];
    __syncthreads();
    const float *words = reinterpret_cast<const float *>(tile);
    for (int column = threadIdx.y; column < 32; column += 8)
        out[32 * column + threadIdx.x] = words[32 * threadIdx.x + column];
}

// A tile of 128 x 32 halves, M-major (element (m, k) at 128 k + m), read as
// the A fragments of mma.m16n8k16 by ldmatrix.x4.trans: four warps, each with
// two rows of fragments. Written out K-major, so out is the transpose of in.
extern "C" __global__ void tile_ldmatrix(unsigned *out, const uint4 *in)
{
    __shared__ uint4 tile[128 * 32 / 8];
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = in[i];
    __syncthreads();
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned m0 = 16 * warp; m0 < 128; m0 += 64) {
        for (unsigned k0 = 0; k0 < 32; k0 += 16) {
            // Lane 8 q + r gives row r of matrix q: eight elements along m.
            const unsigned m = m0 + lane / 8 % 2 * 8, k = k0 + lane / 16 * 8 + lane % 8;
            unsigned a[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                         : "r"(base + 2 * (128 * k + m)));
            for (unsigned q = 0; q < 4; q++) {
                const unsigned row = m0 + q % 2 * 8 + lane / 4;
                out[16 * row + k0 / 2 + q / 2 * 4 + lane % 4] = a[q];
            }
        }
    }
}

// n floats copied through shared memory by cp.async, four bytes a thread: the
// copy of Triton's Gluon tutorial. n may be as large as memory is.
extern "C" __global__ void tile_copy(float *out, const float *in, long long n)
{
    __shared__ float tile[256];
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
    for (long long i = 256ll * blockIdx.x + threadIdx.x; i < n; i += 256ll * gridDim.x) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(in + i) : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        out[i] = tile[threadIdx.x];
    }
}
