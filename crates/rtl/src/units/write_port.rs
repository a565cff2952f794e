//! The write ports of configuration registers.

use super::bench::{Frame, Stimulus};
use super::layout::{Layout, PortSlot};
use crate::model::RegisterWrite;

/// The write port of a configuration block.
#[derive(Clone)]
pub(super) struct WritePort {
    pub(super) en: PortSlot,
    /// Missing if the block has only one register.
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
        self.drive_operands(write.unwrap_or_default(), frame);
    }

    fn drive_operands(&self, write: RegisterWrite, frame: &mut Frame) {
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

    /// A write of anything, to a register or beyond the last.
    pub(super) fn any_write(&self, stimulus: &mut Stimulus) -> RegisterWrite {
        let mut any = |port: &PortSlot| stimulus.wide(port.width) as u64;
        RegisterWrite {
            index: self.index.as_ref().map_or(0, &mut any) as usize,
            data: any(&self.data),
        }
    }
}

/// Writes to the registers of the hash and of the row map.
pub(super) type HashWrites = (Option<RegisterWrite>, Option<RegisterWrite>);

/// The write ports of the hash and of the row map, if any.
#[derive(Clone)]
pub(super) struct HashRegisters {
    pub(super) hash: Option<WritePort>,
    pub(super) row: Option<WritePort>,
}

impl HashRegisters {
    pub(super) fn new(layout: &Layout) -> Self {
        HashRegisters {
            hash: WritePort::find(layout, "hash_"),
            row: WritePort::find(layout, "row_"),
        }
    }

    pub(super) fn drive(&self, (hash, row): HashWrites, frame: &mut Frame) {
        for (port, write) in [(&self.hash, hash), (&self.row, row)] {
            if let Some(port) = port {
                port.drive(write, frame);
            }
        }
    }

    /// Puts anything at the ports that are not written: only their enable
    /// counts.
    pub(super) fn disturb(&self, stimulus: &mut Stimulus, frame: &mut Frame) {
        for port in [&self.hash, &self.row].into_iter().flatten() {
            if !frame.is_high(&port.en) {
                let write = port.any_write(stimulus);
                port.drive_operands(write, frame);
            }
        }
    }

    pub(super) fn read(&self, frame: &Frame) -> HashWrites {
        let read = |port: &Option<WritePort>| port.as_ref().and_then(|port| port.read(frame));
        (read(&self.hash), read(&self.row))
    }

    /// Writes of anything.
    pub(super) fn any_writes(&self, stimulus: &mut Stimulus) -> HashWrites {
        let mut any = |port: &Option<WritePort>| port.as_ref().map(|p| p.any_write(stimulus));
        (any(&self.hash), any(&self.row))
    }
}
