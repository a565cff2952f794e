//! Accesses to the shared memory of another block of the cluster that nothing keeps before
//! the end of that block: it may be gone by then. Of the threads of that block one has to
//! have waited for each of them, whichever block was faster.

use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;
use crate::exec::race::lanes;
use crate::exec::race::mark::Mark;
use crate::exec::race::visits::Visit;

/// Lanes access offsets in the blocks of some ranks, or use an `mbarrier` there.
pub fn note(m: &mut Machine, exec: u32, places: &[(u32, u64); 32]) {
    let (pc, warp) = (m.pc, m.warp);
    let Some(races) = &mut m.races else {
        return;
    };
    for lane in lanes(exec) {
        let (rank, offset) = places[lane as usize];
        let mark = Mark {
            moment: races.order.now() - 1,
            warp: warp as u8,
            lanes: 1 << lane,
            pc,
            ..Mark::default()
        };
        races.visits.note(Visit { rank, offset, mark });
    }
}

/// Tells of one.
pub fn tell(m: &mut Machine, visit: &Visit) {
    let Visit { rank, offset, mark } = *visit;
    (m.warp, m.pc) = (mark.warp.into(), mark.pc);
    let access = m.image.access.get(mark.pc as usize).copied().flatten();
    let what = access.map(|at| m.describe(&m.image.memory[at as usize]));
    let text = format!(
        "{} at byte {offset} of the shared memory of block {rank} of the cluster, whose threads \
         may all have exited: none of them waits for it",
        what.as_deref().unwrap_or("mbarrier operation")
    );
    let name = m.shared_variable(offset);
    let lane = mark.lanes.trailing_zeros();
    m.found(FindingKind::OutOfBounds, lane, Some(offset), name, text);
}
