//! The instructions of a plan, in the text.

use super::super::access::Access;
use super::super::code::{Arg, Op};
use super::super::region::Region;
use super::super::text;
use super::carry::Carry;
use super::narrow::Narrow;
use super::point::{Point, Points};
use super::{From, NewAddress, Node, Site};
use spadkit_ptx::analysis::ValueId;
use spadkit_ptx::ast::{Base, Function, Module, Operand, Register};
use spadkit_ptx::edit::Edits;
use std::collections::{BTreeMap, HashMap};

/// Writes instructions with new registers into one function.
pub(super) struct Emitter<'a> {
    module: &'a Module,
    index: u32,
    function: &'a Function,
    regions: &'a [Region],
    words: Names,
    doubles: Names,
    /// Registers with the address of a region, by its name.
    bases: BTreeMap<&'a str, String>,
    /// Registers with the address of a table, by its name.
    tables: BTreeMap<&'a str, String>,
    /// The register of each node.
    registers: Vec<String>,
}

/// Registers of one size that are free.
struct Names {
    prefix: String,
    count: u32,
}

impl Names {
    fn new(module: &Module, wanted: &str) -> Self {
        Names {
            prefix: text::free_name(module, wanted),
            count: 0,
        }
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("{}{}", self.prefix, self.count - 1)
    }

    /// The register that comes next.
    fn upcoming(&self) -> String {
        format!("{}{}", self.prefix, self.count)
    }
}

impl<'a> Emitter<'a> {
    pub fn new(module: &'a Module, index: u32, regions: &'a [Region]) -> Self {
        Emitter {
            module,
            index,
            function: &module.functions[index as usize],
            regions,
            words: Names::new(module, "%spad_r"),
            doubles: Names::new(module, "%spad_d"),
            bases: BTreeMap::new(),
            tables: BTreeMap::new(),
            registers: Vec::new(),
        }
    }

    /// A new register of 32 bits.
    pub fn fresh(&mut self) -> String {
        self.words.fresh()
    }

    fn name(&self, register: Register) -> &'a str {
        &self.function.registers[register.0 as usize].name
    }

    fn is_double(&self, register: Register) -> bool {
        self.function.registers[register.0 as usize].ty.bits() == 64
    }

    /// Puts the nodes at their points. With `share` the low half of an address
    /// is taken once for all nodes that need it.
    pub fn nodes(
        &mut self,
        points: &Points,
        nodes: &[Node],
        narrow: &Narrow,
        share: bool,
        edits: &mut Edits,
    ) {
        let mut lows: HashMap<ValueId, String> = HashMap::new();
        for node in nodes {
            if let From::Address {
                register, value, ..
            } = node.from
                && let Some(name) = narrow.name(register, value)
            {
                lows.insert(value, name.to_owned());
            }
        }
        if share {
            self.lows(points, nodes, &mut lows, edits);
        }
        for node in nodes {
            let mut lines = Vec::new();
            let result = match &node.from {
                From::Address {
                    register,
                    value,
                    add,
                } => {
                    let low = lows.get(value).map(String::as_str);
                    self.moved(node.region, (*register, *add), low, &mut lines)
                }
                From::Carried {
                    register,
                    add,
                    carry,
                } => {
                    let from = (node.region, *register, *add);
                    self.carried(points, from, carry, narrow, edits)
                }
                From::Xor { parent, mask } => {
                    let result = self.words.fresh();
                    let parent = &self.registers[*parent];
                    lines.push(format!("xor.b32 {result}, {parent}, {mask:#x};"));
                    result
                }
            };
            self.registers.push(result);
            self.insert(points, node.point, &lines, edits);
        }
    }

    /// A register that carries the mapped address through a loop: set where the loop is
    /// entered, and advanced where the address is.
    fn carried(
        &mut self,
        points: &Points,
        (region, register, add): (usize, Register, i64),
        carry: &Carry,
        narrow: &Narrow,
        edits: &mut Edits,
    ) -> String {
        let result = self.words.fresh();
        for (point, value) in &carry.entries {
            let mut lines = Vec::new();
            let low = narrow.name(register, *value);
            let place = self.moved(region, (register, add), low, &mut lines);
            lines.push(format!("mov.b32 {result}, {place};"));
            self.insert(points, *point, &lines, edits);
        }
        for point in &carry.steps {
            let line = format!("add.s32 {result}, {result}, {};", carry.step as i32);
            self.insert(points, *point, &[line], edits);
        }
        result
    }

    /// The mapped address of a register plus a constant; `low` is its low half, if that exists.
    fn moved(
        &mut self,
        region: usize,
        (register, add): (Register, i64),
        low: Option<&str>,
        lines: &mut Vec<String>,
    ) -> String {
        let mut input = match low {
            Some(low) => low.to_owned(),
            None => self.low(register, lines),
        };
        if add != 0 {
            let sum = self.words.fresh();
            lines.push(format!("add.s32 {sum}, {input}, {};", add as i32));
            input = sum;
        }
        self.mapped(region, &input, lines)
    }

    /// The low halves of addresses of 64 bits that several nodes need.
    fn lows(
        &mut self,
        points: &Points,
        nodes: &[Node],
        lows: &mut HashMap<ValueId, String>,
        edits: &mut Edits,
    ) {
        let mut needed: BTreeMap<ValueId, (Register, Vec<Point>)> = BTreeMap::new();
        for node in nodes {
            if let From::Address {
                register, value, ..
            } = node.from
                && self.is_double(register)
                && !lows.contains_key(&value)
            {
                let entry = needed.entry(value).or_insert((register, Vec::new()));
                entry.1.push(node.point);
            }
        }
        for (value, (register, at)) in needed {
            let several = at.len() > 1;
            let point = at.into_iter().reduce(|a, b| points.meet(a, b));
            if let Some(point) = point.filter(|p| several && points.holds(*p, register, value)) {
                let mut lines = Vec::new();
                let low = self.low(register, &mut lines);
                self.insert(points, point, &lines, edits);
                lows.insert(value, low);
            }
        }
    }

    /// The low 32 bits of a register.
    fn low(&mut self, register: Register, lines: &mut Vec<String>) -> String {
        let name = self.name(register).to_owned();
        if self.is_double(register) {
            let low = self.words.fresh();
            lines.push(format!("cvt.u32.u64 {low}, {name};"));
            low
        } else {
            name
        }
    }

    /// Maps the address in a register.
    fn mapped(&mut self, region: usize, input: &str, lines: &mut Vec<String>) -> String {
        let region = &self.regions[region];
        let (home, table) = (region.name.as_str(), region.table.as_str());
        let mut results: Vec<String> = Vec::new();
        for op in region.map.ops() {
            if op.args().contains(&Arg::Base) && !self.bases.contains_key(home) {
                let base = self.words.fresh();
                self.bases.insert(home, base);
            }
            let name = |arg: Arg| match arg {
                Arg::Input => input.to_owned(),
                Arg::Base => self.bases[home].clone(),
                Arg::Op(at) => results[at].clone(),
            };
            let mut entry = String::new();
            if let Op::Entry(row) = op {
                let row = name(*row);
                if !self.tables.contains_key(table) {
                    let register = self.address_register();
                    self.tables.insert(table, register);
                }
                entry = self.address_register();
                let form = if self.wide() {
                    "mad.wide.u32"
                } else {
                    "mad.lo.u32"
                };
                lines.push(format!("{form} {entry}, {row}, 4, {};", self.tables[table]));
            }
            let name = |arg: Arg| match arg {
                Arg::Input => input.to_owned(),
                Arg::Base => self.bases[home].clone(),
                Arg::Op(at) => results[at].clone(),
            };
            let to = self.words.upcoming();
            let line = op.ptx(&to, name, &entry);
            self.words.count += 1;
            lines.push(line);
            results.push(to);
        }
        results.pop().unwrap_or_else(|| input.to_owned())
    }

    fn wide(&self) -> bool {
        self.module.address_size == 64
    }

    fn address_register(&mut self) -> String {
        if self.wide() {
            self.doubles.fresh()
        } else {
            self.words.fresh()
        }
    }

    fn insert(&self, points: &Points, point: Point, lines: &[String], edits: &mut Edits) {
        let instructions = &self.function.instructions;
        if points.is_end(point) {
            let last = &instructions[point.at as usize - 1];
            for line in lines {
                edits.insert(last.span.end, format!("\n\t{line}"));
            }
        } else {
            let next = &instructions[point.at as usize];
            edits.insert_lines(&self.module.text, next.span.start, lines);
        }
    }

    /// Gives an access its new address.
    pub fn access(&self, site: &Site, address: &NewAddress, narrow: &Narrow, edits: &mut Edits) {
        let (name, offset) = match address {
            NewAddress::Node(node, offset) => (self.registers[*node].as_str(), *offset),
            NewAddress::Same(register, offset) => {
                let word = narrow.name(*register, site.value);
                (word.unwrap_or(self.name(*register)), *offset)
            }
        };
        let text = match offset {
            0 => format!("[{name}]"),
            offset => format!("[{name}+{offset}]"),
        };
        self.replace(site.at, site.operand, text, edits);
    }

    /// An access of a variable at a constant offset.
    pub fn constant(&self, access: &Access, region: usize, offset: i64, edits: &mut Edits) {
        let region = &self.regions[region];
        let text = match region.map.place(offset).unwrap_or(offset) {
            0 => format!("[{}]", region.name),
            place => format!("[{}+{place}]", region.name),
        };
        self.replace(access.at, access.operand, text, edits);
    }

    /// An access by a generic address of shared memory: mapped as an address
    /// in shared memory, and made generic again.
    pub fn generic(&mut self, access: &Access, region: usize, edits: &mut Edits) {
        let i = &self.function.instructions[access.at as usize];
        let Operand::Address(Base::Register(register), offset) = i.operands[access.operand] else {
            return;
        };
        let name = self.name(register).to_owned();
        let (bits, wide) = (self.module.address_size, self.wide());
        let own = self.address_register();
        let mut lines = vec![format!("cvta.to.shared.u{bits} {own}, {name};")];
        let mut input = own;
        if wide {
            let low = self.words.fresh();
            lines.push(format!("cvt.u32.u64 {low}, {input};"));
            input = low;
        }
        if offset != 0 {
            let sum = self.words.fresh();
            lines.push(format!("add.s32 {sum}, {input}, {offset};"));
            input = sum;
        }
        let mut result = self.mapped(region, &input, &mut lines);
        if wide {
            let whole = self.doubles.fresh();
            lines.push(format!("cvt.u64.u32 {whole}, {result};"));
            result = whole;
        }
        let generic = self.address_register();
        lines.push(format!("cvta.shared.u{bits} {generic}, {result};"));
        edits.insert_lines(&self.module.text, i.span.start, &lines);
        self.replace(access.at, access.operand, format!("[{generic}]"), edits);
    }

    fn replace(&self, at: u32, operand: usize, new: String, edits: &mut Edits) {
        let i = &self.function.instructions[at as usize];
        let spans = text::operand_spans(self.module, i.span);
        if spans[operand].of(&self.module.text) != new {
            edits.replace(spans[operand], new);
        }
    }

    /// Declares the registers that were used, and fills those that stay the
    /// same.
    pub fn declare(&self, edits: &mut Edits) {
        let Some(start) = text::body_start(self.module, self.index) else {
            return;
        };
        for (names, ty) in [(&self.words, "b32"), (&self.doubles, "b64")] {
            if names.count > 0 {
                let text = format!("\n\t.reg .{ty} {}<{}>;", names.prefix, names.count);
                edits.insert(start, text);
            }
        }
        let bits = self.module.address_size;
        let bases = self.bases.iter();
        let bases = bases.map(|(name, register)| format!("mov.u32 {register}, {name};"));
        let tables = self.tables.iter();
        let tables = tables.map(|(name, register)| format!("mov.u{bits} {register}, {name};"));
        for line in bases.chain(tables) {
            edits.insert(start, format!("\n\t{line}"));
        }
    }
}
