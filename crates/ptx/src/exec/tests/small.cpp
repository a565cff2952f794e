// What the CUDA headers convert to, from and of small numbers, as the checksums of
// `small.txt`: g++ -O2 -I INCLUDE small.cpp && ./a.out, with the headers of CUDA 13.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

static uint64_t sum;
static void add(uint32_t word) {
    for (int n = 0; n < 4; n++, word >>= 8) sum = (sum ^ (word & 255)) * 0x100000001b3;
}

// Every operand of 16 bits in the upper half, another in the lower one.
template <class F> void halves(const char *name, F f) {
    sum = 0xcbf29ce484222325;
    for (uint32_t n = 0; n < 1 << 16; n++) {
        add(f((uint16_t)n, (uint16_t)(n * 40503 + 1)));
    }
    printf("%s %016lx\n", name, sum);
}

// Every upper half of an f32, with lower halves at and beside what is rounded.
template <class F> void singles(const char *name, F f) {
    sum = 0xcbf29ce484222325;
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        for (uint32_t n = 0; n < 1 << 16; n++) {
            uint32_t bits[2] = {(n * 40503 + 1) << 16 | low, n << 16 | low};
            float2 pair;
            memcpy(&pair, bits, sizeof bits);
            add(f(pair));
        }
    }
    printf("%s %016lx\n", name, sum);
}

// Every code in the upper place, another in the lower one.
template <class F> void codes(const char *name, F f) {
    sum = 0xcbf29ce484222325;
    for (uint32_t n = 0; n < 1 << 16; n++) {
        auto both = f((uint16_t)n);
        add((uint32_t)both.y << 16 | both.x);
    }
    printf("%s %016lx\n", name, sum);
}

static __half2_raw halves2(uint16_t high, uint16_t low) {
    __half2_raw raw;
    raw.x = low, raw.y = high;
    return raw;
}

static __nv_bfloat162_raw bfloats2(uint16_t high, uint16_t low) {
    __nv_bfloat162_raw raw;
    raw.x = low, raw.y = high;
    return raw;
}

#define SMALL(NAME, BITS, KIND, MODE)                                                           \
    singles("rn.satfinite." NAME ".f32",                                                        \
            [](float2 x) { return __nv_cvt_float2_to_##BITS(x, MODE); });                       \
    halves("rn.satfinite." NAME ".f16x2", [](uint16_t a, uint16_t b) {                          \
        return __nv_cvt_halfraw2_to_##BITS(halves2(a, b), MODE);                                  \
    });                                                                                         \
    halves("rn.satfinite." NAME ".bf16x2", [](uint16_t a, uint16_t b) {                         \
        return __nv_cvt_bfloat16raw2_to_##BITS(bfloats2(a, b), MODE);                              \
    });                                                                                         \
    codes("rn.f16x2." NAME, [](uint16_t x) { return __nv_cvt_##BITS##_to_halfraw2(x, KIND); }); \
    codes("rn.bf16x2." NAME, [](uint16_t x) { return __nv_cvt_##BITS##_to_bf162raw(x, KIND); });
#define MODE4 __NV_E2M1, cudaRoundNearest
#define MODE6(KIND) KIND, cudaRoundNearest
#define MODE8(KIND) __NV_SATFINITE, KIND
#define POWER(NAME, SATURATION, ROUND)                                                          \
    singles(NAME ".ue8m0x2.f32",                                                                \
            [](float2 x) { return __nv_cvt_float2_to_e8m0x2(x, SATURATION, ROUND); });          \
    halves(NAME ".ue8m0x2.bf16x2", [](uint16_t a, uint16_t b) {                                 \
        return __nv_cvt_bfloat162raw_to_e8m0x2(bfloats2(a, b), SATURATION, ROUND);                 \
    });

int main() {
    SMALL("e2m1x2", fp4x2, __NV_E2M1, MODE4)
    SMALL("e2m3x2", fp6x2, __NV_E2M3, MODE6(__NV_E2M3))
    SMALL("e3m2x2", fp6x2, __NV_E3M2, MODE6(__NV_E3M2))
    SMALL("e4m3x2", fp8x2, __NV_E4M3, MODE8(__NV_E4M3))
    SMALL("e5m2x2", fp8x2, __NV_E5M2, MODE8(__NV_E5M2))
    POWER("rz", __NV_NOSAT, cudaRoundZero)
    POWER("rz.satfinite", __NV_SATFINITE, cudaRoundZero)
    POWER("rp", __NV_NOSAT, cudaRoundPosInf)
    POWER("rp.satfinite", __NV_SATFINITE, cudaRoundPosInf)
    codes("rn.bf16x2.ue8m0x2", [](uint16_t x) { return __nv_cvt_e8m0x2_to_bf162raw(x); });
}
