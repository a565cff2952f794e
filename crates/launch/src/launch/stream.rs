//! The random numbers of launch files (docs/reference/kernels.md).

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream of a seed.
pub(super) fn stream(seed: u64) -> ChaCha12Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha12Rng::from_seed(key)
}
