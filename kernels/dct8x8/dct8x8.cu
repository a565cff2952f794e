// DCT of 8 x 8 blocks (type II, orthonormal) and its inverse (type III), in
// place in shared memory: every thread transforms a row of 8, after a barrier a
// column of 8.
//
// dct, idct: 8 x 4 x 2 threads, 32 x 16 floats, rows padded by a word (sharing
// paper, DCT1 and DCT2: 2112 bytes; hash paper, dct8x8-1 and -2). dct_plain,
// idct_plain: without the padding (elastic paper, DCT and IDCT). dct_large,
// idct_large: 128 threads, 64 x 32 floats, 8320 bytes (sharing paper, Table
// VII). dct_matrix: 8 x 8 threads, a block of 8 x 8, by two products with the
// matrix of the transform (DCT5 of its Set-3, 512 bytes). dct_short, idct_short: 8 x 4 x 4 threads, 32 x 32 16-bit integers, 2176
// bytes (DCT3 and DCT4). Width and height are multiples of the area.

// cos(k pi / 16) / 2
constexpr float C1 = 0.49039264020161522f, C2 = 0.46193976625564337f, C3 = 0.41573480615127262f,
                C4 = 0.35355339059327376f, C5 = 0.27778511650980111f, C6 = 0.19134171618254489f,
                C7 = 0.09754516100806413f;

struct Float {
    typedef float Element;
    typedef float Wide;
    static __device__ float coefficient(float c) { return c; }
    static __device__ float narrow(float v) { return v; }
};

// Fixed point: coefficients of 13 fraction bits, halves are rounded up.
struct Short {
    typedef short Element;
    typedef int Wide;
    static __device__ constexpr int coefficient(float c) { return (int)(c * 8192.0f + 0.5f); }
    static __device__ short narrow(int v) { return (short)((v + 4096) >> 13); }
};

template <class N>
__device__ inline void forward(typename N::Element *data, int step)
{
    typedef typename N::Wide W;
    const W c1 = N::coefficient(C1), c2 = N::coefficient(C2), c3 = N::coefficient(C3),
            c4 = N::coefficient(C4), c5 = N::coefficient(C5), c6 = N::coefficient(C6),
            c7 = N::coefficient(C7);
    W v0 = data[0 * step], v7 = data[7 * step], v1 = data[1 * step], v6 = data[6 * step];
    W v2 = data[2 * step], v5 = data[5 * step], v3 = data[3 * step], v4 = data[4 * step];
    W s07 = v0 + v7, d07 = v0 - v7, s16 = v1 + v6, d16 = v1 - v6;
    W s25 = v2 + v5, d25 = v2 - v5, s34 = v3 + v4, d34 = v3 - v4;
    W outer = s07 + s34, inner = s16 + s25;
    data[0 * step] = N::narrow(c4 * (outer + inner));
    data[2 * step] = N::narrow(c2 * (s07 - s34) + c6 * (s16 - s25));
    data[4 * step] = N::narrow(c4 * (outer - inner));
    data[6 * step] = N::narrow(c6 * (s07 - s34) - c2 * (s16 - s25));
    data[1 * step] = N::narrow(c1 * d07 + c3 * d16 + c5 * d25 + c7 * d34);
    data[3 * step] = N::narrow(c3 * d07 - c7 * d16 - c1 * d25 - c5 * d34);
    data[5 * step] = N::narrow(c5 * d07 - c1 * d16 + c7 * d25 + c3 * d34);
    data[7 * step] = N::narrow(c7 * d07 - c5 * d16 + c3 * d25 - c1 * d34);
}

template <class N>
__device__ inline void inverse(typename N::Element *data, int step)
{
    typedef typename N::Wide W;
    const W c1 = N::coefficient(C1), c2 = N::coefficient(C2), c3 = N::coefficient(C3),
            c4 = N::coefficient(C4), c5 = N::coefficient(C5), c6 = N::coefficient(C6),
            c7 = N::coefficient(C7);
    W y0 = data[0 * step], y4 = data[4 * step], y2 = data[2 * step], y6 = data[6 * step];
    W y1 = data[1 * step], y3 = data[3 * step], y5 = data[5 * step], y7 = data[7 * step];
    W a = c4 * (y0 + y4), b = c4 * (y0 - y4), c = c2 * y2 + c6 * y6, d = c6 * y2 - c2 * y6;
    W o07 = c1 * y1 + c3 * y3 + c5 * y5 + c7 * y7, o16 = c3 * y1 - c7 * y3 - c1 * y5 - c5 * y7;
    W o25 = c5 * y1 - c1 * y3 + c7 * y5 + c3 * y7, o34 = c7 * y1 - c5 * y3 + c3 * y5 - c1 * y7;
    data[0 * step] = N::narrow(a + c + o07);
    data[7 * step] = N::narrow(a + c - o07);
    data[1 * step] = N::narrow(b + d + o16);
    data[6 * step] = N::narrow(b + d - o16);
    data[2 * step] = N::narrow(b - d + o25);
    data[5 * step] = N::narrow(b - d - o25);
    data[3 * step] = N::narrow(a - c + o34);
    data[4 * step] = N::narrow(a - c - o34);
}

// BX x BZ blocks of 8 x 8 in shared memory; 8 x BX x TZ threads.
template <class N, bool INVERSE, int BX, int BZ, int TZ, int PAD>
__device__ void transform(typename N::Element *out, const typename N::Element *in, int width)
{
    typedef typename N::Element E;
    constexpr int ROW = 8 * BX + PAD;
    __shared__ E area[8 * BZ * ROW];
    const int x = threadIdx.x, y = threadIdx.y;
    const int corner = (blockIdx.y * 8 * BZ) * width + blockIdx.x * 8 * BX + 8 * y + x;
    for (int z = threadIdx.z; z < BZ; z += TZ)
        for (int k = 0; k < 8; k++)
            area[(8 * z + k) * ROW + 8 * y + x] = in[corner + (8 * z + k) * width];
    __syncthreads();
    for (int z = threadIdx.z; z < BZ; z += TZ)
        INVERSE ? inverse<N>(area + (8 * z + x) * ROW + 8 * y, 1)
                : forward<N>(area + (8 * z + x) * ROW + 8 * y, 1);
    __syncthreads();
    for (int z = threadIdx.z; z < BZ; z += TZ)
        INVERSE ? inverse<N>(area + 8 * z * ROW + 8 * y + x, ROW)
                : forward<N>(area + 8 * z * ROW + 8 * y + x, ROW);
    __syncthreads();
    for (int z = threadIdx.z; z < BZ; z += TZ)
        for (int k = 0; k < 8; k++)
            out[corner + (8 * z + k) * width] = area[(8 * z + k) * ROW + 8 * y + x];
}

#define ENTRY(NAME, N, ...)                                                              \
    extern "C" __global__ void NAME(N::Element *out, const N::Element *in, int width)    \
    {                                                                                    \
        transform<N, __VA_ARGS__>(out, in, width);                                       \
    }
ENTRY(dct, Float, false, 4, 2, 2, 1)
ENTRY(idct, Float, true, 4, 2, 2, 1)
ENTRY(dct_plain, Float, false, 4, 2, 2, 0)
ENTRY(idct_plain, Float, true, 4, 2, 2, 0)
ENTRY(dct_large, Float, false, 8, 4, 2, 1)
ENTRY(idct_large, Float, true, 8, 4, 2, 1)
ENTRY(dct_short, Short, false, 4, 4, 4, 2)
ENTRY(idct_short, Short, true, 4, 4, 4, 2)
ENTRY(dct_short_plain, Short, false, 4, 4, 4, 0)
ENTRY(idct_short_plain, Short, true, 4, 4, 4, 0)

__constant__ float basis[8][8] = {
    {C4, C4, C4, C4, C4, C4, C4, C4},
    {C1, C3, C5, C7, -C7, -C5, -C3, -C1},
    {C2, C6, -C6, -C2, -C2, -C6, C6, C2},
    {C3, -C7, -C1, -C5, C5, C1, C7, -C3},
    {C4, -C4, -C4, C4, C4, -C4, -C4, C4},
    {C5, -C1, C7, C3, -C3, -C7, C1, -C5},
    {C6, -C2, C2, -C6, -C6, C2, -C2, C6},
    {C7, -C5, C3, -C1, C1, -C3, C5, -C7},
};

extern "C" __global__ void dct_matrix(float *out, const float *in, int width)
{
    __shared__ float block[8][8], half[8][8];
    const int x = threadIdx.x, y = threadIdx.y;
    const int at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = in[at];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; k++)
        sum += basis[y][k] * block[k][x];
    half[y][x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < 8; k++)
        sum += half[y][k] * basis[x][k];
    out[at] = sum;
}
