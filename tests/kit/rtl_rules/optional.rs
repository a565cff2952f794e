//! Units that a machine has only if it is asked to.

use super::power_up::from_power_up;
use super::spadkit_json;
use crate::common::tools::missing;

/// Banks that perform atomic operations, with rows that are not there.
pub const ATOMIC: &str =
    "base = 'small'\n[geometry]\ncapacity_words = 768\n[tcdm]\natomics = true\n";

/// As few address bits as a byte of the scratchpad has, and as wide as can be.
const NARROW_AXI: &str = "base = 'small'\n[geometry]\naddr_bits = 9\nword_bits = 64\n\
                          capacity_words = 512\n[axi]\naddr_bits = 12\nid_bits = 1\n\
                          in_flight = 2\n";
const WIDE_AXI: &str =
    "base = 'fermi'\n[axi]\naddr_bits = 64\nlanes = 8\nid_bits = 16\nin_flight = 4\n";

/// Wide accesses in phases, with atomic operations; loads of equal pairs merge.
const WIDE: &str = "base = 'small'\n[geometry]\nwarp_size = 8\nwide = 'phases-merged'\n\
                    [stream]\nwindow = 2\natomics = true\n";
/// As few lanes as phases can have, and no merging.
const FOUR_LANES: &str = "base = 'small'\n[geometry]\nlanes = 4\nwarp_size = 4\n\
                          wide = 'phases'\n";

/// Reservations where rows have fewer bits in the banks than in addresses: the text alone
/// is another, and only the lint looks at it.
pub const FEW_ROWS: &str = "base = 'small'\n[geometry]\ncapacity_words = 256\n\
                        [stream]\nwindow = 2\natomics = true\n";

/// Stores without an answer.
const POSTED: &str = "base = 'small'\n[geometry]\ncapacity_words = 768\n\
                      [stream]\nposted = true\n[tcdm]\nposted = true\n";
/// The same behind registers.
const POSTED_LATE: &str = "base = 'small'\n[geometry]\ncapacity_words = 768\n[tcdm]\nposted = true\n\
                           request_register = true\nresponse_register = true\nid_bits = 2\n";
/// Around a window.
const POSTED_WINDOW: &str = "base = 'small'\n[geometry]\ncapacity_words = 768\n\
                             [stream]\nwindow = 2\nposted = true\n";
const POSTED_ATOMIC: &str = "base = 'small'\n[geometry]\ncapacity_words = 768\n\
                             [stream]\nwindow = 2\natomics = true\nposted = true\n\
                             [tcdm]\natomics = true\nposted = true\n";

/// Units that a machine has only if it is asked to, and such machines; or units with
/// other options.
pub const OPTIONAL: [(&str, &[&str]); 9] = [
    (ATOMIC, &["spad_tcdm", "spad_atomic_bank"]),
    (NARROW_AXI, &["spad_axi"]),
    (WIDE_AXI, &["spad_axi"]),
    (WIDE, &["spad_phases", "spad_wide_stream"]),
    (FOUR_LANES, &["spad_phases", "spad_wide_stream"]),
    (POSTED, &["spad_stream", "spad_tcdm"]),
    (POSTED_WINDOW, &["spad_stream"]),
    (POSTED_ATOMIC, &["spad_stream", "spad_tcdm"]),
    (POSTED_LATE, &["spad_tcdm"]),
];

/// Whether the machine is one of the usual run; the campaign takes the others. Between
/// them, those of the usual run have every unit and every option.
pub fn is_usual(machine: &str) -> bool {
    [
        ATOMIC,
        NARROW_AXI,
        WIDE,
        FEW_ROWS,
        POSTED_ATOMIC,
        POSTED_LATE,
    ]
    .contains(&machine)
}

/// As all other units, they have outputs that are known from the reset on.
#[test]
fn optional_units_are_known_from_the_reset_on() {
    known_from_the_reset_on(is_usual);
}

#[test]
#[ignore = "part of make campaign"]
fn optional_units_of_all_machines_are_known_from_the_reset_on() {
    known_from_the_reset_on(|machine| !is_usual(machine));
}

fn known_from_the_reset_on(chosen: impl Fn(&str) -> bool) {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    for (machine, units) in OPTIONAL.into_iter().filter(|(machine, _)| chosen(machine)) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("machine.toml");
        // The bank alone does not refuse rows that are not there.
        std::fs::write(&file, machine.replace("768", "1024")).unwrap();
        let dir = scratch.path().join("rtl");
        let options = ["--config", file.to_str().unwrap(), "-o"];
        let args = [&["emit"], units, &options, &[dir.to_str().unwrap()]].concat();
        let manifest = spadkit_json(&args);
        for unit in manifest["units"].as_array().unwrap() {
            let printed = from_power_up(&dir, unit);
            let name = &unit["name"];
            assert_eq!(printed, "unknown before the reset\ndone", "{name}");
        }
    }
}
