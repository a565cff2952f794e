//! The writeback port: any payload, all rhythms of its three sources.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::payloads::Payloads;
use super::support::{Rhythm, ports, reset};
use crate::model::{WritebackInputs, WritebackMux};

ports!(WritebackPorts {
    in rst icn_valid icn_data mem_valid mem_data nm_valid nm_data wb_ready;
    out icn_ready mem_ready nm_ready wb_valid wb_src wb_data;
});

#[derive(Clone)]
struct GoldenMux {
    ports: WritebackPorts,
    model: WritebackMux<u64>,
    payloads: Payloads,
}

struct WritebackDriver {
    ports: WritebackPorts,
    /// Rhythms of the three sources and of the port.
    offers: [Rhythm; 3],
    ready: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = WritebackPorts::new(setup.layout);
    let golden = GoldenMux {
        ports: ports.clone(),
        model: WritebackMux::new(setup.config.path.ahead),
        payloads: Payloads::new(),
    };
    let driver = WritebackDriver {
        ports,
        offers: Default::default(),
        ready: Rhythm::default(),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl WritebackPorts {
    /// Valid and data of the three sources.
    fn sources(&self) -> [(&PortSlot, &PortSlot); 3] {
        [
            (&self.icn_valid, &self.icn_data),
            (&self.mem_valid, &self.mem_data),
            (&self.nm_valid, &self.nm_data),
        ]
    }
}

impl Driver for WritebackDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        for ((valid, data), offer) in p.sources().into_iter().zip(&mut self.offers) {
            frame.drive_some(data, stimulus);
            frame.drive(valid, offer.beat(stimulus).into());
        }
        frame.drive(&p.wb_ready, self.ready.beat(stimulus).into());
    }
}

impl Golden for GoldenMux {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let payloads = &mut self.payloads;
        let [icn, mem, nm] = p.sources().map(|(valid, data)| {
            let offered = frame.is_high(valid);
            offered.then(|| (payloads.number(), data))
        });
        let out = self.model.step(&WritebackInputs {
            rst: frame.is_high(&p.rst),
            icn: icn.map(|(number, _)| number),
            mem: mem.map(|(number, _)| number),
            nm: nm.map(|(number, _)| number),
            wb_ready: frame.is_high(&p.wb_ready),
        });
        frame.expect(&p.icn_ready, out.icn_ready.into());
        frame.expect(&p.mem_ready, out.mem_ready.into());
        frame.expect(&p.nm_ready, out.nm_ready.into());
        frame.expect(&p.wb_valid, out.wb.is_some().into());
        frame.expect(&p.wb_src, out.wb.map_or(0, |(source, _)| source as u32));
        payloads.expect(frame, &p.wb_data, out.wb.map(|(_, number)| number));
        let ready = [out.icn_ready, out.mem_ready, out.nm_ready];
        let offers = [icn, mem, nm].into_iter().zip(ready);
        let taken = offers.filter_map(|(offer, ready)| offer.filter(|_| ready));
        let mut any = false;
        for (number, data) in taken {
            payloads.keep(number, frame, data);
            any = true;
        }
        payloads.end_cycle(any);
    }
}
