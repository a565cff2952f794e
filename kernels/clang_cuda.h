// What CUDA's own headers declare, as far as the kernels compiled by clang
// need it: clang then takes them without a CUDA installation.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))

#define SPADKIT_BUILTIN(NAME, INDEX)                                              \
    struct NAME##_t {                                                             \
        __declspec(property(get = get_x)) unsigned x;                             \
        __declspec(property(get = get_y)) unsigned y;                             \
        __declspec(property(get = get_z)) unsigned z;                             \
        __device__ static unsigned get_x() { return __nvvm_read_ptx_sreg_##INDEX##_x(); } \
        __device__ static unsigned get_y() { return __nvvm_read_ptx_sreg_##INDEX##_y(); } \
        __device__ static unsigned get_z() { return __nvvm_read_ptx_sreg_##INDEX##_z(); } \
    };                                                                            \
    extern const __device__ NAME##_t NAME;
SPADKIT_BUILTIN(threadIdx, tid)
SPADKIT_BUILTIN(blockIdx, ctaid)
SPADKIT_BUILTIN(blockDim, ntid)
SPADKIT_BUILTIN(gridDim, nctaid)

struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) float2 { float x, y; };

__device__ inline int min(int a, int b) { return a < b ? a : b; }
__device__ inline int max(int a, int b) { return a > b ? a : b; }
__device__ inline int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
__device__ inline unsigned atomicAdd(unsigned *p, unsigned v)
{
    return __nvvm_atom_add_gen_i((int *)p, (int)v);
}
__device__ inline float __shfl_down_sync(unsigned mask, float v, int delta)
{
    return __nvvm_shfl_sync_down_f32(mask, v, delta, 31);
}
__device__ inline int __shfl_down_sync(unsigned mask, int v, int delta)
{
    return __nvvm_shfl_sync_down_i32(mask, v, delta, 31);
}
