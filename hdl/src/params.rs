//! The parameters of microarchitecture/parameters.md: the only list of their
//! names, meanings and values in a machine. Templates and headers of the
//! Verilog, golden models, benches and proofs read them here; a test compares
//! the table of the document with this list.

use crate::allowed::Allowed;
use crate::error::Result;
use crate::machine::{Machine, PC_BITS, Phases, RetryLatencies, TAG_BITS};
use crate::size::{Size, index_bits};
use serde::Serialize;

/// The tables of the conflict history: tags with their values, which a look-up
/// reads, and tags alone, which an update reads.
pub(crate) const TABLE_ENTRIES: &str = "spad_table_ram_entries";
pub(crate) const TABLE_TAGS: &str = "spad_table_ram_tags";

/// The widths of a payload that a module passes on unchanged.
pub(crate) const PAYLOAD: Allowed = Allowed::Range(1, 32_768);

/// The widths of the tag of an access, which a module passes on unchanged.
pub(crate) const TAG: Allowed = Allowed::Range(1, 128);

/// Lists each parameter once; a value may use those above it.
macro_rules! parameters {
    ($machine:ident; $($(#[$about:meta])* $name:ident: $kind:ty = $value:expr;)*) => {
        /// The parameters of a machine, under the names of the document.
        #[derive(Clone, Debug, Serialize)]
        #[allow(non_snake_case, reason = "the names of the contract")]
        pub struct Params {
            $($(#[$about])* pub $name: $kind,)*
        }

        /// The parameters as numbers with names.
        #[derive(Clone, Copy, Debug)]
        #[allow(non_snake_case, reason = "the names of the contract")]
        #[allow(dead_code, reason = "some are of no width that a unit names")]
        pub(crate) struct Sizes {
            $(pub(crate) $name: Size,)*
        }

        impl Params {
            /// Every name, in the order of the document.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// The parameters of any machine, also one that cannot be emitted.
            #[allow(non_snake_case, reason = "the names of the contract")]
            pub fn of($machine: &Machine) -> Self {
                $(let $name: $kind = $value;)*
                Params { $($name),* }
            }

            /// The parameters as numbers with names, which `size` makes.
            pub(crate) fn sizes(&self, size: impl Fn(&str, usize) -> Size) -> Sizes {
                Sizes { $($name: size(stringify!($name), usize::from(self.$name)),)* }
            }

            /// A parameter's value by its name; 1 and 0 for yes and no.
            pub fn value(&self, name: &str) -> Option<usize> {
                match name {
                    $(stringify!($name) => Some(usize::from(self.$name)),)*
                    _ => None,
                }
            }
        }
    };
}

parameters! { machine;
    /// Word-address bits.
    n: usize = machine.geometry.addr_bits;
    /// Bank bits.
    m: usize = machine.geometry.bank_bits;
    /// Banks.
    B: usize = 1 << m;
    /// Row bits of an address.
    R: usize = n - m;
    /// Rows of a bank.
    ROWS: usize = machine.capacity_words >> m;
    /// Row bits of a bank RAM.
    RW: usize = index_bits(ROWS);
    /// Lanes.
    L: usize = machine.lanes;
    /// Bits of a lane's number.
    LW: usize = index_bits(L);
    /// Bits of a word.
    D: usize = machine.word_bits;
    /// Bytes of a word.
    DB: usize = D / 8;
    /// Threads of a warp.
    WS: usize = machine.warp_size;
    /// Subwarps: the passes of an access of one word.
    S: usize = WS / L;
    /// Bits of a subwarp's number.
    SUBW: usize = index_bits(S);
    /// Warp slots.
    W: usize = machine.warps;
    /// Bits of a warp slot.
    WW: usize = index_bits(W);
    /// Thread-block slots.
    T: usize = machine.blocks;
    /// Bits of a block slot.
    TW: usize = index_bits(T);
    /// Lock bits; 0 for no lock unit.
    LOCKS: usize = machine.locks;
    /// Bits of a lock's index.
    LK: usize = index_bits(LOCKS);
    /// Memory stages.
    M: usize = machine.mem_stages;
    /// Memory stages in the scratchpad.
    MS: usize = M.min(4);
    /// Stages in which the issue is decided in front of EX.
    AHEAD: usize = machine.ahead;
    /// Extra hash stages.
    H: usize = machine.hash_stage;
    /// Depth of the NONMEM queue (elastic paper, Eq. 4).
    NQ: usize = M + H;
    /// Depth of the PREMEM queue (elastic paper, Eq. 5).
    PQ: usize = S - 1;
    /// Bits of the PREMEM queue's count.
    PQW: usize = index_bits(S);
    /// Bits of a program counter.
    PCW: usize = PC_BITS;
    /// Bits of a destination tag.
    TG: usize = TAG_BITS;
    /// Bits of a pass's number.
    PW: usize = index_bits(4 * S);
    /// Bits of a conflict degree.
    DG: usize = index_bits(L + 1);
    /// Cycles of a lock group.
    LKG: usize = machine.lock_group_cycles;
    /// Bits of a lock window's number.
    LKW: usize = index_bits(LKG);
    /// Lanes of a lock window.
    P: usize = L / LKG;
    /// Each lock knows the lane that took it.
    LKO: bool = machine.lock_owner && LOCKS > 0;
    /// Bits of a pass's cycles in MEM0.
    OCW: usize = DG + if LOCKS > 0 { LKG.trailing_zeros() as usize } else { 0 };
    /// Bits of a warp's excess degree (elastic paper, Table 3).
    EX: usize = index_bits(WS);
    /// Sets of the conflict history.
    SETS: usize = machine.history_sets;
    /// Bits of a set's number.
    SETW: usize = index_bits(SETS);
    /// Lanes on one address are served together.
    BCAST: bool = machine.broadcast;
    /// Stores of one word are merged per byte.
    MERGE: bool = machine.merge_bytes;
    /// READ of the retry loop, per degree.
    LR: usize = machine.retry.read as usize;
    /// UPDATE.
    LU: usize = machine.retry.update as usize;
    /// WRITE, per degree.
    LWR: usize = machine.retry.write as usize;
    /// BRANCH.
    LB: usize = machine.retry.branch as usize;
    /// Requests of `spad_tcdm` go through registers.
    TREQ: bool = machine.tcdm.request_register;
    /// Answers of `spad_tcdm` go through a register.
    TRSP: bool = machine.tcdm.response_register;
    /// Bits of its identifiers; 0 for none.
    TID: usize = machine.tcdm.id_bits as usize;
    /// Banks of `spad_tcdm` perform atomic operations; not among the numbers of a
    /// machine without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    TATM: bool = machine.tcdm.atomics;
    /// Writes of `spad_tcdm` are not answered; not among the numbers of a machine
    /// that answers them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    TPOST: bool = machine.tcdm.posted;
    /// Memory stages in the scratchpad of `spad_stream`.
    SMS: usize = machine.stream.mem_stages as usize;
    /// Accesses of `spad_stream` that overlap; 0: its groups are in order.
    SWIN: usize = machine.stream.window as usize;
    /// The banks of its window perform atomic operations; not among the numbers of a
    /// machine without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    SATM: bool = machine.stream.atomics;
    /// Stores of `spad_stream` are not answered; not among the numbers of a machine
    /// that answers them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    SPOST: bool = machine.stream.posted;
    /// Bits of the tag of an access of `spad_stream`.
    STG: usize = match machine.stream.tag_bits { 0 => WW + TG, bits => bits as usize };
    /// Wide accesses go in phases; not among the numbers of a machine of one word a
    /// lane, nor are those below.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    PHS: bool = machine.phases != Phases::None;
    /// Loads of equal pairs of lanes take half the phases.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    PHM: bool = machine.phases == Phases::Merged;
    /// Accesses in phases that wait for the oldest to be answered.
    #[serde(skip_serializing_if = "is_zero")]
    PHQ: usize = if PHS { 4 + SMS.max(SWIN) } else { 0 };
    /// Bits of a byte address at the AXI port; 0 for none, which is not among the
    /// numbers of a machine without it, nor are those below.
    #[serde(skip_serializing_if = "is_zero")]
    XA: usize = machine.axi.addr_bits as usize;
    /// Lanes that it takes the place of.
    #[serde(skip_serializing_if = "is_zero")]
    XL: usize = if XA > 0 { machine.axi.lanes as usize } else { 0 };
    /// Bits of its identifiers.
    #[serde(skip_serializing_if = "is_zero")]
    XID: usize = if XA > 0 { machine.axi.id_bits as usize } else { 0 };
    /// Beats of the AXI port in flight.
    #[serde(skip_serializing_if = "is_zero")]
    XQ: usize = if XA > 0 { machine.axi.in_flight as usize } else { 0 };
    /// Bits of a cycle within a state of the retry loop.
    CTW: usize = index_bits(longest_state(L, machine.retry) + 1);
    /// Control that travels with a pass: warp, kind, tag, pc, pass, last.
    CTL: usize = WW + 4 + TG + PCW + PW + 1;
    /// Tag of a scratchpad request: source, error, degree, control.
    TGW: usize = CTL + DG + 2;
    /// Payload of a PREMEM entry: control, aop, mask, places, data, byte enables.
    PREW: usize = CTL + 4 + L + L * (n + LK) + L * D + L * DB;
    /// Payload of a NONMEM entry: warp, tag, kind, pass, last, mask, data.
    NMW: usize = WW + TG + 4 + PW + 1 + L + L * D;
    /// Payload of the writeback multiplexer: the same, success, error, degree.
    WBW: usize = NMW + L + 1 + DG;
}

impl Params {
    /// The parameters of a machine that can be emitted; the error names the
    /// rule that it breaks.
    pub(crate) fn new(machine: &Machine) -> Result<Self> {
        machine.check()?;
        Ok(Params::of(machine))
    }

    /// Rows and bits of the memory in which a chip has an SRAM macro, by the name
    /// of its module; `None` if that is no memory.
    pub fn memory(&self, module: &str) -> Option<(usize, usize)> {
        let tag = self.PCW - self.SETW;
        match module {
            "spad_bank_ram" | "spad_two_port_ram" => Some((self.ROWS, self.D)),
            TABLE_ENTRIES => Some((self.SETS, tag + self.EX)),
            TABLE_TAGS => Some((self.SETS, tag)),
            _ => None,
        }
    }

    /// The value of the parameter that is called `name`.
    pub(crate) fn called(&self, name: &str) -> usize {
        let value = self.value(name);
        value.unwrap_or_else(|| panic!("there is no parameter '{name}'"))
    }

    /// The parameters in the form of a file's header.
    pub(crate) fn text(&self, names: &[&str]) -> String {
        let value = |name: &&str| format!("{name} = {}", self.called(name));
        names.iter().map(value).collect::<Vec<_>>().join(", ")
    }
}

fn is_zero(size: &usize) -> bool {
    *size == 0
}

/// Cycles of the longest state of the retry loop when nothing delays it.
fn longest_state(lanes: usize, retry: RetryLatencies) -> usize {
    let per_degree = lanes * retry.read.max(retry.write) as usize;
    per_degree.max(retry.update.max(retry.branch) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address_widths::AddressWidths;
    use spadkit_names::HashKind;
    use std::collections::BTreeSet;

    /// The first column of the table, a name or several.
    fn documented() -> BTreeSet<String> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../docs/reference/microarchitecture/parameters.md"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let (_, rest) = text.split_once("## Parameters").unwrap();
        let (table, _) = rest.split_once("## Kinds").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| "));
        let names = rows.filter_map(|row| row.split_once(" |").map(|(names, _)| names));
        let each = names.flat_map(|names| names.split(", ")).map(str::to_owned);
        // The title of the column, and what is a name instead of a number.
        each.filter(|name| name != "name" && name != "HASH")
            .collect()
    }

    #[test]
    fn the_document_has_every_parameter_and_no_other() {
        let listed: BTreeSet<String> = Params::NAMES.iter().map(|n| n.to_string()).collect();
        assert_eq!(documented(), listed);
    }

    #[test]
    fn a_value_is_found_by_its_name() {
        let geometry = AddressWidths {
            addr_bits: 14,
            bank_bits: 5,
        };
        let p = Params::of(&Machine::of_geometry(geometry, HashKind::Matrix));
        assert_eq!((p.value("R"), p.value("MERGE")), (Some(9), Some(1)));
        assert_eq!(p.value("r"), None);
        assert_eq!(p.text(&["DG", "BCAST"]), "DG = 6, BCAST = 1");
        assert!(Params::NAMES.iter().all(|name| p.value(name).is_some()));
    }
}
