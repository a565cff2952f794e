//! Records what a thread block does to shared memory: kernels are written as
//! address formulas per thread, phase by phase between barriers.

use crate::trace::{Access, AccessTrace, Op};
use serde_json::Map;

/// Threads of a warp in generated traces.
pub const WARP_SIZE: u32 = 32;

/// A thread of the block, as CUDA names it; x runs fastest over the lanes.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// threadIdx.x
    pub x: u32,
    /// threadIdx.y
    pub y: u32,
    /// threadIdx.z
    pub z: u32,
}

/// A thread block whose accesses are being recorded.
pub struct Block {
    trace: AccessTrace,
}

impl Block {
    /// An empty recording for `words` 4-byte words of shared memory.
    pub fn new(block_dim: [u32; 3], words: u32) -> Self {
        Block {
            trace: AccessTrace {
                // The registry fills in name and source.
                name: String::new(),
                source: String::new(),
                block_dim,
                shared_bytes: words * 4,
                warp_size: WARP_SIZE,
                barriers: Vec::new(),
                accesses: Vec::new(),
                executed: Default::default(),
                extra: Map::new(),
            },
        }
    }

    /// Runs `body` for each warp in turn: the code between two barriers.
    pub fn phase(&mut self, mut body: impl FnMut(&mut Warp)) {
        let threads: u32 = self.trace.block_dim.iter().product();
        for index in 0..threads.div_ceil(WARP_SIZE) {
            body(&mut Warp {
                index,
                threads,
                block_dim: self.trace.block_dim,
                accesses: &mut self.trace.accesses,
            });
        }
    }

    /// A block-wide barrier here.
    pub fn barrier(&mut self) {
        self.trace.barriers.push(self.trace.accesses.len() as u32);
    }

    /// A phase with a barrier after it.
    pub fn phase_then_barrier(&mut self, body: impl FnMut(&mut Warp)) {
        self.phase(body);
        self.barrier();
    }

    /// The recorded trace.
    pub fn finish(self) -> AccessTrace {
        self.trace
    }
}

/// One warp in a phase.
pub struct Warp<'a> {
    /// Index in the block.
    pub index: u32,
    threads: u32,
    block_dim: [u32; 3],
    accesses: &'a mut Vec<Access>,
}

impl Warp<'_> {
    /// A load at access site `pc`; `addr` is the word, `None` where the thread
    /// takes no part.
    pub fn load(&mut self, pc: u32, addr: impl FnMut(Thread) -> Option<u32>) {
        self.access(pc, Op::Load, 4, addr);
    }

    /// A store, like [`Warp::load`].
    pub fn store(&mut self, pc: u32, addr: impl FnMut(Thread) -> Option<u32>) {
        self.access(pc, Op::Store, 4, addr);
    }

    /// An atomic, like [`Warp::load`].
    pub fn atomic(&mut self, pc: u32, addr: impl FnMut(Thread) -> Option<u32>) {
        self.access(pc, Op::Atomic, 4, addr);
    }

    /// Any access of `bytes` per thread. Nothing is recorded when no thread
    /// takes part: the warp branches around it.
    pub fn access(
        &mut self,
        pc: u32,
        op: Op,
        bytes: u32,
        mut addr: impl FnMut(Thread) -> Option<u32>,
    ) {
        let addrs: Vec<Option<u32>> = (0..WARP_SIZE)
            .map(|lane| {
                let id = self.index * WARP_SIZE + lane;
                (id < self.threads).then(|| addr(self.thread(id))).flatten()
            })
            .collect();
        if addrs.iter().any(Option::is_some) {
            self.accesses.push(Access {
                warp: self.index,
                pc,
                op,
                addrs,
                bytes,
                increment: false,
                aggregated: false,
                extra: Map::new(),
            });
        }
    }

    fn thread(&self, id: u32) -> Thread {
        let [dx, dy, _] = self.block_dim;
        Thread {
            x: id % dx,
            y: id / dx % dy,
            z: id / (dx * dy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_linearised_x_first_and_idle_warps_record_nothing() {
        let mut block = Block::new([8, 4, 3], 96);
        block.phase_then_barrier(|w| w.store(0, |t| Some(t.x + 8 * t.y + 32 * t.z)));
        block.phase(|w| w.load(1, |t| ([t.x, t.y, t.z] == [1, 0, 1]).then_some(33)));
        let trace = block.finish();
        assert_eq!(trace.barriers, [3]);
        assert_eq!(trace.accesses.len(), 4);
        let addrs: Vec<_> = trace.accesses[..3].iter().flat_map(|a| &a.addrs).collect();
        assert!(addrs.iter().enumerate().all(|(i, a)| **a == Some(i as u32)));
        assert_eq!((trace.accesses[3].warp, trace.accesses[3].pc), (1, 1));
    }

    #[test]
    fn lanes_beyond_the_block_are_inactive() {
        let mut block = Block::new([16, 1, 1], 16);
        block.phase(|w| w.load(0, |t| Some(t.x)));
        let trace = block.finish();
        assert_eq!(trace.accesses[0].addrs.len(), 32);
        assert_eq!(trace.accesses[0].addrs[15..17], [Some(15), None]);
    }
}
