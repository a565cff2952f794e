//! The end of the memory path: responses to results.

use super::access_tag::{TagLayout, join};
use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::support::{Rhythm, ports, reset};
use crate::model::kind;
use crate::model::spad_scratchpad::ResponseControl;
use crate::model::{AccessTag, ExitInputs, MemoryExit, PassResult};

ports!(ExitPorts {
    in rst resp_valid resp_mask resp_tag resp_data resp_success resp_error resp_degree out_ready;
    out resp_ready sr_valid resolved_valid resolved_occ resolved_last resolved_pc out_valid out_data;
});

struct GoldenExit {
    ports: ExitPorts,
    /// Occupied stages, if any.
    mem_valid: Option<PortSlot>,
    model: MemoryExit,
    tags: TagLayout,
    /// Data of the results under way, by slot, where there are stages.
    data: Vec<Vec<u32>>,
    slot: u8,
}

struct ExitDriver {
    ports: ExitPorts,
    offer: Rhythm,
    ready: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = ExitPorts::new(setup.layout);
    let mut outputs = setup.layout.outputs.iter();
    let mem_valid = outputs.find(|slot| slot.name == "mem_valid").cloned();
    let config = setup.config.clone();
    let driver = ExitDriver {
        ports: ports.clone(),
        offer: Rhythm::default(),
        ready: Rhythm::default(),
    };
    let power_up = move || GoldenExit {
        ports: ports.clone(),
        mem_valid: mem_valid.clone(),
        model: MemoryExit::new(&config),
        tags: TagLayout::of(&config),
        data: vec![vec![0; ports.resp_data.words]; 256],
        slot: 0,
    };
    Box::new(DrivenBench::new(setup, driver, power_up))
}

impl Driver for ExitDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        let offered = self.offer.beat(stimulus);
        let choice = stimulus.bits();
        // Rarely the sequencer's: it is always taken.
        let source = u64::from(choice & 3 == 0);
        let tag = stimulus.word(p.resp_tag.width) >> 1 << 1 | source;
        frame.drive(&p.resp_valid, offered.into());
        frame.drive_bits(&p.resp_tag, tag.into());
        frame.drive_any(&p.resp_mask, stimulus);
        frame.drive_any(&p.resp_success, stimulus);
        frame.drive_some(&p.resp_data, stimulus);
        frame.drive(&p.resp_error, (choice >> 2 & 3 == 0).into());
        frame.drive_any(&p.resp_degree, stimulus);
        frame.drive(&p.out_ready, self.ready.beat(stimulus).into());
    }
}

impl GoldenExit {
    /// The response at the ports, with its data in a slot.
    fn response(&self, frame: &Frame) -> ResponseControl<AccessTag> {
        let p = &self.ports;
        let mut tag = self.tags.tag(frame.driven_mask(&p.resp_tag));
        tag.pass.slot = self.slot;
        ResponseControl {
            valid: frame.is_high(&p.resp_valid),
            op: 0,
            mask: frame.driven_mask(&p.resp_mask),
            tag,
            success: frame.driven_mask(&p.resp_success),
            error: frame.is_high(&p.resp_error),
            degree: frame.driven(&p.resp_degree),
        }
    }

    /// The result for a response; without stages it is at the output whether or
    /// not the response is valid.
    fn shown(&self, inputs: &ExitInputs) -> PassResult {
        let mut shown = *inputs;
        (shown.resp.valid, shown.resp.tag.sequencer) = (true, false);
        self.model.eval(&shown).out.unwrap_or_default()
    }

    /// Expects the payload of microarchitecture/writeback-mux.md; its data are
    /// those of the response that is driven, or of an earlier one.
    fn expect_payload(&self, frame: &mut Frame, result: &PassResult) {
        let (w, c, p) = (self.tags, &result.control, &self.ports);
        let front = join(&[
            (w.warp, c.warp.into()),
            (w.tag, c.tag.into()),
            (4, c.kind.into()),
            (w.pass, c.pass.into()),
            (1, c.last.into()),
        ]);
        let behind = join(&[(1, result.error.into()), (w.degree, result.degree.into())]);
        let lanes = p.resp_mask.width;
        let (mut record, driven) = frame.expected_record(&p.out_data, &p.resp_data);
        record.push(w.warp + w.tag + 4 + w.pass + 1, front);
        record.push(lanes, result.mask);
        record.push_words(if result.slot == self.slot {
            driven
        } else {
            &self.data[usize::from(result.slot)]
        });
        record.push(lanes, result.success);
        record.push(1 + w.degree, behind);
        record.finish();
    }
}

impl Golden for GoldenExit {
    fn respond(&mut self, frame: &mut Frame) {
        let resp = self.response(frame);
        if self.mem_valid.is_some() {
            let at = &self.ports.resp_data;
            self.data[usize::from(self.slot)].copy_from_slice(frame.driven_words(at));
        }
        let inputs = ExitInputs {
            rst: frame.is_high(&self.ports.rst),
            resp,
            out_ready: frame.is_high(&self.ports.out_ready),
        };
        let control = &resp.tag.pass.control;
        // Kinds without a prediction are treated like the nearest kind that has one.
        let predicted = control.kind.clamp(kind::LOAD, kind::STUL);
        let occupancy = self.model.occupancy(predicted, resp.degree);
        let out = self.model.step(&inputs);
        let p = &self.ports;
        frame.expect(&p.resp_ready, out.resp_ready.into());
        frame.expect(&p.sr_valid, out.sr_valid.into());
        frame.expect(&p.resolved_valid, out.resolved.is_some().into());
        frame.expect(&p.resolved_occ, occupancy);
        frame.expect(&p.resolved_last, control.last.into());
        frame.expect(&p.resolved_pc, control.pc.into());
        frame.expect(&p.out_valid, out.out.is_some().into());
        match (out.out, &self.mem_valid) {
            (Some(result), _) => self.expect_payload(frame, &result),
            (None, Some(_)) => frame.ignore(&p.out_data),
            (None, None) => self.expect_payload(frame, &self.shown(&inputs)),
        }
        if let Some(mem_valid) = &self.mem_valid {
            frame.expect(mem_valid, out.mem_valid);
        }
        // A slot is used again long after its result has gone.
        if resp.valid && out.resp_ready && !out.sr_valid {
            self.slot = self.slot.wrapping_add(1);
        }
    }
}
