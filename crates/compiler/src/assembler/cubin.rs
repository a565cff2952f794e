//! The machine code in what `ptxas` writes: an ELF file with a section for each
//! entry, of instructions of 128 bits (compute capability 7.0 and later).

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection};

/// Bytes of an instruction.
const BYTES: usize = 16;
/// The low bits of an instruction, which say what it is.
const OPCODE: u64 = 0xfff;
const NOP: u64 = 0x918;
const BRANCH: u64 = 0x947;

/// The instructions of `entry` without those that pad its section, which are
/// never executed: NOPs, and the branches to themselves before them.
/// `None` if there is no such code.
pub(super) fn instructions(cubin: &[u8], entry: &str) -> Option<u64> {
    let file = ElfFile64::<LittleEndian>::parse(cubin).ok()?;
    let section = file.section_by_name(&format!(".text.{entry}"))?;
    let code = section.data().ok()?;
    let low = |i: &[u8]| u64::from_le_bytes(i[..8].try_into().expect("eight bytes"));
    let words: Vec<u64> = code.chunks_exact(BYTES).map(low).collect();
    let real = words.iter().filter(|&&word| !is_padding(word));
    (!words.is_empty()).then(|| real.count() as u64)
}

fn is_padding(low: u64) -> bool {
    match low & OPCODE {
        NOP => true,
        BRANCH => distance(low) == -(BYTES as i64),
        _ => false,
    }
}

/// Bytes from the end of a branch to its target. Before compute capability 9.0 they are in
/// the upper half; from then on they are counted in words, whose low eight bits are apart.
fn distance(low: u64) -> i64 {
    let (upper, apart) = (low as i64 >> 32, low >> 16 & 0xff);
    match apart {
        0 => upper,
        _ => 4 * ((upper >> 2 << 8) | apart as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_has_no_instructions() {
        assert_eq!(instructions(b"", "k"), None);
        assert_eq!(instructions(b"\x7fELF\x02\x01\x01 and no more", "k"), None);
    }

    /// `ptxas` 13.5 puts its tables at any multiple of four. `nvdisasm` lists 30 instructions
    /// that are not padding.
    #[test]
    fn tables_may_be_at_any_word() {
        let cubin = include_bytes!("loop.sm90.cubin");
        assert_eq!(u64::from_le_bytes(cubin[40..48].try_into().unwrap()) % 8, 4);
        assert_eq!(instructions(cubin, "loop"), Some(30));
    }

    #[test]
    fn padding_is_what_is_never_executed() {
        assert!(is_padding(0x0000_0000_0000_7918));
        assert!(is_padding(0xffff_fff0_0000_7947));
        assert!(is_padding(0xffff_fffc_00fc_7947));
        // Loops, and an exit.
        assert!(!is_padding(0xffff_ff00_0000_7947));
        assert!(!is_padding(0xffff_fffc_00e4_8947));
        assert!(!is_padding(0xffff_fff0_00fc_7947));
        assert!(!is_padding(0x0000_0000_0000_794d));
    }
}
