// Kernels with one fault each, which `spadkit run` finds; the line of the fault
// is marked.

extern "C" __global__ void race(int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t; // race, one side
    out[t] = s[63 - t]; // race, other side
}

extern "C" __global__ void divergent_barrier(int *out)
{
    const int t = threadIdx.x;
    if (t % 2 == 0) {
        out[t] = t;
        __syncthreads(); // divergent-barrier
        out[t] += 1;
    }
}

extern "C" __global__ void barrier_not_reached(int *out)
{
    const int t = threadIdx.x;
    if (t < 32)
        __syncthreads(); // barrier-not-reached
    else
        asm volatile("bar.sync 1;" ::: "memory"); // barrier-not-reached, too
    out[t] = t;
}

extern "C" __global__ void out_of_bounds(int *out, int n)
{
    const int t = threadIdx.x;
    out[t + n] = t; // out-of-bounds
}

extern "C" __global__ void out_of_shared(int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[t + out[0]]; // out-of-bounds, shared
}

extern "C" __global__ void misaligned(char *out)
{
    *(int *)(out + 4 * threadIdx.x + 2) = 1; // misaligned
}

extern "C" __global__ void null_pointer(int *out)
{
    out[threadIdx.x] = 1; // null
}

extern "C" __global__ void endless(volatile int *flag)
{
    while (flag[0] == 0) // endless-wait
        ;
    flag[1] = 1;
}

extern "C" __global__ void uninitialised(int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 32)
        s[t] = t;
    __syncthreads();
    out[t] = s[t]; // uninitialised
}

extern "C" __global__ void trapped(int *out)
{
    if (out[threadIdx.x] == 7)
        asm volatile("trap;"); // trap
    out[threadIdx.x] = 7;
}
