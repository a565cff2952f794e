//! Digests in hexadecimal digits.

use sha2::{Digest, Sha256};

/// SHA-256 of a content, in 64 lower-case hexadecimal digits.
pub fn sha256_hex(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content))
}

/// Bytes in lower-case hexadecimal digits, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of FIPS 180-2, appendix B.1.
    #[test]
    fn the_digest_is_sha_256() {
        let published = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex("abc"), published);
        assert_eq!(hex(&[0, 10, 255]), "000aff");
    }
}
