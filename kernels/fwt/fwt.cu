// Fast Walsh transform of batches of 2^log2n floats, a block of n / 4 threads
// each (hash paper, section 3.2.4): radix-4 butterflies from the widest stride
// down, a radix-2 stage last where log2n is odd. The output is in natural
// (Hadamard) order.

extern "C" __global__ void fwt(float *out, const float *in, int log2n)
{
    extern __shared__ float data[];
    const int n = 1 << log2n, threads = n / 4;
    const int base = blockIdx.x << log2n, pos = threadIdx.x;
    for (int k = 0; k < 4; k++)
        data[pos + k * threads] = in[base + pos + k * threads];
    for (int stride = n / 4; stride > 0; stride /= 4) {
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo;
        int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float d0 = data[i0], d1 = data[i1], d2 = data[i2], d3 = data[i3], t;
        t = d0; d0 = d0 + d2; d2 = t - d2;
        t = d1; d1 = d1 + d3; d3 = t - d3;
        data[i0] = d0 + d1;
        data[i1] = d0 - d1;
        data[i2] = d2 + d3;
        data[i3] = d2 - d3;
    }
    __syncthreads();
    if (log2n & 1) {
        for (int i = pos; i < n / 2; i += threads) {
            float d0 = data[2 * i], d1 = data[2 * i + 1];
            data[2 * i] = d0 + d1;
            data[2 * i + 1] = d0 - d1;
        }
        __syncthreads();
    }
    for (int k = 0; k < 4; k++)
        out[base + pos + k * threads] = data[pos + k * threads];
}
