//! Accesses of 4, 8 and 16 bytes a lane: the driver that offers them to
//! `spad_phases` and `spad_wide_stream`, and the check of their answers.

use super::bench::{Frame, Stimulus};
use super::layout::{Layout, PortSlot};
use super::stream_atomics::{Offer, OperationNeighbour, OperationPorts};
use super::support::{Rhythm, ports};
use crate::model::{LaneMask, MAX_WORDS, WideAnswer, WideRequest};

ports!(WidePorts {
    in req_valid req_op req_size req_mask req_addr req_data req_be req_tag rsp_ready;
    out req_ready rsp_valid rsp_op rsp_mask rsp_tag rsp_data rsp_success rsp_error rsp_degree idle;
});

impl WidePorts {
    /// The access that is offered.
    pub(super) fn request(
        &self,
        frame: &Frame,
        operations: Option<&OperationPorts>,
    ) -> Option<WideRequest> {
        let lanes = self.lanes();
        let words: Vec<u64> = frame.driven_fields(&self.req_data, 32).collect();
        frame.is_high(&self.req_valid).then(|| WideRequest {
            op: frame.driven(&self.req_op) as u8,
            atomic: operations.and_then(|ports| ports.operation(frame)),
            size: frame.driven(&self.req_size) as u8,
            mask: frame.driven_mask(&self.req_mask),
            addr: frame.driven_array(&self.req_addr, self.req_addr.width / lanes),
            data: words
                .chunks(MAX_WORDS)
                .map(|w| w.try_into().unwrap())
                .collect(),
            be: frame.driven_array(&self.req_be, self.req_be.width / lanes),
            tag: frame.driven_mask(&self.req_tag),
        })
    }

    /// Expects the offered answer, `ready` and `idle`.
    pub(super) fn expect(
        &self,
        frame: &mut Frame,
        answer: Option<&WideAnswer>,
        [ready, idle]: [bool; 2],
    ) {
        let control = answer.map(|a| a.control).unwrap_or_default();
        frame.expect(&self.req_ready, ready.into());
        frame.expect(&self.idle, idle.into());
        frame.expect(&self.rsp_valid, answer.is_some().into());
        frame.expect(&self.rsp_op, control.op.into());
        frame.expect_bits(&self.rsp_mask, control.mask.into());
        frame.expect_bits(&self.rsp_tag, control.tag.into());
        let words = answer.map_or(&[][..], |a| &a.data).iter().flatten();
        frame.expect_fields(&self.rsp_data, 32, words.copied());
        frame.expect_bits(&self.rsp_success, control.success.into());
        frame.expect(&self.rsp_error, control.error.into());
        frame.expect(&self.rsp_degree, control.degree);
    }

    fn lanes(&self) -> usize {
        self.req_mask.width
    }
}

/// Offers the accesses, and accepts the answers.
pub(super) struct WideNeighbour {
    pub(super) ports: WidePorts,
    operations: Option<OperationNeighbour>,
    ready: Rhythm,
    /// An access is offered.
    pub(super) offered: bool,
}

impl WideNeighbour {
    pub(super) fn new(layout: &Layout) -> Self {
        let operations = OperationPorts::find(layout, 32);
        WideNeighbour {
            ports: WidePorts::new(layout),
            operations: operations.map(OperationNeighbour::new),
            ready: Rhythm::with_silence(),
            offered: false,
        }
    }

    /// Drives whether something is offered, and whether an answer is taken.
    pub(super) fn shake_hands(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        frame.drive(&self.ports.req_valid, self.offered.into());
        let ready = self.ready.beat(stimulus);
        frame.drive(&self.ports.rsp_ready, ready.into());
    }

    /// Looks at the cycle: what is answered, and that an access that is taken is no longer
    /// offered.
    pub(super) fn follow(&mut self, frame: &Frame, rst: &PortSlot) {
        if let Some(operations) = &mut self.operations {
            if frame.shows(&self.ports.rsp_valid) && frame.is_high(&self.ports.rsp_ready) {
                operations.answered(frame, &self.ports.rsp_data);
            }
            if frame.is_high(rst) {
                operations.reset();
            }
        }
        self.offered &= !frame.shows(&self.ports.req_ready) && !frame.is_high(rst);
    }

    /// Offers an access of these lanes, `addr` as their word addresses.
    pub(super) fn offer(
        &mut self,
        stimulus: &mut Stimulus,
        frame: &mut Frame,
        (mask, addr): (LaneMask, Vec<u16>),
    ) {
        let p = &self.ports;
        let lanes = p.lanes();
        let mut access = Offer {
            addr,
            data: Vec::new(),
            posted: false,
        };
        pair(stimulus, &mut access.addr);
        if let Some(operations) = &mut self.operations {
            operations.offer(stimulus, frame, &mut access);
        }
        let mask = cut(stimulus, mask, lanes);
        let op = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 7][stimulus.below(14) as usize];
        frame.drive(&p.req_op, op);
        frame.drive(&p.req_size, stimulus.below(4));
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive_fields(&p.req_addr, p.req_addr.width / lanes, access.addr);
        frame.drive_some(&p.req_data, stimulus);
        frame.drive_any(&p.req_be, stimulus);
        frame.drive_bits(&p.req_tag, stimulus.wide(p.req_tag.width));
        self.offered = true;
    }
}

/// Lanes that agree in pairs, all of them or all but one.
fn pair(stimulus: &mut Stimulus, addr: &mut [u16]) {
    let distances: &[usize] = match stimulus.below(8) {
        0 | 1 => &[1],
        2 | 3 => &[2],
        4 => &[1, 2],
        _ => return,
    };
    for distance in distances {
        for lane in 0..addr.len() {
            addr[lane] = addr[lane & !distance];
        }
    }
    if stimulus.one_in(3) {
        let lane = stimulus.below(addr.len() as u32) as usize;
        addr[lane] ^= 1 << stimulus.below(4);
    }
}

/// Some quarters of the lanes alone, or every second lane, or none.
fn cut(stimulus: &mut Stimulus, mask: LaneMask, lanes: usize) -> LaneMask {
    match stimulus.below(8) {
        0 | 1 => {
            let quarters = stimulus.below(16);
            let stays = |lane: &usize| quarters >> (lane * 4 / lanes) & 1 == 1;
            (0..lanes)
                .filter(stays)
                .fold(0, |m, lane| m | mask & 1 << lane)
        }
        2 => mask & 0x5555_5555_5555_5555 << stimulus.below(2),
        3 if stimulus.one_in(4) => 0,
        _ => mask,
    }
}
