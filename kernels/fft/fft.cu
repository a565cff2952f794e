// Fast Fourier transform (forward, unscaled) of batches, in place in global
// memory, real and imaginary parts apart.
//
// fft_radix2: n = 2^log2n points by n / 2 threads, decimation in time,
// bit-reversed stores, then butterflies in place (hash paper, FFT-1).
// fft_radix8: 512 points by 64 threads, eight in registers, exchanged through
// shared memory. fft_columns: the second dimension of a transform of two (hash
// paper, FFT-2).

extern "C" __global__ void fft_radix2(float *re, float *im, int log2n)
{
    extern __shared__ float s[];
    const int n = 1 << log2n, threads = n / 2, base = blockIdx.x << log2n, t = threadIdx.x;
    float *sr = s, *si = s + n;
    for (int i = t; i < n; i += threads) {
        int reversed = __brev(i) >> (32 - log2n);
        sr[reversed] = re[base + i];
        si[reversed] = im[base + i];
    }
    for (int half = 1; half < n; half *= 2) {
        int lo = t & (half - 1), upper = 2 * (t - lo) + lo, lower = upper + half;
        float c, d;
        sincospif(-(float)lo / half, &d, &c);
        __syncthreads();
        float ur = sr[upper], ui = si[upper], lr = sr[lower], li = si[lower];
        float wr = c * lr - d * li, wi = c * li + d * lr;
        sr[upper] = ur + wr;
        si[upper] = ui + wi;
        sr[lower] = ur - wr;
        si[lower] = ui - wi;
    }
    __syncthreads();
    for (int i = t; i < n; i += threads) {
        re[base + i] = sr[i];
        im[base + i] = si[i];
    }
}

struct Complex {
    float re, im;
};

__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ inline Complex minus_i(Complex a) { return {a.im, -a.re}; }

__device__ inline void fft4(Complex &a, Complex &b, Complex &c, Complex &d)
{
    Complex ac = a + c, amc = a - c, bd = b + d, bmd = minus_i(b - d);
    a = ac + bd;
    b = amc + bmd;
    c = ac - bd;
    d = amc - bmd;
}

// Eight points; the results come in natural order.
__device__ inline void fft8(Complex *v)
{
    const float r = 0.70710678118654752f;
    Complex e0 = v[0], e1 = v[2], e2 = v[4], e3 = v[6];
    Complex o0 = v[1], o1 = v[3], o2 = v[5], o3 = v[7];
    fft4(e0, e1, e2, e3);
    fft4(o0, o1, o2, o3);
    o1 = o1 * Complex{r, -r};
    o2 = minus_i(o2);
    o3 = o3 * Complex{-r, -r};
    v[0] = e0 + o0;
    v[1] = e1 + o1;
    v[2] = e2 + o2;
    v[3] = e3 + o3;
    v[4] = e0 - o0;
    v[5] = e1 - o1;
    v[6] = e2 - o2;
    v[7] = e3 - o3;
}

// A tile of 32 columns of n = 2^log2n rows by 32 x n / 2 threads, decimation in
// time. Numbers lie in shared memory as pairs of floats, and a warp has 32
// neighbouring columns: all its accesses have a stride of two words.
extern "C" __global__ void fft_columns(float *re, float *im, int log2n)
{
    extern __shared__ float s[];
    const int n = 1 << log2n, x = threadIdx.x, t = threadIdx.y;
    const int width = gridDim.x * 32, column = blockIdx.x * 32 + x;
    Complex *tile = (Complex *)s;
    for (int row = t; row < n; row += n / 2) {
        int reversed = __brev(row) >> (32 - log2n);
        tile[reversed * 32 + x] = {re[row * width + column], im[row * width + column]};
    }
    for (int half = 1; half < n; half *= 2) {
        int lo = t & (half - 1), row = 2 * (t - lo) + lo;
        Complex w;
        sincospif(-(float)lo / half, &w.im, &w.re);
        __syncthreads();
        Complex *upper = tile + row * 32 + x, *lower = upper + half * 32;
        Complex u = *upper, v = w * *lower;
        *upper = u + v;
        *lower = {u.re - v.re, u.im - v.im};
    }
    __syncthreads();
    for (int row = t; row < n; row += n / 2) {
        re[row * width + column] = tile[row * 32 + x].re;
        im[row * width + column] = tile[row * 32 + x].im;
    }
}

constexpr int POINTS = 512, THREADS = 64;

// What thread t has for place `to + k * step` goes through shared memory to the
// thread that takes places t + k * 64 next; one component at a time.
__device__ inline void exchange(float *s, Complex *v, int to, int step, int t)
{
    for (int part = 0; part < 2; part++) {
        __syncthreads();
        for (int k = 0; k < 8; k++)
            s[to + k * step] = part == 0 ? v[k].re : v[k].im;
        __syncthreads();
        for (int k = 0; k < 8; k++)
            (part == 0 ? v[k].re : v[k].im) = s[t + k * THREADS];
    }
}

extern "C" __global__ void fft_radix8(float *re, float *im)
{
    __shared__ float s[POINTS];
    const int t = threadIdx.x, base = blockIdx.x * POINTS;
    Complex v[8];
    for (int k = 0; k < 8; k++)
        v[k] = {re[base + t + k * THREADS], im[base + t + k * THREADS]};
    for (int done = 1; done < POINTS; done *= 8) {
        int lo = t & (done - 1);
        for (int k = 1; k < 8; k++) {
            Complex w;
            sincospif(-2.0f * (lo * k) / (8 * done), &w.im, &w.re);
            v[k] = v[k] * w;
        }
        fft8(v);
        exchange(s, v, 8 * (t - lo) + lo, done, t);
    }
    for (int k = 0; k < 8; k++) {
        re[base + t + k * THREADS] = v[k].re;
        im[base + t + k * THREADS] = v[k].im;
    }
}

// 1024 points by 64 threads with 16 values each: 16 x 16 x 4, with two exchanges
// through rows of 16 words padded by one (sharing paper, Table IX, FFT: 8704
// bytes).

// exp(-2 pi i k / n)
__device__ inline Complex root(int k, int n)
{
    float angle = -6.283185307179586f * k / n;
    return {__cosf(angle), __sinf(angle)};
}

// Of v[0], v[step], v[2 step], v[3 step], in place.
__device__ inline void four_points(Complex *v, int step)
{
    Complex a = v[0] + v[2 * step], b = v[0] - v[2 * step];
    Complex c = v[step] + v[3 * step], d = v[step] - v[3 * step];
    Complex turned = minus_i(d);
    v[0] = a + c;
    v[step] = b + turned;
    v[2 * step] = a - c;
    v[3 * step] = b - turned;
}

// Output a + 4 b is left in v[4 a + b].
__device__ inline void sixteen_points(Complex *v)
{
    // exp(-2 pi i k / 16)
    const Complex w[10] = {{1.0f, 0.0f}, {0.92387953f, -0.38268343f}, {0.70710678f, -0.70710678f},
                           {0.38268343f, -0.92387953f}, {0.0f, -1.0f}, {-0.38268343f, -0.92387953f},
                           {-0.70710678f, -0.70710678f}, {-0.92387953f, -0.38268343f},
                           {-1.0f, 0.0f}, {-0.92387953f, 0.38268343f}};
#pragma unroll
    for (int k = 0; k < 4; k++)
        four_points(v + k, 4);
#pragma unroll
    for (int a = 1; a < 4; a++)
        for (int k = 1; k < 4; k++)
            v[4 * a + k] = v[4 * a + k] * w[a * k];
#pragma unroll
    for (int a = 0; a < 4; a++)
        four_points(v + 4 * a, 1);
}

constexpr int LONG = 1024, ROWS = LONG / 16 * 17;

__device__ inline int padded(int i) { return i + i / 16; }

extern "C" __global__ void fft1024(float *re, float *im)
{
    __shared__ float area_re[ROWS], area_im[ROWS];
    const int t = threadIdx.x, base = blockIdx.x * LONG;
    Complex v[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k] = {re[base + t + THREADS * k], im[base + t + THREADS * k]};
    sixteen_points(v);
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int a = k / 4 + k % 4 * 4, at = padded(64 * a + t);
        Complex value = v[k] * root(t * a, LONG);
        area_re[at] = value.re;
        area_im[at] = value.im;
    }
    __syncthreads();
    const int sequence = t / 4, residue = t % 4;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int at = padded(64 * sequence + residue + 4 * k);
        v[k] = {area_re[at], area_im[at]};
    }
    __syncthreads();
    sixteen_points(v);
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int c = k / 4 + k % 4 * 4, at = padded(256 * residue + sequence + 16 * c);
        Complex value = v[k] * root(residue * c, 64);
        area_re[at] = value.re;
        area_im[at] = value.im;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) {
        for (int k = 0; k < 4; k++) {
            int at = padded(256 * k + t + THREADS * j);
            v[4 * j + k] = {area_re[at], area_im[at]};
        }
        four_points(v + 4 * j, 1);
        for (int k = 0; k < 4; k++) {
            re[base + t + THREADS * j + 256 * k] = v[4 * j + k].re;
            im[base + t + THREADS * j + 256 * k] = v[4 * j + k].im;
        }
    }
}
