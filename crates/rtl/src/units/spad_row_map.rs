//! `spad_row_map`: the row maps of random linear mappings.

use super::bench::{Bench, Frame, Setup, Stimulus};
use super::hash_units::{Addresses, displacing_spec};
use super::layout::PortSlot;
use crate::geometry::Geometry;
use crate::hash::kind::Family;
use crate::hash::{HashKind, Mapping, encode_row_map};
use crate::model::RowMapUnit;

/// Cycles with one configuration.
const CONFIG_CYCLES: u64 = 64;

struct RowMapBench {
    /// The kind of the drawn mappings.
    kind: HashKind,
    geometry: Geometry,
    addr: PortSlot,
    sel: PortSlot,
    row: PortSlot,
    addresses: Addresses,
    model: RowMapUnit,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (geometry, layout) = (setup.config.geometry, setup.layout);
    let mut kinds = Family::Permutation.kinds();
    Box::new(RowMapBench {
        kind: kinds.next().expect("there is a unit that permutes"),
        geometry,
        addr: layout.input("addr").clone(),
        sel: layout.input("cfg_row_sel").clone(),
        row: layout.output("row").clone(),
        addresses: Addresses::new(setup.trace, geometry),
        model: RowMapUnit {
            geometry,
            pivots: geometry.bank_mask(),
        },
    })
}

impl Bench for RowMapBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if stimulus.cycle.is_multiple_of(CONFIG_CYCLES) {
            let spec = displacing_spec(self.kind, self.geometry, stimulus);
            let mapping = Mapping::new(&spec, self.geometry).expect("drawn specs are legal");
            let encoding = encode_row_map(mapping.row_map(), self.geometry);
            frame.drive_wide(&self.sel, &encoding.ports[0].1);
            self.model.pivots = mapping.row_map().pivots();
        }
        let addr = self.addresses.next(stimulus);
        frame.drive(&self.addr, addr);
        frame.expect(&self.row, self.model.step(addr));
    }
}
