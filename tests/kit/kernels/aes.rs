//! AES-128 from its definition over GF(2^8): no tables, the state as a matrix of
//! bytes; and the example of FIPS 197.

use crate::kernels::harness::TestKernel;

type Block = [u8; 16];

/// Product modulo x^8 + x^4 + x^3 + x + 1.
fn times(a: u8, b: u8) -> u8 {
    let product = (0..8)
        .filter(|i| b >> i & 1 == 1)
        .fold(0u16, |p, i| p ^ u16::from(a) << i);
    (8..16).rev().fold(product, |p, i| match p >> i & 1 {
        1 => p ^ 0x11b << (i - 8),
        _ => p,
    }) as u8
}

/// Inverse by search, then the affine map of the standard.
fn substitute(byte: u8) -> u8 {
    let inverse = (1..=255).find(|i| times(byte, *i) == 1).unwrap_or(0);
    let bit = |i: u32| [0, 4, 5, 6, 7].map(|d| inverse >> ((i + d) % 8) & 1);
    (0..8).fold(0x63, |out, i| {
        out ^ bit(i).iter().fold(0, |a, b| a ^ b) << i
    })
}

struct Aes {
    substitution: Vec<u8>,
    keys: Vec<Block>,
}

impl Aes {
    fn substitution() -> Vec<u8> {
        (0..=255).map(substitute).collect()
    }

    /// Round keys given one by one.
    fn with_keys(keys: Vec<Block>) -> Self {
        Aes {
            substitution: Self::substitution(),
            keys,
        }
    }

    fn new(key: Block) -> Self {
        let substitution = Self::substitution();
        let mut words: Vec<[u8; 4]> = key.chunks(4).map(|w| w.try_into().unwrap()).collect();
        let mut constant = 1;
        for i in 4..44 {
            let mut word = words[i - 1];
            if i % 4 == 0 {
                word.rotate_left(1);
                word = word.map(|b| substitution[usize::from(b)]);
                word[0] ^= constant;
                constant = times(constant, 2);
            }
            let before = words[i - 4];
            words.push(std::array::from_fn(|j| word[j] ^ before[j]));
        }
        let bytes: Vec<u8> = words.concat();
        Aes {
            substitution,
            keys: bytes.chunks(16).map(|k| k.try_into().unwrap()).collect(),
        }
    }

    fn encrypt(&self, block: Block) -> Block {
        let add =
            |state: Block, key: &Block| -> Block { std::array::from_fn(|i| state[i] ^ key[i]) };
        let mut state = add(block, &self.keys[0]);
        for round in 1..=10 {
            let substituted = state.map(|b| self.substitution[usize::from(b)]);
            // Byte (row, column) is 4 column + row; row r is rotated by r.
            let shifted: Block = std::array::from_fn(|i| substituted[(i + 4 * (i % 4)) % 16]);
            let mixed: Block = match round {
                10 => shifted,
                _ => mix(shifted, [2, 3, 1, 1]),
            };
            state = add(mixed, &self.keys[round]);
        }
        state
    }
}

/// MixColumns, or its inverse: a circulant matrix with that first row.
fn mix(state: Block, row: [u8; 4]) -> Block {
    std::array::from_fn(|i| {
        let column = &state[i - i % 4..][..4];
        (0..4).fold(0, |sum, j| sum ^ times(row[(4 + j - i % 4) % 4], column[j]))
    })
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.chunks(16).map(|b| b.try_into().unwrap()).collect()
}

#[test]
fn the_reference_is_fips_197() {
    // Appendix C.1.
    let aes = Aes::new(std::array::from_fn(|i| i as u8));
    let plain = std::array::from_fn(|i| 17 * i as u8);
    let cipher = 0x69c4e0d86a7b0430d8cdb78070b4c55au128;
    assert_eq!(aes.encrypt(plain), cipher.to_be_bytes());
}

#[test]
fn encryption_and_decryption() {
    let other: Vec<u8> = (0..16).map(|i| (i * i) ^ 0x5a).collect();
    let kernel = TestKernel::load("aes", "aes");
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes
            .chunks(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect()
    };
    for kernel in [kernel.clone(), kernel.data("key", &words(&other))] {
        kernel.check(|run| {
            let aes = Aes::new(run.before::<u8>("key").try_into().unwrap());
            assert_eq!(run.after::<u8>("keys"), aes.keys.concat());
            let plain = run.before::<u8>("plain");
            let want: Vec<u8> = blocks(&plain)
                .into_iter()
                .flat_map(|b| aes.encrypt(b))
                .collect();
            assert_eq!(run.after::<u8>("cipher"), want);
            assert_eq!(run.after::<u8>("again"), plain);
        });
    }
}

#[test]
fn any_round_keys() {
    for blocks_of_threads in [2usize, 1] {
        let n = 256 * blocks_of_threads;
        let sized = |kernel: TestKernel| {
            let kernel = kernel.grid([blocks_of_threads as u32, 1, 1]);
            kernel.count("in", n).count("out", n)
        };
        sized(TestKernel::load("aes", "aes_encrypt")).check(|run| {
            let aes = Aes::with_keys(blocks(&run.before::<u8>("keys")));
            let input = blocks(&run.before::<u8>("in"));
            let want: Vec<u8> = input.into_iter().flat_map(|b| aes.encrypt(b)).collect();
            assert_eq!(run.after::<u8>("out"), want);
        });
        // The equivalent inverse cipher: its keys backwards, the inner ones mixed
        // back. What it decrypts, encrypts to its input.
        sized(TestKernel::load("aes", "aes_decrypt")).check(|run| {
            let mut keys = blocks(&run.before::<u8>("keys"));
            keys.reverse();
            for key in &mut keys[1..10] {
                *key = mix(*key, [2, 3, 1, 1]);
            }
            let aes = Aes::with_keys(keys);
            let output = blocks(&run.after::<u8>("out"));
            let again: Vec<u8> = output.into_iter().flat_map(|b| aes.encrypt(b)).collect();
            assert_eq!(again, run.before::<u8>("in"));
        });
    }
}
