//! The class of a SASS opcode, as far as the SM path is concerned.

/// The memory that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Shared memory: LDS, STS, ATOMS, LDSM.
    Shared,
    /// Global or local memory, reached through the caches.
    Global,
    /// Generic: the address decides (LD, ST, ATOM, RED).
    Generic,
}

/// The class of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpClass {
    /// Arithmetic, and everything that is nothing else.
    Alu,
    /// Register move.
    Mov,
    /// Special functions and double precision.
    Sfu,
    /// Branches, calls, returns.
    Branch,
    /// Load.
    Load(Space),
    /// Store.
    Store(Space),
    /// Atomic read-modify-write.
    Atomic(Space),
    /// Barrier that the threads wait at.
    Bar,
    /// The threads end.
    Exit,
}

impl OpClass {
    /// The class of an opcode with its modifiers, such as `LDS.U.64`.
    pub fn of(opcode: &str) -> OpClass {
        let mut parts = opcode.split('.');
        let base = parts.next().unwrap_or("");
        let arrives = || opcode.split('.').any(|p| p == "ARV");
        match base {
            "LDS" | "LDSM" => OpClass::Load(Space::Shared),
            "STS" | "STSM" => OpClass::Store(Space::Shared),
            "ATOMS" => OpClass::Atomic(Space::Shared),
            // The traces have only the global side of an asynchronous copy.
            "LDG" | "LDL" | "LDGSTS" => OpClass::Load(Space::Global),
            "STG" | "STL" => OpClass::Store(Space::Global),
            // Atomics on global memory are done outside the SM.
            "ATOMG" => OpClass::Load(Space::Global),
            "LD" => OpClass::Load(Space::Generic),
            "ST" => OpClass::Store(Space::Generic),
            "ATOM" | "RED" => OpClass::Atomic(Space::Generic),
            "BAR" if arrives() => OpClass::Alu,
            "BAR" => OpClass::Bar,
            "EXIT" => OpClass::Exit,
            "MOV" | "MOV32I" | "S2R" | "CS2R" | "S2UR" | "UMOV" => OpClass::Mov,
            "MUFU" | "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" | "DSET" => OpClass::Sfu,
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "CALL" | "RET" | "BRK" | "CONT"
            | "SYNC" | "BREAK" => OpClass::Branch,
            _ => OpClass::Alu,
        }
    }

    /// Whether instructions of the class have addresses.
    pub fn is_memory(self) -> bool {
        use OpClass::{Atomic, Load, Store};
        matches!(self, Load(_) | Store(_) | Atomic(_))
    }
}

/// Adds one, counting the lanes of each word first.
pub fn is_increment(opcode: &str) -> bool {
    opcode.starts_with("ATOMS.POPC.INC")
}

/// Bytes per lane that an opcode names; `None` where it names none.
///
/// The tracer's own width is not always right; the opcode's is.
pub(super) fn width(opcode: &str) -> Option<u32> {
    if opcode.starts_with("LDSM") || opcode.starts_with("STSM") {
        // Each address is that of a row of 8 halves of a matrix.
        return Some(16);
    }
    let bits = |part: &str| match part {
        "8" | "U8" | "S8" => Some(1),
        "16" | "U16" | "S16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        "128" => Some(16),
        _ => None,
    };
    opcode.split('.').skip(1).find_map(bits)
}

/// Lanes whose addresses a matrix load uses: 8 for each matrix.
pub(super) fn matrix_lanes(opcode: &str) -> Option<u32> {
    let base = opcode.split('.').next()?;
    if base != "LDSM" && base != "STSM" {
        return None;
    }
    let last = opcode.split('.').next_back()?;
    Some(match last {
        "4" => 32,
        "2" => 16,
        _ => 8,
    })
}
