//! Reads of shared memory that nobody has waited for yet: the factors of
//! `wgmma`, which the tensor cores read until `wgmma.wait_group`.

/// Bytes of a piece, which is read as a whole.
const PIECE: u64 = crate::ptx::tensor::PIECE as u64;

/// Who reads a piece.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Reads on their way.
    count: u32,
    /// Warp and instruction of the last of them.
    warp: u32,
    pc: u32,
}

/// Reads of a warp.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Groups that it has committed.
    groups: u32,
    /// Pieces, with the number of groups committed before.
    open: Vec<(u32, u32)>,
}

/// The reads of a block's warps.
#[derive(Debug, Default)]
pub struct Reads {
    pieces: Vec<Mark>,
    warps: Vec<Warp>,
}

impl Reads {
    pub fn new(bytes: u64, threads: u32) -> Self {
        Reads {
            pieces: vec![Mark::default(); bytes.div_ceil(PIECE) as usize],
            warps: vec![Warp::default(); threads.div_ceil(32) as usize],
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        for warp in &mut self.warps {
            warp.groups = 0;
            for (_, piece) in warp.open.drain(..) {
                self.pieces[piece as usize].count = 0;
            }
        }
    }

    /// A warp begins to read the piece at an address.
    pub fn begin(&mut self, warp: u32, pc: u32, address: u64) {
        let piece = address / PIECE;
        if let Some(mark) = self.pieces.get_mut(piece as usize) {
            let count = mark.count + 1;
            *mark = Mark { count, warp, pc };
            let own = &mut self.warps[warp as usize];
            own.open.push((own.groups, piece as u32));
        }
    }

    /// What a warp has begun so far is a group.
    pub fn commit(&mut self, warp: u32) {
        self.warps[warp as usize].groups += 1;
    }

    /// A warp waits until its last `left` groups at most are on their way.
    pub fn wait(&mut self, warp: u32, left: u32) {
        let own = &mut self.warps[warp as usize];
        let until = own.groups.saturating_sub(left);
        let pieces = &mut self.pieces;
        own.open.retain(|&(group, piece)| {
            let done = group < until;
            pieces[piece as usize].count -= u32::from(done);
            !done
        });
    }

    /// Warp and instruction that read a byte.
    pub fn at(&self, byte: u64) -> Option<(u32, u32)> {
        let mark = self.pieces.get((byte / PIECE) as usize)?;
        (mark.count > 0).then_some((mark.warp, mark.pc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_lasts_until_its_group_has_been_waited_for() {
        let mut reads = Reads::new(64, 64);
        reads.begin(0, 7, 16);
        reads.begin(1, 7, 16);
        reads.commit(0);
        reads.commit(1);
        reads.begin(1, 9, 32);
        assert_eq!(reads.at(15), None);
        assert_eq!((reads.at(16), reads.at(47)), (Some((1, 7)), Some((1, 9))));
        reads.wait(1, 1);
        assert!(reads.at(31).is_some());
        reads.wait(1, 0);
        // The other warp still reads it; what is in no group is not waited for.
        assert!(reads.at(31).is_some() && reads.at(32).is_some());
        reads.wait(0, 0);
        assert_eq!(reads.at(31), None);
        reads.begin(0, 9, 1 << 20);
        reads.clear();
        assert_eq!(reads.at(32), None);
    }
}
