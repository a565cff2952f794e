// DCT of 8 x 8 blocks of 16-bit integers (type II, orthonormal) and its inverse
// (type III), two integers in a word (elastic paper, DCT_short and IDCT_short).
//
// 8 x 4 x 4 threads, 32 x 32 integers. Half of the threads copy, a word of two
// integers each; every thread transforms a row of 8, which is four words, and
// after a barrier a column of 8, one integer at a time. Neighbouring threads
// take every second column, so that no two of them are in one word. Every
// product is rounded, results are saturated to 16 bits. Rows are padded by a
// word, and are not in *_plain. Width and height are multiples of 32.
//
// A thread has 8 + 8 copies, made by half of them, 4 + 4 accesses of the row and
// 8 + 8 of the column: 40 access instructions, of which 32 are executed, as the
// paper's Table 5 counts them. Without padding those of the row have degree 8.

typedef short Element;
typedef unsigned Pair;

// cos(k pi / 16) / 2 with 13 fraction bits.
constexpr int C1 = 4017, C2 = 3784, C3 = 3406, C4 = 2896, C5 = 2276, C6 = 1567, C7 = 799;

__device__ inline int times(int c, int v) { return (c * v + 4096) >> 13; }

__device__ inline void forward(int v[8])
{
    const int s07 = v[0] + v[7], d07 = v[0] - v[7], s16 = v[1] + v[6], d16 = v[1] - v[6];
    const int s25 = v[2] + v[5], d25 = v[2] - v[5], s34 = v[3] + v[4], d34 = v[3] - v[4];
    const int outer = s07 + s34, inner = s16 + s25, a = s07 - s34, b = s16 - s25;
    v[0] = times(C4, outer + inner);
    v[4] = times(C4, outer - inner);
    v[2] = times(C2, a) + times(C6, b);
    v[6] = times(C6, a) - times(C2, b);
    v[1] = times(C1, d07) + times(C3, d16) + times(C5, d25) + times(C7, d34);
    v[3] = times(C3, d07) - times(C7, d16) - times(C1, d25) - times(C5, d34);
    v[5] = times(C5, d07) - times(C1, d16) + times(C7, d25) + times(C3, d34);
    v[7] = times(C7, d07) - times(C5, d16) + times(C3, d25) - times(C1, d34);
}

__device__ inline void inverse(int y[8])
{
    const int a = times(C4, y[0] + y[4]), b = times(C4, y[0] - y[4]);
    const int c = times(C2, y[2]) + times(C6, y[6]), d = times(C6, y[2]) - times(C2, y[6]);
    const int o07 = times(C1, y[1]) + times(C3, y[3]) + times(C5, y[5]) + times(C7, y[7]);
    const int o16 = times(C3, y[1]) - times(C7, y[3]) - times(C1, y[5]) - times(C5, y[7]);
    const int o25 = times(C5, y[1]) - times(C1, y[3]) + times(C7, y[5]) + times(C3, y[7]);
    const int o34 = times(C7, y[1]) - times(C5, y[3]) + times(C3, y[5]) - times(C1, y[7]);
    y[0] = a + c + o07;
    y[7] = a + c - o07;
    y[1] = b + d + o16;
    y[6] = b + d - o16;
    y[2] = b - d + o25;
    y[5] = b - d - o25;
    y[3] = a - c + o34;
    y[4] = a - c - o34;
}

template <bool INVERSE>
__device__ inline void transform(int v[8])
{
    if (INVERSE)
        inverse(v);
    else
        forward(v);
    for (int k = 0; k < 8; k++)
        v[k] = v[k] < -32768 ? -32768 : v[k] > 32767 ? 32767 : v[k];
}

constexpr int AREA = 32;

template <bool INVERSE, int PAD>
__device__ void blocks(Element *out, const Element *in, int width)
{
    constexpr int ROW = AREA + PAD;
    __shared__ Pair area[AREA * ROW / 2];
    Element *const elements = (Element *)area;
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, at = 8 * y + x;
    // The row of eight that this thread's block of 8 x 8 begins with.
    const int first = 8 * z * ROW / 2;
    const int corner = ((blockIdx.y * AREA + 8 * z) * width + blockIdx.x * AREA) / 2;
    const bool copies = at < AREA / 2;
    if (copies)
        for (int k = 0; k < 8; k++)
            area[first + k * (ROW / 2) + at] = ((const Pair *)in)[corner + k * (width / 2) + at];
    __syncthreads();
    {
        Pair *const row = area + first + x * (ROW / 2) + 4 * y;
        int v[8];
        for (int k = 0; k < 4; k++) {
            const Pair pair = row[k];
            v[2 * k] = (Element)pair;
            v[2 * k + 1] = (int)pair >> 16;
        }
        transform<INVERSE>(v);
        for (int k = 0; k < 4; k++)
            row[k] = (v[2 * k] & 0xffff) | v[2 * k + 1] << 16;
    }
    __syncthreads();
    {
        Element *const column = elements + 2 * first + ((2 * at | at >> 4) & (AREA - 1));
        int v[8];
        for (int k = 0; k < 8; k++)
            v[k] = column[k * ROW];
        transform<INVERSE>(v);
        for (int k = 0; k < 8; k++)
            column[k * ROW] = (Element)v[k];
    }
    __syncthreads();
    if (copies)
        for (int k = 0; k < 8; k++)
            ((Pair *)out)[corner + k * (width / 2) + at] = area[first + k * (ROW / 2) + at];
}

#define ENTRY(NAME, INVERSE, PAD)                                                     \
    extern "C" __global__ void NAME(Element *out, const Element *in, int width)       \
    {                                                                                 \
        blocks<INVERSE, PAD>(out, in, width);                                         \
    }
ENTRY(dct_pairs, false, 2)
ENTRY(idct_pairs, true, 2)
ENTRY(dct_pairs_plain, false, 0)
ENTRY(idct_pairs_plain, true, 0)
