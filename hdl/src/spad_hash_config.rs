//! The configuration registers of a hash unit: one block per SM, shared by all
//! lanes. The registers hold the compact configuration; the select lines are
//! decoded here, off the path of every access.

use crate::configured::{Decoder, Register, index_width};
use crate::geometry::Geometry;
use crate::hashes::Configured;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::template::render;
use serde::Serialize;

/// What the template `spad_hash_config.v.tera` needs.
#[derive(Serialize)]
struct Shell {
    name: String,
    ports: Vec<Port>,
    registers: Vec<Register>,
    index_width: usize,
    data_width: usize,
    decoders: Vec<Instance>,
    /// Outputs that are registers.
    outputs: Vec<Connection>,
}

/// A decoder beside the registers.
#[derive(Serialize)]
struct Instance {
    module: String,
    name: String,
    connections: Vec<Connection>,
}

/// A port, or a part of one, and what it is connected to.
#[derive(Serialize)]
struct Connection {
    port: String,
    signal: String,
}

impl Connection {
    fn new(port: &str, signal: &str) -> Self {
        Connection {
            port: port.into(),
            signal: signal.into(),
        }
    }
}

/// The registers, and the unit's ports that they drive.
struct Block<'a> {
    registers: &'a [Register],
    outputs: &'a [Port],
}

impl Block<'_> {
    /// The part of the unit's port that register `i` alone sets.
    fn part(&self, i: usize) -> String {
        let lines = self.outputs[0].width / self.registers.len();
        format!("{}[{} +: {lines}]", self.outputs[0].name, i * lines)
    }

    fn decoders(&self, decoder: &Decoder) -> Vec<Instance> {
        match decoder {
            Decoder::None => Vec::new(),
            Decoder::Whole(module) => vec![Instance {
                module: module.doc.name.clone(),
                name: "decode".into(),
                connections: (module.ports.iter())
                    .map(|port| Connection::new(&port.name, &port.name))
                    .collect(),
            }],
            Decoder::Each(module) => (0..self.registers.len())
                .map(|i| Instance {
                    module: module.doc.name.clone(),
                    name: format!("decode{i}"),
                    connections: self.fields(module, i),
                })
                .collect(),
        }
    }

    /// The ports of the decoder of register `i`.
    fn fields(&self, decoder: &Module, i: usize) -> Vec<Connection> {
        let Register { name, width, .. } = &self.registers[i];
        let mut low = 0;
        let signal = |port: &Port| match port.dir {
            Dir::Out => self.part(i),
            Dir::In if port.width == *width => name.clone(),
            Dir::In => {
                low += port.width;
                format!("{name}[{}:{}]", low - 1, low - port.width)
            }
        };
        let signals: Vec<String> = decoder.ports.iter().map(signal).collect();
        let ports = decoder.ports.iter().zip(&signals);
        ports
            .map(|(port, signal)| Connection::new(&port.name, signal))
            .collect()
    }

    /// The outputs where there is no decoder.
    fn plain(&self, decoder: &Decoder) -> Vec<Connection> {
        let own = |i| Connection::new(&self.part(i), &self.registers[i].name);
        match decoder {
            Decoder::None => (0..self.registers.len()).map(own).collect(),
            Decoder::Whole(_) | Decoder::Each(_) => Vec::new(),
        }
    }
}

/// Emits the configuration block of `of` under the module name `name`, with its
/// decoder if it has one.
pub fn emit_unit(g: Geometry, of: Configured, name: &str) -> Result<Vec<Module>> {
    let rtl = of.rtl();
    let unit = rtl.emit(g)?;
    let decoder = rtl.decoder(g)?;
    let registers = rtl.registers(g);
    let data_width = registers.iter().map(|r| r.width).max().unwrap_or(1);
    let write_index_width = index_width(registers.len());
    let outputs: Vec<Port> = unit
        .ports
        .iter()
        .filter(|p| p.name.starts_with("cfg_"))
        .map(|p| Port::new(&p.name, Dir::Out, p.width, &format!("to {}", unit.doc.name)))
        .collect();
    let block = Block {
        registers: &registers,
        outputs: &outputs,
    };
    let (decoders, plain) = (block.decoders(&decoder), block.plain(&decoder));
    let mut ports = write_ports(write_index_width, data_width, &rtl.write_doc(g));
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
        ports: ports.clone(),
        registers,
        index_width: write_index_width,
        data_width,
        decoders,
        outputs: plain,
    };
    let text = render("spad_hash_config.v.tera", &doc, &ports, &shell)?;
    let decoder = decoder.into_module();
    let submodules = decoder.iter().map(|d| d.doc.name.clone()).collect();
    let config = Module {
        doc,
        ports,
        submodules,
        text,
    };
    Ok(decoder.into_iter().chain([config]).collect())
}

fn write_ports(index_width: usize, data_width: usize, meaning: &str) -> Vec<Port> {
    let mut ports = vec![
        Port::new("clk", Dir::In, 1, "clock"),
        Port::new("rst", Dir::In, 1, "synchronous reset: bank = addr mod 2^m"),
        Port::new("wr_en", Dir::In, 1, "write a register"),
    ];
    if index_width > 0 {
        let doc = "register to write; an index without a register writes nothing";
        ports.push(Port::new("wr_index", Dir::In, index_width, doc));
    }
    ports.push(Port::new("wr_data", Dir::In, data_width, meaning));
    ports
}
