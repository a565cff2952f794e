// Range queries on a B+ tree, a block of 256 threads for each, a thread for each
// key of a node (Rodinia's b+tree, findRangeK; sharing paper, Set-3: no shared
// memory). The paths to both ends of the range go down together. A node has 257
// keys, the last of which only bounds the one before, and as many indices: nodes
// below, and records in the leaves.

constexpr int KEYS = 257;

extern "C" __global__ void find_range(int *record, int *length, int *node, int *below,
                                      const int *keys, const int *indices, const int *from,
                                      const int *to, int height)
{
    const int t = threadIdx.x, query = blockIdx.x;
    const int start = from[query], end = to[query];
    int *at = node + 2 * query, *next = below + 2 * query;
    for (int level = 0; level < height; level++) {
        int k = at[0] * KEYS + t, m = at[1] * KEYS + t;
        if (keys[k] <= start && start < keys[k + 1])
            next[0] = indices[k];
        if (keys[m] <= end && end < keys[m + 1])
            next[1] = indices[m];
        __syncthreads();
        if (t < 2)
            at[t] = next[t];
        __syncthreads();
    }
    int k = at[0] * KEYS + t, m = at[1] * KEYS + t;
    if (keys[k] == start)
        record[query] = indices[k];
    __syncthreads();
    if (keys[m] == end)
        length[query] = indices[m] - record[query] + 1;
}
