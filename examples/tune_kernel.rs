//! The kit as a library: reads a kernel's access trace, finds the XOR mapping
//! with the fewest bank conflicts, and prints the Verilog of the unit that
//! computes it, with the values of its configuration registers.
//!
//! ```text
//! cargo run --example tune_kernel [trace.json | kernel:NAME] > hash.v
//! ```

use spadkit::config::Config;
use spadkit::error::Result;
use spadkit::hash::{HashKind, Mapping, encode, encode_row_map};
use spadkit::rtl::Design;
use spadkit::search::bitvec::all_pairs;
use spadkit::search::reference::Selection;
use spadkit::search::tune::{Method, Tuner};
use spadkit::search::{Control, Problem};
use spadkit::trace::ConflictProfile;
use spadkit::workload::load_input;
use std::process::ExitCode;
use std::time::Duration;

/// The unit to configure: any one or two address bits per bank bit.
const KIND: HashKind = HashKind::BitwiseXor;

/// The printed results.
pub struct Tuned {
    /// The mapping, and what goes into the configuration registers.
    pub found: String,
    /// The hash unit and the row map.
    pub verilog: String,
}

fn main() -> ExitCode {
    let input = std::env::args().nth(1);
    match run(input.as_deref().unwrap_or("kernel:fwt")) {
        Ok(Tuned { found, verilog }) => {
            eprint!("{found}");
            print!("{verilog}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_status())
        }
    }
}

/// The best mapping for the kernel of `input`.
pub fn run(input: &str) -> Result<Tuned> {
    let machine = Config::preset("fermi")?;
    let trace = load_input(input)?;
    let profile = ConflictProfile::new(&trace, machine.lanes);
    let plain = profile.count(|addr| addr & machine.geometry.bank_mask());

    // Mappings that stay inside the scratchpad's capacity, and at most 10 s.
    let problem =
        Problem::new(&profile, machine.geometry).with_pivot_limit(machine.pivot_limit())?;
    let tuner = Tuner {
        problem: &problem,
        sets: &[],
        pairs: &all_pairs(machine.geometry),
        selection: Selection::Allowed,
    };
    let control = Control::none().budget(Duration::from_secs(10));
    let best = tuner.run(KIND, Method::default_for(KIND), &control)?;
    let mut found = format!(
        "{}: {} conflicts with {}, {} without a hash{}\n",
        trace.name,
        best.conflicts,
        best.spec,
        plain.conflicts,
        if best.optimal() {
            ", proved optimal"
        } else {
            ""
        },
    );

    // A bank alone is no mapping: the row map makes it a bijection.
    let mapping = Mapping::new(&best.spec, machine.geometry)?;
    let hash = encode(&best.spec, machine.geometry)?;
    let row = encode_row_map(mapping.row_map(), machine.geometry);
    for unit in [&hash, &row] {
        found += &format!("registers for {}: {:x?}\n", unit.unit, unit.registers);
    }
    let units = [hash.unit, row.unit].map(str::to_owned);
    let design = Design::emit(&units, &machine)?;
    Ok(Tuned {
        found,
        verilog: design.files.into_iter().map(|file| file.text).collect(),
    })
}
