// One step of k-means (Rodinia's kmeansPoint; sharing paper: 576 threads, two
// arrays, 4608 bytes): each point goes to the nearest centre, the first of
// equals; per block the points that moved are counted and the sizes of the
// clusters. Features are stored feature by feature, centres centre by centre.

constexpr int THREADS = 576;

extern "C" __global__ void kmeans(int *membership, int *moved, int *sizes, const float *features,
                                  const float *centres, int points, int clusters, int dimensions)
{
    __shared__ int member[THREADS], changed[THREADS];
    const int t = threadIdx.x, point = blockIdx.x * THREADS + t;
    int best = -1;
    if (point < points) {
        float least = 3.4e38f;
        for (int c = 0; c < clusters; c++) {
            float distance = 0.0f;
            for (int d = 0; d < dimensions; d++) {
                float difference = features[d * points + point] - centres[c * dimensions + d];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        changed[t] = membership[point] != best;
        membership[point] = best;
    } else {
        changed[t] = 0;
    }
    member[t] = best;
    // 576 = 9 * 64: halve six times, then nine are left.
    for (int half = THREADS / 2; half >= 9; half /= 2) {
        __syncthreads();
        if (t < half)
            changed[t] += changed[t + half];
    }
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 9; i++)
            sum += changed[i];
        moved[blockIdx.x] = sum;
    }
    if (t < clusters) {
        int size = 0;
        for (int i = 0; i < THREADS; i++)
            size += member[i] == t;
        sizes[blockIdx.x * clusters + t] = size;
    }
}
