//! `malloc` and `free` of device code, and accesses to what they give.

use super::{argument, give};
use crate::exec::api::FindingKind;
use crate::exec::check::raced;
use crate::exec::image::{MemoryOp, SystemCall};
use crate::exec::machine::{Machine, RawFinding};
use crate::exec::memory::heap::{At, Heap, NAME, Site};
use crate::exec::registers::active;

/// The finding that nobody freed what was allocated there.
pub fn leak(site: Site) -> RawFinding {
    RawFinding {
        kind: FindingKind::Leak,
        warning: true,
        other: false,
        pc: site.pc,
        block: None,
        thread: site.thread,
        address: None,
        variable: None,
        message: String::new(),
    }
}

/// `malloc(bytes)`: null if there is no room.
pub fn allocate(m: &mut Machine, call: &SystemCall, exec: u32) {
    m.effects += 1;
    let mut addresses = [0; 32];
    for lane in active(exec) {
        let bytes = argument(m, call.arguments[0], lane);
        let site = Site {
            pc: m.pc,
            block: m.block_number(),
            thread: m.thread(lane),
        };
        let heap = m.common.heap;
        let address = heap.and_then(|heap| heap.allocate(bytes, site));
        addresses[lane as usize] = address.unwrap_or(0);
    }
    give(m, &call.results, exec, &addresses, 8);
}

/// `free(pointer)`: nothing for null.
pub fn free(m: &mut Machine, call: &SystemCall, exec: u32) {
    m.effects += 1;
    for lane in active(exec) {
        let address = argument(m, call.arguments[0], lane);
        let freed = match m.common.heap {
            _ if address == 0 => Ok(()),
            Some(heap) => {
                if let At::Live(0, bytes) = heap.at(address) {
                    raced::freed(m, lane, (address, bytes));
                }
                heap.free(address)
            }
            None => Err(format!(
                "free of address {address:#x}, which malloc has not given"
            )),
        };
        if let Err(text) = freed {
            m.found(FindingKind::InvalidFree, lane, None, None, text);
        }
    }
}

impl Machine<'_> {
    /// Whether bytes that are read of an allocation were written.
    fn heap_bytes(&mut self, heap: &Heap, at: (&MemoryOp, u32), (address, offset): (u64, u64)) {
        let ((info, lane), name) = (at, NAME);
        let bytes = u64::from(info.bytes);
        if !info.transfer.replaces()
            && let Some(missing) = heap.missing(address, bytes)
        {
            let text = format!(
                "{} at byte {offset} of an allocation: no thread has written byte {}",
                self.describe(info),
                offset + missing
            );
            let kind = FindingKind::Uninitialised;
            self.found(kind, lane, Some(offset), Some(name.to_owned()), text);
        }
        heap.write(address, bytes);
    }

    /// The pointer of an access to the heap; one that is not inside an
    /// allocation is a finding.
    pub fn heap_pointer(
        &mut self,
        heap: &Heap,
        info: &MemoryOp,
        lane: u32,
        address: u64,
    ) -> Option<*mut u8> {
        let within = |offset, len| address - offset..address - offset + len;
        let (offset, text) = match heap.at(address) {
            At::Live(offset, len) if !info.is_outside(address, within(offset, len)) => {
                if info.is_aligned(address) {
                    self.heap_bytes(heap, (info, lane), (address, offset));
                    return Some(heap.pointer(address));
                }
                let text = format!(
                    "{} at byte {offset} of an allocation is not aligned",
                    self.describe(info)
                );
                let kind = FindingKind::Misaligned;
                self.found(kind, lane, Some(offset), Some(NAME.to_owned()), text);
                return None;
            }
            At::Live(offset, len) => (
                Some(offset),
                format!("at byte {offset} of an allocation of {len} bytes"),
            ),
            At::Freed(offset, len) => (
                Some(offset),
                format!("at byte {offset} of {len} bytes that have been freed"),
            ),
            At::Nothing => (None, "of the heap where nothing is allocated".to_owned()),
        };
        let message = format!("{} {text}", self.describe(info));
        self.beyond(info, lane, offset, Some(NAME.to_owned()), message);
        None
    }
}
