//! Hash stage: from the operands in EX to banks, rows and locks of the lanes.

use crate::hashed_lanes::{HashedLanes, Lanes, Writing};
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::signal::Signal;
use crate::unit::UnitBuilder;

/// The unit, its parts first, and the ports that write its configuration.
pub(crate) struct HashStage {
    pub modules: Vec<Module>,
    pub writes: Vec<Port>,
}

/// Emits `spad_hash_stage`.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<HashStage> {
    let lanes = HashedLanes::new(p, machine)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p, &lanes);
    let shown = match p.H {
        0 => in_ex(&u, &io),
        _ => in_a_stage(&u, &io),
    };
    let [ctl, mask, addr, data, be, aop] = shown;
    u.assign(io.out_ctl, ctl);
    u.assign(io.out_mask, mask);
    u.assign(io.out_data, data);
    u.assign(io.out_be, be);
    u.assign(io.out_aop, aop);
    let places = Lanes {
        valid: match p.H {
            0 => io.in_valid,
            _ => io.hx_valid,
        },
        lock_hash: io.cfg_lock_hash.into(),
        addr,
        bank: io.bank,
        row: io.row,
        lock: io.lock,
    };
    lanes.instances(&u, p, &io.writing, places);
    let writes = lanes.writes();
    let module = u.emit()?;
    let modules = lanes.into_modules().chain([module]).collect();
    Ok(HashStage { modules, writes })
}

/// The ports, by their names.
struct Ports {
    writing: Writing,
    cfg_lock_hash: Signal,
    in_valid: Signal,
    in_ready: Signal,
    /// Control, mask, addresses, data, byte enables, operation.
    pass: [Signal; 6],
    out_valid: Signal,
    out_ready: Signal,
    out_ctl: Signal,
    out_mask: Signal,
    bank: Signal,
    row: Signal,
    lock: Signal,
    out_data: Signal,
    out_be: Signal,
    out_aop: Signal,
    hx_valid: Signal,
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params, lanes: &HashedLanes) -> Self {
        let [l, n, m, r, lk] = u.sizes(p, ["L", "n", "m", "R", "LK"]);
        let [d, ctl, be] = u.sizes(p, ["D", "CTL", "DB"]);
        let clocks = u.clocked();
        let ready = "an input would be accepted at the end of this cycle";
        let control = "its control: last, pass, pc, tag, kind, warp, from the top";
        let enables = "byte enables, DB bits per lane";
        let held = "a pass is in the hash stage";
        let io = Ports {
            writing: lanes.write_ports(u, clocks),
            cfg_lock_hash: u.input("cfg_lock_hash", 2, "0 none, 1 XOR, 2 ADD"),
            in_valid: u.input("in_valid", 1, "a pass is offered"),
            in_ready: u.output("in_ready", 1, ready),
            pass: [
                u.input("in_ctl", ctl, control),
                u.input("in_mask", l, "active lanes"),
                u.input("in_addr", l * n, "word address, n bits per lane"),
                u.input("in_data", l * d, "data, D bits per lane"),
                u.input("in_be", l * be, enables),
                u.input("in_aop", 4, "operation of an atomic"),
            ],
            out_valid: u.output("out_valid", 1, "a pass is offered"),
            out_ready: u.input("out_ready", 1, "an output would be accepted"),
            out_ctl: u.output("out_ctl", ctl, "control of the pass shown"),
            out_mask: u.output("out_mask", l, "active lanes"),
            bank: u.output("out_bank", l * m, "bank, m bits per lane"),
            row: u.output("out_row", l * r, "row, R bits per lane"),
            lock: u.output("out_lock", l * lk, "lock, LK bits per lane"),
            out_data: u.output("out_data", l * d, "data, D bits per lane"),
            out_be: u.output("out_be", l * be, enables),
            out_aop: u.output("out_aop", 4, "operation of an atomic"),
            hx_valid: match p.H {
                0 => u.output("hx_valid", 1, &format!("{held}: never, with H = 0")),
                _ => u.output_register("hx_valid", 1, held).reset(0),
            },
        };
        let stores_nothing = p.H == 0 && !lanes.has_registers();
        for clock in clocks {
            u.unused(stores_nothing, clock, "nothing is stored here");
        }
        io
    }
}

/// H = 0: the lanes hash the pass at the input.
fn in_ex(u: &UnitBuilder, io: &Ports) -> [Signal; 6] {
    u.section("The hash is in EX: what comes in goes on in the same cycle.");
    u.assign(io.in_ready, io.out_ready);
    u.assign(io.hx_valid, 0);
    u.assign(io.out_valid, io.in_valid);
    io.pass
}

/// H = 1: it is the one in the stage's register.
fn in_a_stage(u: &UnitBuilder, io: &Ports) -> [Signal; 6] {
    u.section("The hash has a stage of its own, after this register.");
    let held = io.pass.map(|port| {
        let name = port.name.replacen("in", "hx", 1);
        u.register(&name, port.width).covered_by(io.hx_valid)
    });
    u.assign(io.in_ready, !io.hx_valid | io.out_ready);
    u.at_clock()
        .when(io.in_ready)
        .next(io.hx_valid, io.in_valid);
    let taken = u.at_clock().when(io.in_ready);
    let moves = held.into_iter().zip(io.pass);
    moves.fold(taken, |taken, (held, port)| taken.next(held, port));
    u.assign(io.out_valid, io.hx_valid);
    held
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_hash_stage".into(),
        summary: "bank, row and lock of every lane's address, with the registers that configure \
                  the hash; with H = 1 in a pipeline stage of its own."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "R", "LK", "H"]),
        timing: match p.H {
            0 => "combinational; cfg_* and the configuration are static while a kernel runs",
            _ => "one cycle; cfg_* and the configuration are static while a kernel runs",
        }
        .into(),
        paper: "hash paper, section 4; microarchitecture/hash-stage.md".into(),
        latency_cycles: p.H as u32,
    }
}
