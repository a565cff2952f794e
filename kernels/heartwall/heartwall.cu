// Template matching as heart-wall tracking does it (Rodinia's heartwall;
// sharing paper: 128 threads, eight variables, 11872 bytes): per block one
// point, a template of 21 x 21 and a window of 41 x 41 around the point's old
// place in the new frame; the offset with the largest correlation of the
// template, less its mean, is where the point has gone. Pixels are integers.
//
// heartwall matches given templates. heartwall_frame is Rodinia's one kernel for
// all frames: frame 0, the only one that the sharing paper runs, only copies the
// 51 x 51 pixels around each point, and touches no shared memory; later frames
// match the middle 21 x 21 of them.

constexpr int T = 21, WINDOW = 41, OFFSETS = WINDOW - T + 1, THREADS = 128;

// SIDE: pixels of a row of a template in memory, of which the middle T count.
template <int SIDE>
__device__ void match(int *places, int *scores, const int *templates, const int *frame,
                      const int *points, int width)
{
    constexpr int MARGIN = (SIDE - T) / 2;
    __shared__ int model[T * T], window[WINDOW * WINDOW], score[OFFSETS * OFFSETS];
    __shared__ int sum[THREADS], best[THREADS], where[THREADS], rows[20], last_row;
    const int t = threadIdx.x, point = blockIdx.x;
    // The window's corner in the frame.
    const int left = points[2 * point] - WINDOW / 2, top = points[2 * point + 1] - WINDOW / 2;
    for (int i = t; i < T * T; i += THREADS)
        model[i] = templates[(point * SIDE + MARGIN + i / T) * SIDE + MARGIN + i % T];
    for (int i = t; i < WINDOW * WINDOW; i += THREADS)
        window[i] = frame[(top + i / WINDOW) * width + left + i % WINDOW];
    __syncthreads();
    // The sum of the template, row by row.
    if (t < T) {
        int row = 0;
        for (int i = 0; i < T; i++)
            row += model[t * T + i];
        if (t < 20)
            rows[t] = row;
        else
            last_row = row;
    }
    __syncthreads();
    if (t < 32)
        sum[t] = t < 20 ? rows[t] : t == 20 ? last_row : 0;
    for (int half = 16; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sum[t] += sum[t + half];
    }
    __syncthreads();
    // All in integers: T * T times the template less its mean.
    const int total = sum[0];
    int largest = -2147483647 - 1, place = 0;
    for (int offset = t; offset < OFFSETS * OFFSETS; offset += THREADS) {
        int x = offset % OFFSETS, y = offset / OFFSETS, correlation = 0;
        for (int j = 0; j < T; j++)
            for (int i = 0; i < T; i++)
                correlation += (T * T * model[j * T + i] - total) * window[(y + j) * WINDOW + x + i];
        score[offset] = correlation;
        if (correlation > largest) {
            largest = correlation;
            place = offset;
        }
    }
    best[t] = largest;
    where[t] = place;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        // The first of equals.
        if (t < half && (best[t + half] > best[t] ||
                         (best[t + half] == best[t] && where[t + half] < where[t]))) {
            best[t] = best[t + half];
            where[t] = where[t + half];
        }
    }
    __syncthreads();
    for (int i = t; i < OFFSETS * OFFSETS; i += THREADS)
        scores[point * OFFSETS * OFFSETS + i] = score[i];
    if (t == 0) {
        places[2 * point] = left + T / 2 + where[0] % OFFSETS;
        places[2 * point + 1] = top + T / 2 + where[0] / OFFSETS;
    }
}

extern "C" __global__ void heartwall(int *places, int *scores, const int *templates,
                                     const int *frame, const int *points, int width)
{
    match<T>(places, scores, templates, frame, points, width);
}

extern "C" __global__ void heartwall_frame(int *places, int *scores, int *templates,
                                           const int *frame, const int *points, int width,
                                           int side, int number)
{
    if (number > 0) {
        match<51>(places, scores, templates, frame, points, width);
        return;
    }
    // A template's pixels may be a point's coordinates for all that the compiler
    // knows: they are loaded again for each of them, as in Rodinia's kernel.
    for (int i = threadIdx.x; i < side * side; i += THREADS) {
        int x = points[2 * blockIdx.x] - side / 2 + i % side;
        int y = points[2 * blockIdx.x + 1] - side / 2 + i / side;
        templates[blockIdx.x * side * side + i] = frame[y * width + x];
    }
}
