// Stands for GPUVerify's own cuda.h, so that nvcc takes the suites' kernels.
// Annotations say what GPUVerify is to prove or to assume: they vanish here, and
// launch.py reads the `__requires` itself. What CUDA no longer has is given back:
// shuffles and votes without a mask, and texture references, which read zeros.
#pragma once
#include <assert.h>
#include <stdio.h>
#include <cuda_runtime.h>
#ifdef SPADKIT_CURAND
#include <curand_kernel.h>
#include <curand_mtgp32_kernel.h>
#endif
#ifdef SPADKIT_GROUPS
#include <cooperative_groups.h>
namespace cooperative_groups {
template <class Group> __device__ void synchronize(Group &group) { group.sync(); }
}
#endif
#include "annotations.h"

#define __shfl(...) __shfl_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(0xffffffffu, __VA_ARGS__)
#define __all(p) __all_sync(__activemask(), p)
#define __any(p) __any_sync(__activemask(), p)
#define __ballot(p) __ballot_sync(__activemask(), p)

typedef unsigned char uchar;
template <class T, int Dimensions = 1, int Mode = 0> struct spadkit_texture {
    bool normalized;
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
};
#define texture __device__ spadkit_texture
template <class T> struct spadkit_read { typedef T type; };
template <> struct spadkit_read<uchar4> { typedef float4 type; };
template <> struct spadkit_read<uchar> { typedef float type; };
template <> struct spadkit_read<unsigned short> { typedef float type; };
template <class T, int M> struct spadkit_texel { typedef T type; };
template <class T> struct spadkit_texel<T, 1> { typedef typename spadkit_read<T>::type type; };
#define SPADKIT_TEXTURE(name)                                                                \
    template <class T, int D, int M, class... At>                                           \
    __device__ typename spadkit_texel<T, M>::type name(const spadkit_texture<T, D, M> &, At...) {           \
        return typename spadkit_texel<T, M>::type();                                        \
    }
SPADKIT_TEXTURE(tex1Dfetch)
SPADKIT_TEXTURE(tex1D)
SPADKIT_TEXTURE(tex2D)
SPADKIT_TEXTURE(tex3D)
SPADKIT_TEXTURE(tex1DLayered)
SPADKIT_TEXTURE(tex2DLayered)
SPADKIT_TEXTURE(texCubemap)
SPADKIT_TEXTURE(texCubemapLayered)

// GPUVerify's vectors have operators. Functions of the source's own come before.
template <class V> struct spadkit_floats {};
template <> struct spadkit_floats<float2> { enum { n = 2 }; };
template <> struct spadkit_floats<float3> { enum { n = 3 }; };
template <> struct spadkit_floats<float4> { enum { n = 4 }; };
#define SPADKIT_OPERATOR(op)                                                                  \
    template <class V, int n = spadkit_floats<V>::n>                                          \
    __host__ __device__ V operator op(V a, const V &b) {                                      \
        for (int i = 0; i < n; i++) (&a.x)[i] = (&a.x)[i] op(&b.x)[i];                        \
        return a;                                                                             \
    }                                                                                         \
    template <class V, int n = spadkit_floats<V>::n>                                          \
    __host__ __device__ V operator op(V a, float b) {                                         \
        for (int i = 0; i < n; i++) (&a.x)[i] = (&a.x)[i] op b;                               \
        return a;                                                                             \
    }                                                                                         \
    template <class V, int n = spadkit_floats<V>::n>                                          \
    __host__ __device__ V operator op(float a, V b) {                                         \
        for (int i = 0; i < n; i++) (&b.x)[i] = a op(&b.x)[i];                                \
        return b;                                                                             \
    }                                                                                         \
    template <class V, class B, int n = spadkit_floats<V>::n>                                 \
    __host__ __device__ V &operator op##=(V &a, const B &b) {                                 \
        return a = a op b;                                                                    \
    }
SPADKIT_OPERATOR(+)
SPADKIT_OPERATOR(-)
SPADKIT_OPERATOR(*)
SPADKIT_OPERATOR(/)
template <class V, int n = spadkit_floats<V>::n>
__host__ __device__ float dot(V a, V b) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += (&a.x)[i] * (&b.x)[i];
    return sum;
}
template <class V, int n = spadkit_floats<V>::n> __host__ __device__ float length(V a) {
    return sqrtf(dot(a, a));
}
template <class V, int n = spadkit_floats<V>::n> __host__ __device__ V normalize(V a) {
    return a * rsqrtf(dot(a, a));
}
__host__ __device__ inline float3 make_float3(float s) { return make_float3(s, s, s); }
__host__ __device__ inline float3 make_float3(float4 v) { return make_float3(v.x, v.y, v.z); }
__host__ __device__ inline float4 make_float4(float s) { return make_float4(s, s, s, s); }
