// Sorting in shared memory.
//
// bitonic: 1024 keys with values per block of 512 threads; both elements of a
// comparator are written back whether they swap or not. merge_sort: the same
// size; sorted runs are merged by ranks found with binary searches, ties keep
// their order.

constexpr unsigned N = 1024;

extern "C" __global__ void bitonic(unsigned *keys)
{
    __shared__ unsigned s[N];
    const unsigned t = threadIdx.x, base = blockIdx.x * N;
    s[t] = keys[base + t];
    s[t + N / 2] = keys[base + t + N / 2];
    for (unsigned size = 2; size <= N; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (stride - 1));
            unsigned a = s[low], b = s[low + stride];
            bool ascending = (low & size) == 0;
            bool swap = (a > b) == ascending;
            s[low] = swap ? b : a;
            s[low + stride] = swap ? a : b;
        }
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + N / 2] = s[t + N / 2];
}

// How many of the `count` sorted keys are below `key`, or not above it.
template <bool OR_EQUAL>
__device__ inline unsigned rank(const unsigned *sorted, unsigned count, unsigned key)
{
    unsigned low = 0, high = count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        bool before = OR_EQUAL ? sorted[middle] <= key : sorted[middle] < key;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void merge_sort(unsigned *keys, unsigned *values)
{
    __shared__ unsigned k[N], v[N];
    const unsigned t = threadIdx.x, base = blockIdx.x * N;
    for (unsigned i = t; i < N; i += N / 2) {
        k[i] = keys[base + i];
        v[i] = values[base + i];
    }
    for (unsigned run = 1; run < N; run *= 2) {
        // Two runs side by side; thread t holds one element of each.
        unsigned lo = t & (run - 1), first = 2 * (t - lo);
        __syncthreads();
        unsigned key_a = k[first + lo], value_a = v[first + lo];
        unsigned key_b = k[first + run + lo], value_b = v[first + run + lo];
        unsigned to_a = lo + rank<false>(k + first + run, run, key_a);
        unsigned to_b = lo + rank<true>(k + first, run, key_b);
        __syncthreads();
        k[first + to_a] = key_a;
        v[first + to_a] = value_a;
        k[first + to_b] = key_b;
        v[first + to_b] = value_b;
    }
    __syncthreads();
    for (unsigned i = t; i < N; i += N / 2) {
        keys[base + i] = k[i];
        values[base + i] = v[i];
    }
}
