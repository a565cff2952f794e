//! The write port of configuration registers.

use super::bench::Frame;
use super::layout::{Layout, PortSlot};
use crate::model::RegisterWrite;

/// The write port of a configuration block.
#[derive(Clone)]
pub(super) struct WritePort {
    pub(super) en: PortSlot,
    /// Not there where the block has one register.
    pub(super) index: Option<PortSlot>,
    pub(super) data: PortSlot,
}

impl WritePort {
    /// The port whose names begin with `prefix`, such as `hash_`, where the unit
    /// has one.
    pub(super) fn find(layout: &Layout, prefix: &str) -> Option<Self> {
        let find = |name: &str| {
            let name = format!("{prefix}wr_{name}");
            layout.inputs.iter().find(|p| p.name == name).cloned()
        };
        Some(WritePort {
            en: find("en")?,
            index: find("index"),
            data: find("data")?,
        })
    }

    pub(super) fn drive(&self, write: Option<RegisterWrite>, frame: &mut Frame) {
        frame.drive(&self.en, write.is_some().into());
        let write = write.unwrap_or_default();
        if let Some(index) = &self.index {
            frame.drive(index, write.index as u32);
        }
        frame.drive(&self.data, write.data as u32);
    }

    pub(super) fn read(&self, frame: &Frame) -> Option<RegisterWrite> {
        (frame.driven(&self.en) != 0).then(|| RegisterWrite {
            index: self.index.as_ref().map_or(0, |p| frame.driven(p) as usize),
            data: frame.driven(&self.data).into(),
        })
    }
}
