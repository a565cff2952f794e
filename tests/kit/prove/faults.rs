//! Faults for the proofs of `tests/kit/prove.rs`, and the machines that they are in.
//!
//! The faults are in `testbenches/prove/`, in a file next to the unit's circuit:
//! `unit` and `machine` apply until the next ones, `breaks` begins a fault with
//! the properties that must notice it, `in` names a file that is not the unit's
//! own, and `+` replaces the first occurrence of the text in `-`.

use std::path::Path;

/// Machines with these numbers of lanes and words, and the settings of the lines that follow.
macro_rules! bus {
    ($lanes:literal, $words:literal, $($more:tt)*) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = ",
            $lanes,
            ", warp_size = 8, capacity_words = ",
            $words,
            " }\npath = { mem_stages = 2, ahead = 0 }\n",
            $($more)*
        )
    };
}
/// Small machines for the units of the path: two lanes where a payload is as
/// wide as all lanes, else four.
pub const PAIR: &str = bus!(2, 512, "");
const QUAD: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                    warp_size = 8, capacity_words = 512 }\n\
                    path = { warps = 4, blocks = 4, locks = 32, lock_group_cycles = 2, \
                    history_sets = 2, mem_stages = 2, ahead = 0 }\n";
/// As `QUAD`, with locks that know their owner.
const OWNER: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                     warp_size = 8, capacity_words = 512 }\n\
                     path = { warps = 4, blocks = 4, locks = 32, lock_group_cycles = 2, \
                     lock_owner = true, history_sets = 2, mem_stages = 2, ahead = 0 }\n";
/// As `PAIR`, with stages behind the scratchpad.
const EXIT: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                    warp_size = 8, capacity_words = 512 }\n\
                    path = { mem_stages = 6, ahead = 0, lock_group_cycles = 2 }\n";
/// As `PAIR`, with a fixed hash in this many stages of its own.
macro_rules! hashed {
    ($stages:literal) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
             warp_size = 8, capacity_words = 512 }\n\
             path = { locks = 32, mem_stages = 2, ahead = 0 }\n\
             hash = { path = 'xor', stage = ",
            $stages,
            " }\n"
        )
    };
}
const UNHASHED: &str = hashed!(0);
const HASHED: &str = hashed!(1);
/// Two lanes, and latencies of an atomic that let a round end in few cycles.
pub const ATOMIC: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                      warp_size = 8, capacity_words = 512 }\n\
                      path = { locks = 32, lock_group_cycles = 2, mem_stages = 2, ahead = 0 }\n\
                      retry = { read = 2, update = 3, write = 2, branch = 1 }\n";
/// Banks of four rows, with this many stages.
macro_rules! rows {
    ($stages:literal) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
             warp_size = 8, capacity_words = 32 }\n\
             path = { locks = 32, lock_group_cycles = 2, ahead = 0, mem_stages = ",
            $stages,
            " }\n"
        )
    };
}
/// The path as a whole, with this many memory stages, and this many in front of EX.
macro_rules! whole {
    ($stages:literal, $ahead:literal) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
             warp_size = 4, capacity_words = 512 }\n\
             path = { warps = 2, blocks = 2, locks = 32, lock_group_cycles = 1, \
             history_sets = 2, mem_stages = ",
            $stages,
            ", ahead = ",
            $ahead,
            " }\nretry = { read = 2, update = 3, write = 2, branch = 1 }\n\
             hash = { path = 'mod' }\n"
        )
    };
}
/// `spad_tcdm` with banks of four rows, without and with registers.
macro_rules! tcdm {
    ($registers:literal) => {
        bus!(
            4,
            32,
            "tcdm = { id_bits = 2, request_register = ",
            $registers,
            ", response_register = ",
            $registers,
            " }\n"
        )
    };
}
const TCDM: &str = tcdm!("false");
const TCDM_REGISTERED: &str = tcdm!("true");
/// With writes that are not answered.
const TCDM_POSTED: &str = bus!(4, 32, "tcdm = { id_bits = 2, posted = true }\n");
const ATOMIC_POSTED: &str = bus!(4, 32, "tcdm = { atomics = true, posted = true }\n");
/// Banks of four rows that perform atomic operations.
const ATOMIC_BANK: &str = bus!(4, 32, "tcdm = { atomics = true }\n");
/// An AXI port that replaces this many lanes, with two beats in flight.
macro_rules! axi {
    ($lanes:literal) => {
        bus!(
            2,
            512,
            "axi = { addr_bits = 12, id_bits = 1, in_flight = 2, lanes = ",
            $lanes,
            " }\n"
        )
    };
}
const AXI: &str = axi!(1);
const AXI_LANES: &str = axi!(2);
/// Wide accesses in phases, without and with merged pairs.
macro_rules! phases {
    ($wide:literal) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
             warp_size = 4, capacity_words = 512, wide = '",
            $wide,
            "' }\npath = { mem_stages = 2, ahead = 0 }\n"
        )
    };
}
const PHASES: &str = phases!("phases");
const MERGED: &str = phases!("phases-merged");
/// `spad_stream` with a window of two accesses, and banks of four rows.
const WINDOW: &str = bus!(4, 32, "stream = { window = 2 }\n");
/// A window whose banks perform atomic operations, with stores that are posted, or answered.
const ATOMIC_WINDOW_POSTED: &str = bus!(
    4,
    32,
    "stream = { window = 2, atomics = true, posted = true }\n"
);
const ATOMIC_WINDOW: &str = bus!(4, 32, "stream = { window = 2, atomics = true }\n");
/// As `PAIR`, with stores that `spad_stream` does not answer, around its scratchpad and
/// around a window whose banks perform atomic operations.
pub const POSTED: &str = bus!(2, 512, "stream = { posted = true }\n");
pub const POSTED_ATOMIC: &str = bus!(
    2,
    512,
    "stream = { window = 2, atomics = true, posted = true }\n"
);
/// The same, and every store is answered.
pub const AROUND_ATOMIC: &str = bus!(2, 512, "stream = { window = 2, atomics = true }\n");
const ROWS: &str = rows!(2);
const ROWS3: &str = rows!(3);
const ROWS4: &str = rows!(4);
/// As `QUAD`, with the issue decided this many stages ahead.
macro_rules! ahead {
    ($stages:literal) => {
        concat!(
            "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
             warp_size = 8, capacity_words = 512 }\n\
             path = { warps = 4, blocks = 4, locks = 32, lock_group_cycles = 2, \
             history_sets = 2, mem_stages = 2, ahead = ",
            $stages,
            " }\n"
        )
    };
}
const AHEAD: &str = ahead!(3);
const QUALIFIED: &str = ahead!(2);

/// The least path as a whole, with the timing of the papers' figures.
pub const FIGURES: &str = whole!(2, 0);
/// The same with four memory stages, and the issue decided three ahead.
const WHOLE: &str = whole!(4, 3);

/// A fault, and the properties that it breaks.
pub struct Mutant {
    pub unit: String,
    pub file: String,
    /// The machine by its name here; empty for the preset.
    machine: String,
    pub edits: Vec<(String, String)>,
    pub broken: Vec<String>,
}

impl Mutant {
    /// The machine that the fault is in.
    pub fn machine(&self) -> Option<&'static str> {
        Some(match self.machine.as_str() {
            "" => return None,
            "pair" => PAIR,
            "quad" => QUAD,
            "owner" => OWNER,
            "exit" => EXIT,
            "rows" => ROWS,
            "rows3" => ROWS3,
            "rows4" => ROWS4,
            "tcdm" => TCDM,
            "tcdm_registered" => TCDM_REGISTERED,
            "atomic" => ATOMIC,
            "atomic_bank" => ATOMIC_BANK,
            "axi" => AXI,
            "axi_lanes" => AXI_LANES,
            "phases" => PHASES,
            "merged" => MERGED,
            "posted" => POSTED,
            "tcdm_posted" => TCDM_POSTED,
            "atomic_posted" => ATOMIC_POSTED,
            "posted_atomic" => POSTED_ATOMIC,
            "window" => WINDOW,
            "atomic_window" => ATOMIC_WINDOW,
            "atomic_window_posted" => ATOMIC_WINDOW_POSTED,
            "hashed" => HASHED,
            "unhashed" => UNHASHED,
            "ahead" => AHEAD,
            "qualified" => QUALIFIED,
            "figures" => FIGURES,
            "whole" => WHOLE,
            other => panic!("no machine {other}"),
        })
    }
}

/// Faults in hash units: exactly the properties named with one are disproved.
pub fn hash_faults() -> Vec<Mutant> {
    read(&folder().join("hash.faults"))
}

/// Faults in the units of the path: each disproves the properties named with
/// it, with a run from reset to show.
pub fn path_faults() -> Vec<Mutant> {
    let entries = std::fs::read_dir(folder().join("path")).unwrap();
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "faults"));
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testbenches/prove")
}

fn read(file: &Path) -> Vec<Mutant> {
    let text = std::fs::read_to_string(file).unwrap();
    let (mut unit, mut machine) = (String::new(), String::new());
    let mut faults: Vec<Mutant> = Vec::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.to_owned();
        match (word, faults.last_mut()) {
            ("unit", _) => unit = rest,
            ("machine", _) => machine = rest,
            ("breaks", _) => faults.push(Mutant {
                file: format!("{unit}.v"),
                unit: unit.clone(),
                machine: machine.clone(),
                edits: Vec::new(),
                broken: rest.split_whitespace().map(str::to_owned).collect(),
            }),
            ("in", Some(fault)) => fault.file = format!("{rest}.v"),
            ("-", Some(fault)) => fault.edits.push((rest, String::new())),
            ("+", Some(fault)) => fault.edits.last_mut().unwrap().1 = rest,
            _ => panic!("{}: {line}", file.display()),
        }
    }
    let whole = |f: &Mutant| !f.broken.is_empty() && !f.edits.is_empty();
    assert!(
        !faults.is_empty() && faults.iter().all(whole),
        "{}",
        file.display()
    );
    faults
}
