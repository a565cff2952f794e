//! Accesses to the shared memory of another block of the cluster that nothing keeps behind
//! the begin of that block, or before its end: it may not be there yet, or gone by then. Of
//! the threads of that block one has to have waited for each of them, whichever block was
//! faster.

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
    early(m, exec, places);
}

/// Tells of a lane before which nothing says that the other block has begun: no barrier of
/// the cluster, and nothing that another block did.
fn early(m: &mut Machine, exec: u32, places: &[(u32, u64); 32]) {
    if m.cluster.phase != 0 {
        return;
    }
    let Some(races) = &m.races else {
        return;
    };
    let knows = |lane: &u32| races.order.knows_others(m.warp, *lane);
    let Some(lane) = lanes(exec).find(|lane| !knows(lane)) else {
        return;
    };
    let (rank, offset) = places[lane as usize];
    let text = format!(
        "{} at byte {offset} of the shared memory of block {rank} of the cluster, which may not \
         have begun: no barrier of the cluster comes before",
        what(m, m.pc)
    );
    let name = m.shared_variable(offset);
    m.found(FindingKind::OutOfBounds, lane, Some(offset), name, text);
}

/// The operation of an instruction, in words.
fn what(m: &Machine, pc: u32) -> String {
    let access = m.image.access.get(pc as usize).copied().flatten();
    let what = access.map(|at| m.describe(&m.image.memory[at as usize]));
    what.unwrap_or_else(|| "mbarrier operation".to_owned())
}

/// Tells of one.
pub fn tell(m: &mut Machine, visit: &Visit) {
    let Visit { rank, offset, mark } = *visit;
    (m.warp, m.pc) = (mark.warp.into(), mark.pc);
    let text = format!(
        "{} at byte {offset} of the shared memory of block {rank} of the cluster, whose threads \
         may all have exited: none of them waits for it",
        what(m, mark.pc)
    );
    let name = m.shared_variable(offset);
    let lane = mark.lanes.trailing_zeros();
    m.found(FindingKind::OutOfBounds, lane, Some(offset), name, text);
}
