// Histogram of bytes with byte counters, a column of them for each of 32
// threads, which count 224 values each without atomics (sharing paper, Table IX,
// HG: 32 threads, 224 bins of a byte for each: 7168 bytes). Values are below 224.

constexpr int THREADS = 32, BINS = 224;

extern "C" __global__ void bytehist(unsigned *histograms, const unsigned char *values)
{
    __shared__ unsigned char counter[BINS][THREADS];
    const int t = threadIdx.x;
    for (int bin = 0; bin < BINS; bin++)
        counter[bin][t] = 0;
    __syncthreads();
    for (int i = 0; i < BINS; i++)
        counter[values[(blockIdx.x * BINS + i) * THREADS + t]][t]++;
    __syncthreads();
    for (int bin = t; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
        for (int k = 0; k < THREADS; k++)
            sum += counter[bin][k];
        histograms[blockIdx.x * BINS + bin] = sum;
    }
}
