// One access to shared memory, repeated by every warp of a block: how many
// wavefronts does it take? Lane l accesses the word table[32 * pattern + l] of
// the block's shared memory, or is idle where that is negative.

static const int WORDS = 8192;
static const int REPEATS = 64;

#define REPLAY(NAME, ACCESS)                                                       \
    extern "C" __global__ void NAME(unsigned *cycles, const int *table,            \
                                    unsigned pattern) {                            \
        __shared__ __align__(16) unsigned words[WORDS];                            \
        int word = table[32 * pattern + threadIdx.x % 32];                         \
        unsigned address = (unsigned)__cvta_generic_to_shared(words) + 4 * word;   \
        unsigned a = threadIdx.x, b = a, c = a, d = a;                             \
        unsigned long long wide = a;                                               \
        __syncthreads();                                                           \
        unsigned begin = clock();                                                  \
        if (word >= 0) {                                                           \
            _Pragma("unroll 8") for (int i = 0; i < REPEATS; i++) { ACCESS; }      \
        }                                                                          \
        if ((a ^ b ^ c ^ d ^ (unsigned)wide) == 0x9e3779b9) cycles[pattern] = 0;   \
        __syncthreads();                                                           \
        if (threadIdx.x == 0) cycles[pattern] = (unsigned)clock() - begin;         \
    }

REPLAY(load4, unsigned x; asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(address)); a ^= x)
REPLAY(load8, unsigned x; unsigned y; asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(address)); a ^= x; b ^= y)
REPLAY(load16, unsigned x; unsigned y; unsigned z; unsigned w; asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(address)); a ^= x; b ^= y; c ^= z; d ^= w)
REPLAY(store4, asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(address), "r"(a)))
REPLAY(store8, asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" :: "r"(address), "r"(a), "r"(b)))
REPLAY(store16, asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" :: "r"(address), "r"(a), "r"(b), "r"(c), "r"(d)))
REPLAY(atom4, unsigned x; asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(x) : "r"(address), "r"(threadIdx.x + i)); a ^= x)
REPLAY(atom8, unsigned long long x; asm volatile("atom.shared.exch.b64 %0, [%1], %2;" : "=l"(x) : "r"(address), "l"(wide + i)); wide ^= x)
