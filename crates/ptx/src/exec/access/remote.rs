//! Accesses to the shared memory of other blocks of the cluster.

use crate::exec::api::FindingKind;
use crate::exec::image::MemoryOp;
use crate::exec::machine::Machine;
use crate::exec::machine::peers::split;
use crate::exec::machine::written;
use crate::names::Space;

impl Machine<'_> {
    /// The pointer of a lane whose address names a block of the cluster; none
    /// where it names none. What is wrong becomes a finding, and points to zeros.
    #[inline(never)]
    pub fn in_cluster(&mut self, info: &MemoryOp, lane: u32, address: u64) -> Option<*mut u8> {
        let (rank, at) = split(address);
        let rank = rank?;
        if let Some((kind, text)) = self.wrong_in_cluster(info, rank, at) {
            let name = self.shared_variable(at);
            match kind {
                FindingKind::OutOfBounds => self.beyond(info, lane, Some(at), name, text),
                kind => self.found(kind, lane, Some(at), name, text),
            }
            return Some(self.dummy.as_mut_ptr().cast());
        }
        let own = rank == self.cluster.rank;
        let (shared, written) = if own {
            (&mut self.shared, &mut self.written)
        } else {
            let window = &mut self.cluster.peers[rank as usize];
            (&mut window.shared, &mut window.written)
        };
        let pointer = shared.as_mut_ptr().cast::<u8>().wrapping_add(at as usize);
        let bytes = &mut written[at as usize..][..info.bytes as usize];
        let does = (!info.transfer.replaces(), info.transfer.writes());
        if let Some(missing) = written::access(bytes, does) {
            let text = format!(
                "{} at byte {at} of the shared memory of block {rank} of the cluster: no thread \
                 has written byte {}",
                self.describe(info),
                at + missing as u64
            );
            let name = self.shared_variable(at);
            self.found(FindingKind::Uninitialised, lane, Some(at), name, text);
        }
        Some(pointer)
    }

    /// The error of an access to the shared memory of a block, if it has one.
    fn wrong_in_cluster(
        &self,
        info: &MemoryOp,
        rank: u32,
        at: u64,
    ) -> Option<(FindingKind, String)> {
        let what = self.describe(info);
        let blocks = self.cluster.peers.len();
        let Some(window) = self.cluster.peers.get(rank as usize) else {
            let text = format!("{what} in block {rank} of the cluster, which has {blocks} blocks");
            return Some((FindingKind::OutOfBounds, text));
        };
        let place =
            format!("{what} at byte {at} of the shared memory of block {rank} of the cluster");
        let end = at + u64::from(info.bytes);
        let (low, high) = info.region.within(Space::Shared, self.shared_len);
        if !info.is_aligned(at) {
            let text = format!("{place} is not aligned");
            Some((FindingKind::Misaligned, text))
        } else if end > self.shared_len {
            let text = format!("{place}, which has {}", self.shared_len);
            Some((FindingKind::OutOfBounds, text))
        } else if at < low || end > high {
            let own = self.shared_variable(low);
            let own = own.as_deref().unwrap_or("its variable");
            let text = format!("{place}, outside of {own}");
            Some((FindingKind::OutOfBounds, text))
        } else if window.ended {
            let text = format!("{place}, whose threads have all exited");
            Some((FindingKind::OutOfBounds, text))
        } else {
            None
        }
    }
}
