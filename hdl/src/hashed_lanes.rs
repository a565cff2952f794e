//! The hash of all lanes with its configuration registers: in the path and
//! behind the buses.

use crate::codes::lock_hash;
use crate::independent::independent;
use crate::machine::Machine;
use crate::module::{Dir, Module, Port, Result, Vector, top};
use crate::params::Params;
use crate::signal::{Bits, Expr, Operand, Signal, code, concat, same};
use crate::spad_lane_hash;
use crate::unit::{Index, UnitBuilder};
use spadkit_names::PathHash;

/// The hash of all lanes.
pub(crate) struct HashedLanes {
    /// The modules of a lane: first those that it instantiates, its own last.
    lane: Vec<Module>,
    configs: Vec<ConfigBlock>,
    /// The mapping is a matrix in registers.
    linear: bool,
}

/// A block of configuration registers.
struct ConfigBlock {
    /// The modules of the block: first those that it instantiates, its own last.
    modules: Vec<Module>,
    /// Prefix of its write ports.
    prefix: &'static str,
    writes: Vec<Port>,
    outputs: Vec<Port>,
    /// Reset value of the block, as a parameter of the unit that contains it.
    reset: Vec<Vector>,
}

/// The clocks and write ports of the configuration registers.
pub(crate) struct Writing {
    clocks: [Signal; 2],
    /// The ports of all blocks.
    ports: Vec<Signal>,
    /// The reset values of all blocks.
    resets: Vec<Signal>,
}

/// The signals of all lanes, side by side.
pub(crate) struct Lanes {
    /// The addresses are those of an access.
    pub valid: Signal,
    pub lock_hash: Operand,
    pub addr: Signal,
    pub bank: Signal,
    pub row: Signal,
    pub lock: Signal,
}

impl ConfigBlock {
    fn new(prefix: &'static str, modules: Vec<Module>) -> Self {
        let ports = |dir: Dir, start: &str| {
            let wanted = |q: &&Port| q.dir == dir && q.name.starts_with(start);
            top(&modules).ports.iter().filter(wanted).cloned().collect()
        };
        let renamed = |vector: &Vector| Vector {
            name: format!("{}_{}", prefix.to_uppercase(), vector.name),
            doc: format!(
                "after a reset, the registers that {prefix}_wr_* writes, 0 in the low bits"
            ),
            ..vector.clone()
        };
        ConfigBlock {
            prefix,
            writes: ports(Dir::In, "wr_"),
            outputs: ports(Dir::Out, "cfg_"),
            reset: top(&modules).vectors.iter().map(renamed).collect(),
            modules,
        }
    }

    /// A port of the unit that writes it.
    fn write(&self, port: &Port) -> Port {
        Port {
            name: format!("{}_{}", self.prefix, port.name),
            ..port.clone()
        }
    }

    /// Instantiates the block, with `writes` as its write ports; returns its outputs.
    fn instance(
        &self,
        u: &UnitBuilder,
        clocks: [Signal; 2],
        writes: &[Signal],
        reset: &[Signal],
    ) -> Vec<Signal> {
        let selects = self.outputs.iter().map(|q| u.wire(&q.name, q.width));
        let selects: Vec<Signal> = selects.collect();
        let name = format!("{}_config", self.prefix);
        let block = u.instance(top(&self.modules), &name);
        let block = block.vectors(reset).same(clocks);
        let own = self.writes.iter().zip(writes);
        let block = own.fold(block, |block, (port, write)| block.port(&port.name, *write));
        block.same(selects.iter().copied()).done();
        selects
    }
}

impl HashedLanes {
    pub(crate) fn new(p: &Params, machine: &Machine) -> Result<Self> {
        let hash = spad_lane_hash::emit_helper(p, machine)?;
        let blocks = hash.configs.into_iter();
        Ok(HashedLanes {
            lane: hash.modules,
            configs: blocks
                .map(|(prefix, own)| ConfigBlock::new(prefix, own))
                .collect(),
            linear: machine.path_hash == PathHash::Configurable,
        })
    }

    /// The ports that write the configuration registers.
    pub(crate) fn writes(&self) -> Vec<Port> {
        let of = |block: &'_ ConfigBlock| -> Vec<Port> {
            block.writes.iter().map(|port| block.write(port)).collect()
        };
        self.configs.iter().flat_map(of).collect()
    }

    /// Declares these ports, and the parameters with what the registers are reset
    /// to.
    pub(crate) fn write_ports(&self, u: &UnitBuilder, clocks: [Signal; 2]) -> Writing {
        let ports = self.writes().into_iter();
        let ports = ports.map(|q| u.input(&q.name, q.width, &q.doc)).collect();
        let resets = self.configs.iter().flat_map(|block| &block.reset);
        let resets = resets.map(|vector| u.vector(vector)).collect();
        Writing {
            clocks,
            ports,
            resets,
        }
    }

    /// Asserts that the registers are written in idle cycles.
    pub(crate) fn writes_are_idle(
        &self,
        u: &UnitBuilder,
        writing: &Writing,
        idle: impl Into<Expr>,
        message: &'static str,
    ) {
        let enables = writing
            .ports
            .iter()
            .filter(|port| port.name.ends_with("_wr_en"));
        if let Some(any) = enables.map(|port| Expr::from(*port)).reduce(|a, b| a | b) {
            u.property("writes_idle", any, idle, message);
        }
    }

    /// Whether any block has a clock.
    pub(crate) fn has_registers(&self) -> bool {
        !self.configs.is_empty()
    }

    /// The registers, and the hash of each lane in a loop; its index.
    pub(crate) fn instances(
        &self,
        u: &UnitBuilder,
        p: &Params,
        writing: &Writing,
        lanes: Lanes,
    ) -> Index {
        let [l, n, m, r, lk] = u.sizes(p, ["L", "n", "m", "R", "LK"]);
        u.section("Bank, row and lock of each lane.");
        let mut selects = Vec::new();
        let (mut ports, mut resets) = (&*writing.ports, &*writing.resets);
        for block in &self.configs {
            let (own, others) = ports.split_at(block.writes.len());
            let (reset, other_resets) = resets.split_at(block.reset.len());
            selects.extend(block.instance(u, writing.clocks, own, reset));
            (ports, resets) = (others, other_resets);
        }
        let [index] = u.indices(["i"]);
        u.generate(|| {
            u.each("lane", index, (0, l), |i| {
                u.instance(top(&self.lane), "hash")
                    .same(selects.iter().copied())
                    .port("cfg_lock_hash", lanes.lock_hash)
                    .port("addr", lanes.addr.part(i * n, n))
                    .port("bank", lanes.bank.part(i * m, m))
                    .port("row", lanes.row.part(i * r, r))
                    .port("lock", lanes.lock.part(i * lk, lk))
                    .done();
            });
        });
        if self.linear {
            u.assertions(|| self.mapping_is_legal(u, p, &selects, lanes.valid));
        }
        index
    }

    /// The mapping is linear: no two addresses share a word if and only if the
    /// bank and row of the addresses with one bit set are linearly independent.
    fn mapping_is_legal(&self, u: &UnitBuilder, p: &Params, selects: &[Signal], valid: Signal) {
        let [n, m, r, lk] = u.sizes(p, ["n", "m", "R", "LK"]);
        u.about(
            "The mapping is linear: no two addresses share a word if and only if the places \
             of the addresses with one bit are independent. Hence a lane for each bit.",
        );
        let place = u.size("PLACE", m + r);
        let places = u.wire("places", n * place);
        let [address, bit] = u.indices(["a", "c"]);
        u.generate(|| {
            u.each("mapped", address, (0, n), |a| {
                let one_bit = u.wire("one_bit", n);
                u.each("of", bit, (0, n), |c| {
                    u.assign(one_bit.at(c), same(c, a));
                });
                let bank = u.wire("its_bank", m);
                let row = u.wire("its_row", r);
                let lock = u.wire_in_part("its_lock", lk, "locks are hashed by themselves");
                u.instance(top(&self.lane), "hash")
                    .same(selects.iter().copied())
                    .port("cfg_lock_hash", code(&lock_hash::FIELD, lock_hash::NONE))
                    .port("addr", one_bit)
                    .port("bank", bank)
                    .port("row", row)
                    .port("lock", lock)
                    .done();
                let both = concat([row, bank].map(Into::into));
                u.assign(places.part(a * place, place), both.of_width(place));
            });
        });
        let legal = independent(u, places, n, place);
        u.property(
            "mapping_legal",
            valid,
            legal,
            "the registers put two addresses on one word",
        );
    }

    /// The modules, each after the modules that it instantiates.
    pub(crate) fn into_modules(self) -> impl Iterator<Item = Module> {
        let blocks = self.configs.into_iter().map(|block| block.modules);
        [self.lane].into_iter().chain(blocks).flatten()
    }
}
