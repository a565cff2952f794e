// Matrix products through tiles in shared memory: halves on tensor cores, the
// same on scalar instructions, and floats the way CuTe's first tutorial does it.

__device__ unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void copy_16_bytes(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ void copies_end()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ void wait_for_all_but(int groups)
{
    if (groups == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 1;" ::: "memory");
}

__device__ void load_fragment(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

__device__ void load_fragment_transposed(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

// c += a b: 16 x 8 floats from 16 x 16 and 16 x 8 halves.
__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A tile of 2^LOG_CHUNKS chunks of 16 bytes a row. Swizzled, the number of a
// chunk in its row is XORed with the number of the row, counted in rows of
// 128 bytes of shared memory: the same chunk of eight rows is in eight
// different sixteenths of a row of banks.
template <int LOG_CHUNKS, bool SWIZZLED>
__device__ unsigned chunk_offset(unsigned row, unsigned chunk)
{
    if (SWIZZLED)
        chunk ^= row >> (3 - LOG_CHUNKS) & ((1 << LOG_CHUNKS) - 1);
    return 16 * ((row << LOG_CHUNKS) + chunk);
}

// C = A B in blocks of 64 x 64, in steps of 32 along k; 128 threads. All
// matrices are row-major, n and k multiples of 64 and 32. Two tiles of each
// operand: one is copied while the other is multiplied.
template <bool SWIZZLED>
__device__ void product(float *c, const unsigned short *a, const unsigned short *b, int n, int k)
{
    __shared__ __align__(128) unsigned char a_tile[2][64 * 64];
    __shared__ __align__(128) unsigned char b_tile[2][32 * 128];
    const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const unsigned row0 = 64 * blockIdx.y, column0 = 64 * blockIdx.x;
    const unsigned warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

    auto copy_tiles = [&](int k0, int slot) {
        for (unsigned i = thread; i < 256; i += 128) {
            const unsigned row = i / 4, chunk = i % 4;
            copy_16_bytes(shared_address(a_tile[slot]) + chunk_offset<2, SWIZZLED>(row, chunk),
                          a + (row0 + row) * k + k0 + 8 * chunk);
        }
        for (unsigned i = thread; i < 256; i += 128) {
            const unsigned row = i / 8, chunk = i % 8;
            copy_16_bytes(shared_address(b_tile[slot]) + chunk_offset<3, SWIZZLED>(row, chunk),
                          b + (k0 + row) * n + column0 + 8 * chunk);
        }
        copies_end();
    };

    float sums[2][4][4] = {};
    copy_tiles(0, 0);
    for (int k0 = 0, slot = 0; k0 < k; k0 += 32, slot ^= 1) {
        const bool more = k0 + 32 < k;
        if (more)
            copy_tiles(k0 + 32, slot ^ 1);
        wait_for_all_but(more ? 1 : 0);
        __syncthreads();
        for (unsigned step = 0; step < 2; step++) {
            // Lane 8 q + r gives row r of matrix q.
            unsigned a_part[2][4], b_part[2][4];
            for (unsigned i = 0; i < 2; i++) {
                const unsigned row = warp_row + 16 * i + lane % 16, chunk = 2 * step + lane / 16;
                load_fragment(a_part[i], shared_address(a_tile[slot]) + chunk_offset<2, SWIZZLED>(row, chunk));
            }
            for (unsigned j = 0; j < 2; j++) {
                const unsigned row = 16 * step + lane % 16;
                const unsigned chunk = warp_column / 8 + 2 * j + lane / 16;
                load_fragment_transposed(b_part[j],
                                         shared_address(b_tile[slot]) + chunk_offset<3, SWIZZLED>(row, chunk));
            }
            for (unsigned i = 0; i < 2; i++)
                for (unsigned j = 0; j < 4; j++)
                    multiply_add(sums[i][j], a_part[i], b_part[j / 2][j % 2 * 2], b_part[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 4; j++) {
            const unsigned row = row0 + warp_row + 16 * i + lane / 4;
            const unsigned column = column0 + warp_column + 8 * j + lane % 4 * 2;
            for (unsigned e = 0; e < 4; e++)
                c[(row + e / 2 * 8) * n + column + e % 2] = sums[i][j][e];
        }
    }
}

extern "C" __global__ void hgemm(float *c, const unsigned short *a, const unsigned short *b, int n, int k)
{
    product<false>(c, a, b, n, k);
}

extern "C" __global__ void hgemm_swizzled(float *c, const unsigned short *a, const unsigned short *b, int n,
                                          int k)
{
    product<true>(c, a, b, n, k);
}

__device__ float as_float(unsigned short half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

// The same product by fused multiply-adds: each of 256 threads has 4 x 4 sums.
extern "C" __global__ void hgemm_scalar(float *c, const unsigned short *a, const unsigned short *b, int n,
                                        int k)
{
    __shared__ float a_tile[32][64], b_tile[32][64];
    const unsigned thread = threadIdx.x, x = thread % 16, y = thread / 16;
    const unsigned row0 = 64 * blockIdx.y, column0 = 64 * blockIdx.x;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (unsigned i = thread; i < 2048; i += 256) {
            a_tile[i / 64][i % 64] = as_float(a[(row0 + i % 64) * k + k0 + i / 64]);
            b_tile[i / 64][i % 64] = as_float(b[(k0 + i / 64) * n + column0 + i % 64]);
        }
        __syncthreads();
        for (unsigned step = 0; step < 32; step++)
            for (unsigned i = 0; i < 4; i++)
                for (unsigned j = 0; j < 4; j++)
                    sums[i][j] += a_tile[step][16 * i + y] * b_tile[step][16 * j + x];
        __syncthreads();
    }
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++)
            c[(row0 + 16 * i + y) * n + column0 + 16 * j + x] = sums[i][j];
}

// Blocks of 128 x 128 floats in steps of 8 along k; 256 threads, each with the
// 8 x 8 sums at distances of 16. The product is column-major. The tiles of A
// and B are 128 x 8, with M (or N) contiguous, or K.
template <bool K_CONTIGUOUS>
__device__ void float_product(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[128 * 8], b_tile[128 * 8];
    const unsigned thread = threadIdx.x, x = thread % 16, y = thread / 16;
    const unsigned row0 = 128 * blockIdx.x, column0 = 128 * blockIdx.y;
    auto at = [](unsigned i, unsigned step) { return K_CONTIGUOUS ? 8 * i + step : i + 128 * step; };
    float sums[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += 8) {
        for (unsigned e = thread; e < 1024; e += 256) {
            const unsigned i = K_CONTIGUOUS ? e / 8 : e % 128, step = K_CONTIGUOUS ? e % 8 : e / 128;
            a_tile[at(i, step)] = K_CONTIGUOUS ? a[(row0 + i) * k + k0 + step] : a[(k0 + step) * m + row0 + i];
            b_tile[at(i, step)] = K_CONTIGUOUS ? b[(column0 + i) * k + k0 + step] : b[(k0 + step) * n + column0 + i];
        }
        __syncthreads();
        for (unsigned step = 0; step < 8; step++)
            for (unsigned i = 0; i < 8; i++)
                for (unsigned j = 0; j < 8; j++)
                    sums[i][j] += a_tile[at(16 * i + x, step)] * b_tile[at(16 * j + y, step)];
        __syncthreads();
    }
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            c[(column0 + 16 * j + y) * m + row0 + 16 * i + x] = sums[i][j];
}

extern "C" __global__ void sgemm_nt(float *c, const float *a, const float *b, int m, int n, int k)
{
    float_product<false>(c, a, b, m, n, k);
}

extern "C" __global__ void sgemm_tn(float *c, const float *a, const float *b, int m, int n, int k)
{
    float_product<true>(c, a, b, m, n, k);
}
