// The accesses that public questions about bank conflicts ask about, each as
// small as it can be (docs/guides/questions.md).

// 16 x 32 halves copied by 16 x 16 threads, a pair of halves each. The threads
// are numbered down the columns or along the rows. The launch may give more
// shared memory than the tile takes.
template <bool COLUMNS> __device__ inline void copy_tile(unsigned *out, const unsigned *in)
{
    extern __shared__ unsigned tile[];
    const int thread = threadIdx.x;
    const int row = COLUMNS ? thread % 16 : thread / 16;
    const int pair = COLUMNS ? thread / 16 : thread % 16;
    const int at = 16 * row + pair, base = 256 * blockIdx.x;
    tile[at] = in[base + at];
    __syncthreads();
    out[base + at] = tile[at];
}

extern "C" __global__ void copy_by_columns(unsigned *out, const unsigned *in)
{
    copy_tile<true>(out, in);
}

extern "C" __global__ void copy_by_rows(unsigned *out, const unsigned *in)
{
    copy_tile<false>(out, in);
}

__device__ inline unsigned shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ inline void load_matrices(unsigned *a, unsigned at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(at));
}

__device__ inline void load_transposed(unsigned *a, unsigned at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(at));
}

// 64 rows of WORDS pairs of halves, K contiguous, as A of mma.m16n8k16: four
// warps with 16 rows each, 16 halves of k at a time. The fragments go out
// where they came from.
template <int WORDS> __device__ inline void fragments(unsigned *out, const uint4 *in)
{
    __shared__ uint4 tile[64 * WORDS / 4];
    for (int i = threadIdx.x; i < 64 * WORDS / 4; i += 128)
        tile[i] = in[i];
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16;
    const unsigned row = top + lane % 16, half = lane / 16;
    for (unsigned k = 0; k < WORDS; k += 8) {
        unsigned a[4];
        load_matrices(a, shared_address(tile) + 4 * (WORDS * row + k + 4 * half));
        for (unsigned q = 0; q < 4; q++)
            out[WORDS * (top + q % 2 * 8 + lane / 4) + k + q / 2 * 4 + lane % 4] = a[q];
    }
}

extern "C" __global__ void rows_of_32_bytes(unsigned *out, const uint4 *in)
{
    fragments<8>(out, in);
}

extern "C" __global__ void rows_of_64_bytes(unsigned *out, const uint4 *in)
{
    fragments<16>(out, in);
}

extern "C" __global__ void rows_of_128_bytes(unsigned *out, const uint4 *in)
{
    fragments<32>(out, in);
}

// A tile of 64 x 64 halves that two products read: one takes its rows as they
// are, the other transposes them.
extern "C" __global__ void read_both_ways(unsigned *rows, unsigned *columns, const uint4 *in)
{
    __shared__ uint4 tile[64 * 8];
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = in[i];
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, warp = 16 * (threadIdx.x / 32);
    for (unsigned k = 0; k < 64; k += 16) {
        unsigned a[4], b[4];
        const unsigned row = warp + lane % 16, column = k + lane / 16 * 8;
        load_matrices(a, shared_address(tile) + 2 * (64 * row + column));
        // Lane 8 q + r: row r of matrix q of 8 x 8, of which two lie side by side.
        const unsigned across = k + lane / 16 * 8 + lane % 8, down = warp + lane / 8 % 2 * 8;
        load_transposed(b, shared_address(tile) + 2 * (64 * across + down));
        for (unsigned q = 0; q < 4; q++) {
            const unsigned at = 32 * (warp + q % 2 * 8 + lane / 4) + k / 2 + q / 2 * 4 + lane % 4;
            rows[at] = a[q];
            columns[at] = b[q];
        }
    }
}

// A of a product of floats on tensor cores, M contiguous: 128 x 16 floats,
// filled 16 bytes at a time by cp.async, read as fragments of mma.m16n8k8.tf32
// word by word.
extern "C" __global__ void fragments_of_tf32(float *out, const float *in)
{
    __shared__ float tile[128 * 16];
    for (int i = threadIdx.x; i < 512; i += 128)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + 4 * i)),
                     "l"(in + 4 * i)
                     : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    for (int m = threadIdx.x / 32 * 16; m < 128; m += 64)
        for (int k = 0; k < 16; k += 8)
            for (int q = 0; q < 4; q++) {
                const int at = 128 * (k + member + q / 2 * 4) + m + group + q % 2 * 8;
                out[at] = tile[at];
            }
}

// A block of 128 x 128 halves, transposed: each thread stores the eight halves
// that it has of a row one by one, down a column, and loads 16 bytes of a row.
extern "C" __global__ void transpose_halves(uint4 *out, const uint4 *in)
{
    __shared__ uint4 tile[128 * 16];
    unsigned short *halves = reinterpret_cast<unsigned short *>(tile);
    for (int i = threadIdx.x; i < 2048; i += 256) {
        const uint4 eight = in[i];
        const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
        for (int k = 0; k < 8; k++)
            halves[128 * (i % 16 * 8 + k) + i / 16] = words[k / 2] >> (16 * (k % 2));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 256)
        out[i] = tile[i];
}

// A matrix of floats, transposed by blocks of 32 x 8 threads through tiles of
// 32 x 32 whose rows are STRIDE apart.
template <int STRIDE> __device__ inline void transpose_tile(float *out, const float *in, int n)
{
    __shared__ float tile[32 * STRIDE];
    const int x = threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[STRIDE * y + x] = in[n * (top + y) + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[n * (left + y) + top + x] = tile[STRIDE * x + y];
}

extern "C" __global__ void transpose_512(float *out, const float *in, int n)
{
    transpose_tile<32>(out, in, n);
}

extern "C" __global__ void transpose_512_padded(float *out, const float *in, int n)
{
    transpose_tile<33>(out, in, n);
}

// A tile of 32 x 32 doubles, written by rows two at a time, read by columns one
// by one.
extern "C" __global__ void tile_doubles(double *out, const double2 *in)
{
    __shared__ double2 tile[32 * 16];
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = in[i];
    __syncthreads();
    const double *element = reinterpret_cast<const double *>(tile);
    for (int i = threadIdx.x; i < 1024; i += 128)
        out[i] = element[32 * (i % 32) + i / 32];
}

// A step of a spectral element method: both derivatives of each of eight planes
// of 8 x 8 points, and back. STRIDE is that of a row of eight.
template <typename T, int STRIDE>
__device__ inline void derivatives(T *out, const T *in, const T *dx, const T *dy)
{
    __shared__ T x[8 * STRIDE], y[8 * STRIDE], u[8 * STRIDE], ux[8 * STRIDE], uy[8 * STRIDE];
    const int i = threadIdx.x, j = threadIdx.y, at = i + STRIDE * j;
    x[at] = dx[i + 8 * j];
    y[at] = dy[i + 8 * j];
    for (int k = 0; k < 8; k++) {
        u[at] = in[64 * k + 8 * j + i];
        __syncthreads();
        T along = 0, across = 0, sum = 0;
        for (int l = 0; l < 8; l++) {
            along += x[i + STRIDE * l] * u[l + STRIDE * j];
            across += y[j + STRIDE * l] * u[i + STRIDE * l];
        }
        ux[at] = along;
        uy[at] = across;
        __syncthreads();
        for (int l = 0; l < 8; l++) {
            sum += ux[l + STRIDE * j] * x[l + STRIDE * i];
            sum += uy[i + STRIDE * l] * y[l + STRIDE * j];
        }
        out[64 * k + 8 * j + i] = sum;
    }
}

extern "C" __global__ void spectral(float *out, const float *in, const float *dx, const float *dy)
{
    derivatives<float, 8>(out, in, dx, dy);
}

extern "C" __global__ void spectral_padded(float *out, const float *in, const float *dx,
                                           const float *dy)
{
    derivatives<float, 9>(out, in, dx, dy);
}

extern "C" __global__ void spectral_double(double *out, const double *in, const double *dx,
                                           const double *dy)
{
    derivatives<double, 8>(out, in, dx, dy);
}

extern "C" __global__ void spectral_double_padded(double *out, const double *in, const double *dx,
                                                  const double *dy)
{
    derivatives<double, 9>(out, in, dx, dy);
}

// 2^BITS complex numbers into the order of reversed bits: one store, one load.
template <int BITS> __device__ inline void reverse(float2 *out, const float2 *in)
{
    __shared__ float2 all[1 << BITS];
    for (int i = threadIdx.x; i < 1 << BITS; i += 256)
        all[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << BITS; i += 256)
        out[i] = all[__brev(i) >> (32 - BITS)];
}

extern "C" __global__ void reverse_1024(float2 *out, const float2 *in)
{
    reverse<10>(out, in);
}

extern "C" __global__ void reverse_2048(float2 *out, const float2 *in)
{
    reverse<11>(out, in);
}

extern "C" __global__ void reverse_4096(float2 *out, const float2 *in)
{
    reverse<12>(out, in);
}

// The exchange between two steps of a transform of 1024 points with EACH of
// them in a thread's registers.
template <int EACH> __device__ inline void exchange(float *out, const float *in)
{
    __shared__ float all[1024];
    const int thread = threadIdx.x;
    for (int k = 0; k < EACH; k++)
        all[EACH * thread + k] = in[thread + 1024 / EACH * k];
    __syncthreads();
    for (int k = 0; k < EACH; k++)
        out[thread + 1024 / EACH * k] = all[thread + 1024 / EACH * k];
}

extern "C" __global__ void exchange_4(float *out, const float *in)
{
    exchange<4>(out, in);
}

extern "C" __global__ void exchange_8(float *out, const float *in)
{
    exchange<8>(out, in);
}

extern "C" __global__ void exchange_16(float *out, const float *in)
{
    exchange<16>(out, in);
}

// A warp loads 16 bytes from one of four addresses: lanes four apart agree, or
// neighbours do.
extern "C" __global__ void quads_apart(float4 *out, const float4 *in)
{
    __shared__ float4 four[4];
    if (threadIdx.x < 4)
        four[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = four[threadIdx.x % 4];
}

extern "C" __global__ void quads_in_pairs(float4 *out, const float4 *in)
{
    __shared__ float4 four[4];
    if (threadIdx.x < 4)
        four[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = four[threadIdx.x / 2 % 4];
}

// rows_of_64_bytes with the chunks of 16 bytes rotated by hand: by one more in
// every second row.
extern "C" __global__ void rows_rotated(unsigned *out, const uint4 *in)
{
    __shared__ uint4 tile[64 * 4];
    for (int i = threadIdx.x; i < 256; i += 128)
        tile[i / 4 * 4 + (i % 4 + i / 8) % 4] = in[i];
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16;
    const unsigned row = top + lane % 16;
    for (unsigned k = 0; k < 4; k += 2) {
        unsigned a[4];
        load_matrices(a, shared_address(tile + 4 * row + (k + lane / 16 + row / 2) % 4));
        for (unsigned q = 0; q < 4; q++)
            out[16 * (top + q % 2 * 8 + lane / 4) + 4 * (k + q / 2) + lane % 4] = a[q];
    }
}
