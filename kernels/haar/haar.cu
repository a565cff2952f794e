// Haar wavelet decomposition of 512 floats per block of 256 threads, nine
// levels in shared memory (hash paper, dwtHaar1D). out[0 .. blocks) are the
// approximations; the details of a level with n of them per block lie at
// out[n * blocks ..), block by block.

constexpr int N = 512;

extern "C" __global__ void haar(float *out, const float *in)
{
    __shared__ float s[N];
    const int t = threadIdx.x, base = blockIdx.x * N;
    const float root = 0.70710678118654752f;
    s[t] = in[base + t];
    s[t + N / 2] = in[base + t + N / 2];
    __syncthreads();
    for (int n = N / 2; n > 0; n /= 2) {
        float even = 0.0f, odd = 0.0f;
        if (t < n) {
            even = s[2 * t];
            odd = s[2 * t + 1];
            out[n * gridDim.x + blockIdx.x * n + t] = (even - odd) * root;
        }
        __syncthreads();
        if (t < n)
            s[t] = (even + odd) * root;
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
