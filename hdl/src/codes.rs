//! The names of codes on ports (microarchitecture/parameters.md): one
//! list, with no logic, for RTL, golden models, benches and documents.
//!
//! The Verilog has a code by its name, as `KIND_LOAD`; the `localparam`s of the
//! names that a module uses follow its ports.

use std::collections::BTreeSet;

/// The codes of one field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Begins the Verilog name of each code, as in `KIND_LOAD`.
    pub prefix: &'static str,
    /// Bits of the field.
    pub width: usize,
    /// Names and values.
    pub codes: &'static [(&'static str, u8)],
}

impl Field {
    /// The Verilog name of a code, `KIND_LOAD` of `LOAD`.
    pub(crate) fn name(&self, code: &str) -> String {
        format!("{}_{code}", self.prefix)
    }
}

macro_rules! field {
    ($(#[$about:meta])* $module:ident $prefix:literal $width:literal:
     $($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        $(#[$about])*
        pub mod $module {
            $($(#[$doc])* pub const $name: u8 = $value;)*
            /// The field with all of its codes.
            pub const FIELD: super::Field = super::Field {
                prefix: $prefix,
                width: $width,
                codes: &[$((stringify!($name), $value)),*],
            };
        }
    };
}

field! {
    /// Instruction kinds at the issue port (microarchitecture/parameters.md).
    kind "KIND" 4:
    /// Any instruction without memory access.
    ALU = 0;
    /// Reads the scratchpad.
    LOAD = 1;
    /// Writes the scratchpad.
    STORE = 2;
    /// Load and lock.
    LDLK = 3;
    /// Store and unlock.
    STUL = 4;
    /// Macro operation of the retry sequencer.
    ATOMIC = 5;
    /// Any off-chip access.
    GLOBAL = 6;
    /// Releases the shared part of the scratchpad.
    RELSSP = 7;
}

field! {
    /// Scratchpad operations (microarchitecture/parameters.md).
    op "OP" 3:
    /// No access: data comes back unchanged.
    PASS = 0;
    /// Reads whole words.
    LOAD = 1;
    /// Writes enabled bytes.
    STORE = 2;
    /// Load, and take locks.
    LDLK = 3;
    /// Store, and clear locks.
    STUL = 4;
    /// The unsupported operation that unsupported kinds become.
    UNSUPPORTED = 7;
}

field! {
    /// Atomic operations (microarchitecture/parameters.md).
    aop "AOP" 4:
    /// Sum modulo 2^D.
    ADD = 0;
    /// Bitwise and.
    AND = 1;
    /// Bitwise or.
    OR = 2;
    /// Bitwise exclusive or.
    XOR = 3;
    /// Exchange.
    SWAP = 4;
    /// Unsigned minimum.
    UMIN = 5;
    /// Unsigned maximum.
    UMAX = 6;
    /// Signed minimum.
    SMIN = 7;
    /// Signed maximum; the last supported operation.
    SMAX = 8;
}

field! {
    /// Atomic operations of `spad_tcdm` (microarchitecture/atomic-bank.md): the
    /// codes of [`aop`], and those that need more than one operand or access.
    amo "AMO" 4:
    /// Sum modulo 2^D.
    ADD = 0;
    /// Bitwise and.
    AND = 1;
    /// Bitwise or.
    OR = 2;
    /// Bitwise exclusive or.
    XOR = 3;
    /// Exchange.
    SWAP = 4;
    /// Unsigned minimum.
    UMIN = 5;
    /// Unsigned maximum.
    UMAX = 6;
    /// Signed minimum.
    SMIN = 7;
    /// Signed maximum.
    SMAX = 8;
    /// Compare and swap.
    CAS = 9;
    /// Load-reserved.
    LR = 10;
    /// Store-conditional.
    SC = 11;
    /// Adds 1; lanes that do so in one word are counted first. The last supported
    /// operation.
    COUNT = 12;
}

field! {
    /// `cfg_lock_hash` (microarchitecture/hash-units.md).
    lock_hash "LOCK_HASH" 2:
    /// The low address bits.
    NONE = 0;
    /// Combined by exclusive or.
    XOR = 1;
    /// Combined by addition.
    ADD = 2;
}

field! {
    /// `state` of the retry sequencer (microarchitecture/retry-sequencer.md).
    seq "SEQ" 3:
    /// Takes a pass.
    IDLE = 0;
    /// Load and lock.
    READ = 1;
    /// Computes.
    UPDATE = 2;
    /// Store and unlock.
    WRITE = 3;
    /// Branches back for the lanes without a lock.
    BRANCH = 4;
    /// Hands over the old values.
    DONE = 5;
}

field! {
    /// `wb_src` (microarchitecture/writeback-mux.md).
    source "SOURCE" 2:
    /// Data from off-chip.
    ICN = 0;
    /// The last memory stage.
    MEM = 1;
    /// The NONMEM queue.
    NONMEM = 2;
}

field! {
    /// `cfg_policy` (microarchitecture/warp-scheduler.md).
    policy "POLICY" 2:
    /// Loose round-robin.
    LRR = 0;
    /// Owner-warp-first, loose round-robin within a class.
    OWF_LRR = 1;
    /// Owner-warp-first, lowest slot within a class.
    OWF_SLOT = 2;
    /// Lowest slot.
    SLOT = 3;
}

field! {
    /// `cfg_pipeline` (microarchitecture/sm-path.md).
    pipeline "PIPELINE" 2:
    /// Every kind goes through the memory stages.
    UNIFIED = 0;
    /// A fixed pipeline beside the memory stages.
    SPLIT = 1;
    /// Queues beside and in front of the memory stages.
    ELASTIC = 2;
}

field! {
    /// `cfg_barrel` (microarchitecture/sm-path.md).
    barrel "BARREL" 2:
    /// One instruction of a warp in flight.
    STRICT = 0;
    /// Any number.
    RELAXED = 1;
    /// Any number, committed in order.
    IN_ORDER = 2;
}

field! {
    /// `stall` (microarchitecture/pipelines.md).
    stall "STALL" 2:
    /// EX is empty or moves.
    NONE = 0;
    /// More groups in MEM0.
    BANK_CONFLICT = 1;
    /// The way to writeback is taken.
    WRITEBACK = 2;
    /// The retry sequencer has the scratchpad's port.
    LOCK_RETRY = 3;
}

field! {
    /// `rd_index` of the performance counters (microarchitecture/counters.md).
    counter "COUNTER" 4:
    /// Clock cycles.
    CYCLES = 0;
    /// Passes that entered EX.
    PASSES = 1;
    /// Passes of scratchpad accesses, atomics aside, that were written back.
    ACCESSES = 2;
    /// Sum of their conflict degrees.
    DEGREE = 3;
    /// Cycles in which bank conflicts held EX.
    STALL_BANK = 4;
    /// Cycles in which the way to writeback held EX.
    STALL_WRITEBACK = 5;
    /// Cycles in which the retry sequencer held EX.
    STALL_RETRY = 6;
    /// Cycles in which the mask held a ready warp back.
    MASKED = 7;
    /// Rounds of atomics.
    ROUNDS = 8;
    /// Passes of atomics that were written back.
    ATOMICS = 9;
}

/// Every field of the path and of the blocks on a bus; [`amo`] is one of those
/// that have atomic operations only.
pub const FIELDS: [Field; 11] = [
    kind::FIELD,
    op::FIELD,
    aop::FIELD,
    lock_hash::FIELD,
    seq::FIELD,
    source::FIELD,
    policy::FIELD,
    pipeline::FIELD,
    barrel::FIELD,
    stall::FIELD,
    counter::FIELD,
];

/// The `localparam`s of the codes among these names.
pub(crate) fn declarations(names: &BTreeSet<&str>) -> Vec<String> {
    let mut out = Vec::new();
    for field in FIELDS.into_iter().chain([amo::FIELD]) {
        for (code, value) in field.codes {
            let (name, width) = (field.name(code), field.width);
            if names.contains(name.as_str()) {
                let range = width - 1;
                out.push(format!(
                    "    localparam [{range}:0] {name} = {width}'d{value};"
                ));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_declares_the_codes_that_it_names() {
        let names = BTreeSet::from(["op", "OP_LOAD", "KIND_LOAD", "MY_OP_PASS"]);
        let declared = [
            "    localparam [3:0] KIND_LOAD = 4'd1;",
            "    localparam [2:0] OP_LOAD = 3'd1;",
        ];
        assert_eq!(declarations(&names), declared);
    }

    #[test]
    fn codes_fit_their_fields_and_differ() {
        for field in FIELDS.into_iter().chain([amo::FIELD]) {
            let mut values: Vec<u8> = field.codes.iter().map(|c| c.1).collect();
            assert!(values.iter().all(|v| usize::from(*v) < 1 << field.width));
            let count = values.len();
            values.dedup();
            assert_eq!(values.len(), count, "{}", field.prefix);
        }
    }

    /// An operation has one code and one name wherever it is executed.
    #[test]
    fn the_buses_have_the_atomic_operations_of_the_path() {
        assert!(amo::FIELD.codes.starts_with(aop::FIELD.codes));
    }

    /// The tables of the contract name the same codes.
    #[test]
    fn the_contract_has_the_same_codes() {
        let text = include_str!("../../docs/reference/microarchitecture/parameters.md");
        let part = |from: &str, to: &str| {
            let start = text.find(from).unwrap();
            &text[start..start + text[start..].find(to).unwrap()]
        };
        let kinds = part("## Kinds", "## Scratchpad operations");
        for (name, value) in kind::FIELD.codes {
            assert!(kinds.contains(&format!("| {value} | {name} ")), "{name}");
        }
        let ops = part("## Scratchpad operations", "## Atomic operations");
        for (name, value) in op::FIELD.codes.iter().filter(|c| c.0 != "UNSUPPORTED") {
            assert!(ops.contains(&format!("| {value} | {name} ")), "{name}");
        }
        let atomics = part("## Atomic operations", "unsupported");
        for (name, value) in aop::FIELD.codes {
            assert!(atomics.contains(&format!("{value} {name}")), "{name}");
        }
        let bus = include_str!("../../docs/reference/microarchitecture/atomic-bank.md");
        for (name, value) in amo::FIELD.codes {
            assert!(bus.contains(&format!("| {value} | {name} |")), "{name}");
        }
    }
}
