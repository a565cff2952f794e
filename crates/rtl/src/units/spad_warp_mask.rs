//! The mask of memory warps: lookups that hit, a pipeline that is held.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::held;
use super::support::{ports, reset};
use crate::model::{HistoryOutputs, MaskInputs, MemoryWarpMask};

ports!(MaskPorts {
    in rst clear set_valid set_base lk_hit lk_excess lk_heavy lk_heavier hold;
    out mask lasts;
});

#[derive(Clone)]
struct GoldenMask {
    ports: MaskPorts,
    model: MemoryWarpMask,
}

struct MaskDriver {
    ports: MaskPorts,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = MaskPorts::new(setup.layout);
    let golden = GoldenMask {
        ports: ports.clone(),
        model: MemoryWarpMask::new(setup.config.path.ahead),
    };
    let driver = MaskDriver { ports };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for MaskDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        let often = if stimulus.cycle & 0x100 == 0 { 4 } else { 32 };
        frame.drive(&p.set_valid, stimulus.one_in(often).into());
        frame.drive(&p.set_base, stimulus.wide(p.set_base.width) as u32);
        frame.drive(&p.clear, stimulus.one_in(128).into());
        frame.drive(&p.lk_hit, stimulus.one_in(2).into());
        frame.drive(&p.lk_heavy, stimulus.one_in(2).into());
        frame.drive(&p.lk_heavier, stimulus.one_in(2).into());
        frame.drive(&p.lk_excess, stimulus.wide(p.lk_excess.width) as u32);
        frame.drive(&p.hold, held(stimulus).into());
    }
}

impl Golden for GoldenMask {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let base = frame.driven(&p.set_base);
        let out = self.model.step(&MaskInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            set: frame.is_high(&p.set_valid).then_some(base),
            history: HistoryOutputs {
                done: true,
                hit: frame.is_high(&p.lk_hit),
                excess: frame.driven(&p.lk_excess),
            },
            heavy: frame.is_high(&p.lk_heavy),
            heavier: frame.is_high(&p.lk_heavier),
            hold: frame.is_high(&p.hold),
        });
        frame.expect(&p.mask, out.mask.into());
        frame.expect(&p.lasts, out.lasts.into());
    }
}
