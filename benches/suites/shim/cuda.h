// Stands for GPUVerify's own cuda.h, so that nvcc takes the suites' kernels.
// Annotations say what GPUVerify is to prove or to assume: they vanish here, and
// launch.py reads the `__requires` itself. What CUDA no longer has is given back:
// shuffles and votes without a mask, and texture references, which read zeros.
#pragma once
#include <assert.h>
#include <stdio.h>
#include <cuda_runtime.h>
#include <math_constants.h>
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
// Types that the source defines itself, as others than CUDA's.
#ifdef SPADKIT_OWN_size_t
#define size_t spadkit_own_size_t
#endif
#ifdef SPADKIT_OWN_clock_t
#define clock_t spadkit_own_clock_t
#endif
#ifdef SPADKIT_OWN_uchar
#define uchar spadkit_own_uchar
#else
typedef unsigned char uchar;
#endif

#define __shfl(...) __shfl_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(0xffffffffu, __VA_ARGS__)
#define __all(p) __all_sync(__activemask(), p)
#define __any(p) __any_sync(__activemask(), p)
#define __ballot(p) __ballot_sync(__activemask(), p)

template <class T, int Dimensions = 1, int Mode = 0> struct spadkit_texture {
    bool normalized;
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
};
#define texture __device__ spadkit_texture
template <class T> struct spadkit_read { typedef T type; };
template <> struct spadkit_read<uchar4> { typedef float4 type; };
template <> struct spadkit_read<unsigned char> { typedef float type; };
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
#define SPADKIT_EACH(name)                                                                    \
    template <class V, int n = spadkit_floats<V>::n> __host__ __device__ V name(V a, V b) {   \
        for (int i = 0; i < n; i++) (&a.x)[i] = name((&a.x)[i], (&b.x)[i]);                   \
        return a;                                                                             \
    }
SPADKIT_EACH(fminf)
SPADKIT_EACH(fmaxf)
__host__ __device__ inline float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__host__ __device__ inline int3 operator+(int3 a, int3 b) {
    return make_int3(a.x + b.x, a.y + b.y, a.z + b.z);
}
// Some sources declare these without a body.
__device__ inline float4 fminf(float4 a, float4 b) { return fminf<float4, 4>(a, b); }
__device__ inline float lerpf(float a, float b, float t) { return a + t * (b - a); }
__device__ inline float length(float2 a) { return sqrtf(a.x * a.x + a.y * a.y); }
__device__ inline float lerp(float a, float b, float t) { return a + t * (b - a); }
template <class V, int n = spadkit_floats<V>::n>
__host__ __device__ V lerp(V a, V b, float t) {
    return a + t * (b - a);
}
__host__ __device__ inline float clamp(float x, float low, float high) {
    return fmaxf(low, fminf(x, high));
}
__host__ __device__ inline float saturate(float x) { return clamp(x, 0.0f, 1.0f); }
__host__ __device__ inline float3 make_float3(float s) { return make_float3(s, s, s); }
__host__ __device__ inline float3 make_float3(float4 v) { return make_float3(v.x, v.y, v.z); }
__host__ __device__ inline float4 make_float4(float3 v, float w) {
    return make_float4(v.x, v.y, v.z, w);
}
__host__ __device__ inline float4 make_float4(float s) { return make_float4(s, s, s, s); }
