//! From the operands in EX to banks, rows and locks of the lanes.

use crate::hashed_lanes::{HashedLanes, Lanes};
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::unit::Unit;

/// The unit behind its parts, and the ports that write its configuration.
pub(crate) struct HashStage {
    pub modules: Vec<Module>,
    pub writes: Vec<Port>,
}

/// Emits `spad_hash_stage`.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<HashStage> {
    let lanes = HashedLanes::new(p, machine)?;
    let staged = p.H == 1;
    let u = Unit::new(UnitDoc {
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
    });
    let [l, n, m, r, lk] = u.sizes(p, ["L", "n", "m", "R", "LK"]);
    let [d, ctl, be] = u.sizes(p, ["D", "CTL", "BE"]);
    let clocks = u.clocked();
    let writing = lanes.write_ports(&u, clocks);
    let cfg_lock_hash = u.input("cfg_lock_hash", 2, "0 none, 1 XOR, 2 ADD");
    let in_valid = u.input("in_valid", 1, "a pass is offered");
    let in_ready = u.output(
        "in_ready",
        1,
        "the input is accepted at the end of this cycle",
    );
    let about = "its control: last, pass, pc, tag, kind, warp, from the top";
    let in_ctl = u.input("in_ctl", ctl, about);
    let in_mask = u.input("in_mask", l, "active lanes");
    let in_addr = u.input("in_addr", l * n, "word address, n bits per lane");
    let in_data = u.input("in_data", l * d, "data, D bits per lane");
    let in_be = u.input("in_be", l * be, "byte enables, BE bits per lane");
    let in_aop = u.input("in_aop", 4, "operation of an atomic");
    let out_valid = u.output("out_valid", 1, "a pass is offered");
    let out_ready = u.input("out_ready", 1, "the output is accepted");
    let out_ctl = u.output("out_ctl", ctl, "control of the pass shown");
    let out_mask = u.output("out_mask", l, "active lanes");
    let bank = u.output("out_bank", l * m, "bank, m bits per lane");
    let row = u.output("out_row", l * r, "row, R bits per lane");
    let lock = u.output("out_lock", l * lk, "lock, LK bits per lane");
    let out_data = u.output("out_data", l * d, "data, D bits per lane");
    let out_be = u.output("out_be", l * be, "byte enables, BE bits per lane");
    let out_aop = u.output("out_aop", 4, "operation of an atomic");
    let about = "a pass is in the hash stage";
    let hx_valid = if staged {
        u.output_register("hx_valid", 1, about).reset(0)
    } else {
        u.output("hx_valid", 1, &format!("{about}: never, with H = 0"))
    };
    for clock in clocks {
        u.unused(
            !staged && !lanes.has_registers(),
            clock,
            "nothing is stored here",
        );
    }

    let pass = [in_ctl, in_mask, in_addr, in_data, in_be, in_aop];
    let shown = if staged {
        u.section("The hash has a stage of its own, behind this register.");
        let held = pass.map(|port| {
            let name = port.name.replacen("in", "hx", 1);
            u.register(&name, port.width).covered_by(hx_valid)
        });
        u.assign(in_ready, !hx_valid | out_ready);
        u.at_clock().when(in_ready).next(hx_valid, in_valid);
        u.about("No reset: `hx_valid_q` covers it.");
        let taken = u.at_clock().when(in_ready);
        let moves = held.into_iter().zip(pass);
        moves.fold(taken, |taken, (held, port)| taken.next(held, port));
        u.assign(out_valid, hx_valid);
        held
    } else {
        u.section("The hash is in EX: what comes in goes on in the same cycle.");
        u.assign(in_ready, out_ready);
        u.assign(hx_valid, 0);
        u.assign(out_valid, in_valid);
        pass
    };
    let [ctl, mask, addr, data, be, aop] = shown;
    u.assign(out_ctl, ctl);
    u.assign(out_mask, mask);
    u.assign(out_data, data);
    u.assign(out_be, be);
    u.assign(out_aop, aop);

    let lock_hash = cfg_lock_hash.into();
    let places = Lanes {
        valid: if staged { hx_valid } else { in_valid },
        lock_hash,
        addr,
        bank,
        row,
        lock,
    };
    lanes.instances(&u, p, &writing, places);
    let writes = lanes.writes();
    let module = u.emit()?;
    let modules = lanes.into_modules().chain([module]).collect();
    Ok(HashStage { modules, writes })
}
