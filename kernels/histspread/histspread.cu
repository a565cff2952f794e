// Histogram of 12-bit pixels with any number of bins and copies of them
// (atomics paper, Fig. 7), the words of which lie as the launch says: word
// bin * step + copy * pitch.
//
// replication: step 1, pitch = bins. With padding: pitch = bins + 1. Bin
// stretching, the copies of a bin side by side: step = copies, pitch 1.
// Bins and copies are powers of two, bins = 4096 >> shift, words all that the
// copies take.

extern __shared__ unsigned votes[];

extern "C" __global__ void histspread(unsigned *histogram, const unsigned short *pixels, unsigned n,
                                      unsigned shift, unsigned copies, unsigned step,
                                      unsigned pitch, unsigned words)
{
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        votes[i] = 0;
    __syncthreads();
    unsigned *mine = votes + (threadIdx.x & (copies - 1)) * pitch;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(mine + (pixels[i] >> shift) * step, 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 4096 >> shift; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned copy = 0; copy < copies; copy++)
            sum += votes[copy * pitch + bin * step];
        atomicAdd(histogram + bin, sum);
    }
}
