// AES-128 with tables in shared memory (elastic paper, AES_encrypt and
// AES_decrypt): 256 threads, four per block of 16 bytes, one column of the
// state each. Columns are words whose low byte is the first. aes_expand_key
// makes the 44 words of round keys for encryption; aes_invert_keys turns them
// into those of the equivalent inverse cipher.

struct Tables {
    unsigned forward[256], backward[256];
    unsigned char box[256], inverse[256];
};

__device__ constexpr unsigned times(unsigned a, unsigned b)
{
    unsigned product = 0;
    for (; b != 0; b >>= 1) {
        if (b & 1)
            product ^= a;
        a = a << 1 ^ (a & 0x80 ? 0x11b : 0);
    }
    return product;
}

__device__ constexpr unsigned char rotated(unsigned v, int by)
{
    return (unsigned char)(v << by | v >> (8 - by));
}

__device__ constexpr Tables make_tables()
{
    Tables tables = {};
    // p runs through the powers of 3, q through their inverses.
    unsigned p = 1, q = 1;
    do {
        p = times(p, 3);
        q = times(q, 0xf6);
        tables.box[p] = q ^ rotated(q, 1) ^ rotated(q, 2) ^ rotated(q, 3) ^ rotated(q, 4) ^ 0x63;
    } while (p != 1);
    tables.box[0] = 0x63;
    for (int i = 0; i < 256; i++) {
        unsigned s = tables.box[i];
        tables.inverse[s] = i;
        tables.forward[i] = times(s, 2) | s << 8 | s << 16 | times(s, 3) << 24;
    }
    for (unsigned i = 0; i < 256; i++) {
        unsigned s = tables.inverse[i];
        tables.backward[i] =
            times(s, 14) | times(s, 9) << 8 | times(s, 13) << 16 | times(s, 11) << 24;
    }
    return tables;
}

__device__ const Tables tables = make_tables();

constexpr int ROUNDS = 10, THREADS = 256;

__device__ inline unsigned byte(unsigned word, int i) { return word >> (8 * i) & 255; }

__device__ inline unsigned substituted(unsigned word)
{
    unsigned out = 0;
    for (int i = 0; i < 4; i++)
        out |= (unsigned)tables.box[byte(word, i)] << (8 * i);
    return out;
}

extern "C" __global__ void aes_expand_key(unsigned *keys, const unsigned *key)
{
    unsigned constant = 1;
    for (int i = 0; i < 4; i++)
        keys[i] = key[i];
    for (int i = 4; i < 4 * (ROUNDS + 1); i++) {
        unsigned word = keys[i - 1];
        if (i % 4 == 0) {
            word = substituted(word >> 8 | word << 24) ^ constant;
            constant = times(constant, 2);
        }
        keys[i] = keys[i - 4] ^ word;
    }
}

// One thread per word of `keys`.
extern "C" __global__ void aes_invert_keys(unsigned *inverted, const unsigned *keys)
{
    int i = threadIdx.x, round = i / 4;
    unsigned word = keys[4 * (ROUNDS - round) + i % 4], out = word;
    if (round != 0 && round != ROUNDS) {
        out = 0;
        for (int j = 0; j < 4; j++) {
            unsigned b = byte(word, j);
            unsigned mixed = times(b, 14) | times(b, 9) << 8 | times(b, 13) << 16 | times(b, 11) << 24;
            out ^= mixed << (8 * j) | (j == 0 ? 0 : mixed >> (32 - 8 * j));
        }
    }
    inverted[i] = out;
}

template <bool ENCRYPT>
__device__ void cipher(unsigned *out, const unsigned *in, const unsigned *keys)
{
    __shared__ unsigned table[4][256];
    __shared__ unsigned char box[256];
    __shared__ unsigned state[2][THREADS];
    __shared__ unsigned key[4 * (ROUNDS + 1)];
    const int t = threadIdx.x, column = t & 3, block = t & ~3;
    unsigned entry = ENCRYPT ? tables.forward[t] : tables.backward[t];
    for (int i = 0; i < 4; i++)
        table[i][t] = entry << (8 * i) | (i == 0 ? 0 : entry >> (32 - 8 * i));
    box[t] = ENCRYPT ? tables.box[t] : tables.inverse[t];
    if (t < 4 * (ROUNDS + 1))
        key[t] = keys[t];
    __syncthreads();
    unsigned word = in[blockIdx.x * THREADS + t] ^ key[column];
    for (int round = 1; round <= ROUNDS; round++) {
        state[round & 1][t] = word;
        __syncthreads();
        // Row i is rotated by i columns.
        unsigned from[4];
        for (int i = 0; i < 4; i++)
            from[i] = byte(state[round & 1][block + ((ENCRYPT ? column + i : column - i) & 3)], i);
        word = key[4 * round + column];
        for (int i = 0; i < 4; i++)
            word ^= round < ROUNDS ? table[i][from[i]] : (unsigned)box[from[i]] << (8 * i);
    }
    out[blockIdx.x * THREADS + t] = word;
}

extern "C" __global__ void aes_encrypt(unsigned *out, const unsigned *in, const unsigned *keys)
{
    cipher<true>(out, in, keys);
}

extern "C" __global__ void aes_decrypt(unsigned *out, const unsigned *in, const unsigned *keys)
{
    cipher<false>(out, in, keys);
}
