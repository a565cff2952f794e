//! The configuration registers of a hash unit: one block per SM, shared by all
//! lanes. The registers hold the compact configuration; the select lines are
//! decoded here, off the path of every access.

use crate::geometry::Geometry;
use crate::hashes::{Configured, HashKind};
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::spad_hash_decode::{self as decode, index_width};
use crate::spad_rap::index_bits;
use crate::template::render;
use crate::{
    spad_hash_bitvec_perm, spad_hash_bitvec_xor, spad_hash_bitwise_perm, spad_hash_bitwise_xor,
    spad_hash_matrix, spad_rap, spad_row_map,
};
use serde::Serialize;

impl Configured {
    /// The unit itself.
    pub(crate) fn unit(self, g: Geometry) -> Result<Module> {
        match self {
            Configured::Hash(HashKind::BitvecPerm) => spad_hash_bitvec_perm::emit_unit(g),
            Configured::Hash(HashKind::BitvecXor) => spad_hash_bitvec_xor::emit_unit(g),
            Configured::Hash(HashKind::BitwisePerm) => spad_hash_bitwise_perm::emit_unit(g),
            Configured::Hash(HashKind::BitwiseXor) => spad_hash_bitwise_xor::emit_unit(g),
            Configured::Hash(HashKind::Matrix) => spad_hash_matrix::emit_unit(g),
            Configured::Rap => spad_rap::emit_unit(g),
            Configured::RowMap => spad_row_map::emit_unit(g),
        }
    }

    fn decoder(self, g: Geometry) -> Result<Option<Module>> {
        match self {
            Configured::Hash(HashKind::BitvecPerm) => decode::bitvec_perm(g).map(Some),
            Configured::Hash(HashKind::BitvecXor) => decode::bitvec_xor(g).map(Some),
            Configured::Hash(HashKind::BitwisePerm) => decode::bitwise_perm(g).map(Some),
            Configured::Hash(HashKind::BitwiseXor) => decode::bitwise_xor(g).map(Some),
            Configured::RowMap => decode::row_map(g).map(Some),
            Configured::Hash(HashKind::Matrix) | Configured::Rap => Ok(None),
        }
    }

    /// The registers in the order of their write index.
    fn registers(self, g: Geometry) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        let bit = index_width(n);
        let each = |count: usize, width: usize, reset: &dyn Fn(usize) -> usize| {
            let register = |i| Register::new(format!("r{i}"), width, reset(i));
            (0..count).map(register).collect::<Vec<_>>()
        };
        match self {
            Configured::Hash(HashKind::BitvecPerm) => {
                vec![Register::new("k", index_width(n - m + 1), 0)]
            }
            Configured::Hash(HashKind::BitvecXor) => vec![
                Register::new("k1", index_width(n - m + 1), 0),
                Register::new("k2", bit, 0),
                Register::new("mask", m, 0),
            ],
            Configured::Hash(HashKind::BitwisePerm) => each(m, bit, &|i| i),
            Configured::Hash(HashKind::BitwiseXor) => each(m, 2 * bit, &|i| i),
            Configured::Hash(HashKind::Matrix) => each(m, n, &|i| 1 << i),
            Configured::Rap => each(1 << index_bits(n, m), m, &|_| 0),
            Configured::RowMap => each(g.row_bits(), index_width(m + 1), &|_| 0),
        }
    }

    /// What a write means.
    fn write_doc(self, g: Geometry) -> String {
        let bit = index_width(g.addr_bits);
        match self {
            Configured::Hash(HashKind::BitvecPerm) => "k".into(),
            Configured::Hash(HashKind::BitvecXor) => "index 0: k1, 1: k2, 2: mask".into(),
            Configured::Hash(HashKind::BitwisePerm) => "index i: address bit of bank bit i".into(),
            Configured::Hash(HashKind::BitwiseXor) => format!(
                "index i: address bits of bank bit i, the lower one in [{}:0], the upper one or 0 \
                 for none in [{}:{bit}]",
                bit - 1,
                2 * bit - 1
            ),
            Configured::Hash(HashKind::Matrix) => "index i: row mask of bank bit i".into(),
            Configured::Rap => "index i: shift r_i".into(),
            Configured::RowMap => {
                "index j: source of row bit j, 0 keeps addr[m+j], i+1 takes addr[i]".into()
            }
        }
    }
}

/// One configuration register.
#[derive(Clone, Debug, Serialize)]
struct Register {
    name: String,
    width: usize,
    reset: usize,
}

impl Register {
    fn new(name: impl Into<String>, width: usize, reset: usize) -> Self {
        Register {
            name: name.into(),
            width,
            reset,
        }
    }
}

/// What the template `spad_hash_config.v.tera` needs.
#[derive(Serialize)]
struct Shell {
    name: String,
    unit: String,
    ports: Vec<Port>,
    registers: Vec<Register>,
    index_width: usize,
    data_width: usize,
    /// Select lines per register, for the kinds with one decoder per register.
    lines: usize,
    /// Bits of one address-bit index.
    bit_width: usize,
}

/// Emits the configuration block of `kind` under the module name `name`,
/// with its decoder if it has one.
pub fn emit_unit(g: Geometry, kind: Configured, name: &str) -> Result<Vec<Module>> {
    let unit = kind.unit(g)?;
    let decoder = kind.decoder(g)?;
    let registers = kind.registers(g);
    let data_width = registers.iter().map(|r| r.width).max().unwrap_or(1);
    let write_index_width = index_width(registers.len());
    let mut ports = vec![
        Port::new("clk", Dir::In, 1, "clock"),
        Port::new("rst", Dir::In, 1, "synchronous reset: bank = addr mod 2^m"),
        Port::new("wr_en", Dir::In, 1, "write a register"),
    ];
    if write_index_width > 0 {
        let doc = "register to write; an index without a register writes nothing";
        ports.push(Port::new("wr_index", Dir::In, write_index_width, doc));
    }
    ports.push(Port::new(
        "wr_data",
        Dir::In,
        data_width,
        &kind.write_doc(g),
    ));
    let outputs: Vec<Port> = unit
        .ports
        .iter()
        .filter(|p| p.name.starts_with("cfg_"))
        .map(|p| Port::new(&p.name, Dir::Out, p.width, &format!("to {}", unit.doc.name)))
        .collect();
    let lines = outputs[0].width / registers.len();
    ports.extend(outputs);
    let doc = UnitDoc {
        name: name.into(),
        summary: format!(
            "configuration registers of {}, one block per SM, shared by all lanes. Write \
             before the kernel starts; a value without meaning selects nothing.",
            unit.doc.name
        ),
        parameters: g.parameters(),
        timing: "a write shows on cfg_* in the next cycle".into(),
        paper: unit.doc.paper,
        latency_cycles: 1,
    };
    let shell = Shell {
        name: name.into(),
        unit: unit.doc.name,
        ports: ports.clone(),
        registers,
        index_width: write_index_width,
        data_width,
        lines,
        bit_width: index_width(g.addr_bits),
    };
    let text = render("spad_hash_config.v.tera", &doc, &ports, &shell)?;
    let submodules = decoder.iter().map(|d| d.doc.name.clone()).collect();
    let config = Module {
        doc,
        ports,
        submodules,
        text,
    };
    Ok(decoder.into_iter().chain([config]).collect())
}
