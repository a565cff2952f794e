// One level of a breadth-first search (GPGPU-Sim's BFS, Rodinia's bfs; sharing
// paper, Set-3: no shared memory): a node of the frontier gives its unvisited
// neighbours a cost of one more and marks them for the next frontier.

extern "C" __global__ void bfs(unsigned *frontier, unsigned *next, int *cost,
                               const unsigned *visited, const unsigned *first,
                               const unsigned *edges, unsigned nodes)
{
    const unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !frontier[node])
        return;
    frontier[node] = 0;
    for (unsigned i = first[node]; i < first[node + 1]; i++) {
        unsigned neighbour = edges[i];
        if (!visited[neighbour]) {
            cost[neighbour] = cost[node] + 1;
            next[neighbour] = 1;
        }
    }
}
