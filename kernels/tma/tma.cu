// A matrix of integers through tiles of 32 x 32 that the copy engine (TMA) of
// sm_90 brings in and takes out: what lies outside of the matrix comes as
// zeros and does not go out.

// CUtensorMap of the CUDA driver API, whose bytes are opaque.
struct __align__(64) TensorMap {
    unsigned long long opaque[16];
};

__device__ unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// The transpose of the tile that the block's indices name. With SWIZZLED the
// map of the input swizzles within 128 bytes, so that its 16-byte unit u of row
// r is at u ^ r % 8, and this reads it there.
template <bool SWIZZLED>
__device__ void transpose(const TensorMap &out, const TensorMap &in)
{
    __shared__ __align__(1024) int tile[32 * 32];
    __shared__ __align__(128) int turned[32 * 32];
    __shared__ unsigned long long arrived;
    const int lane = threadIdx.x;
    const bool first = threadIdx.x == 0 && threadIdx.y == 0;
    const unsigned barrier = shared_address(&arrived);
    if (first) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(barrier));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                         shared_address(tile)),
                     "l"(&in), "r"(32 * blockIdx.x), "r"(32 * blockIdx.y), "r"(barrier)
                     : "memory");
    }
    __syncthreads();
    unsigned done;
    do
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
    while (!done);
    for (int column = threadIdx.y; column < 32; column += blockDim.y) {
        const int at = SWIZZLED ? column ^ lane % 8 * 4 : column;
        turned[32 * column + lane] = tile[32 * lane + at];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (first) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
                     " [%0, {%1, %2}], [%3];" ::"l"(&out),
                     "r"(32 * blockIdx.y), "r"(32 * blockIdx.x), "r"(shared_address(turned))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void tma_transpose(const __grid_constant__ TensorMap out,
                                         const __grid_constant__ TensorMap in)
{
    transpose<false>(out, in);
}

extern "C" __global__ void tma_transpose_swizzled(const __grid_constant__ TensorMap out,
                                                  const __grid_constant__ TensorMap in)
{
    transpose<true>(out, in);
}
