//! Bulk copies that still read or write the shared memory of a block when all of its
//! threads have exited: the memory may be that of another block by then.

use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;

/// The block has ended: tells of those that no thread has waited for.
pub fn tell(m: &mut Machine) {
    let Some(races) = &m.races else {
        return;
    };
    for (pc, thread, address) in races.unwaited() {
        (m.warp, m.pc) = (thread / 32, pc);
        let text = format!(
            "the bulk copy of byte {address} of shared memory may be going on when the block ends: \
             no thread has waited for it"
        );
        let name = m.shared_variable(address);
        m.found(FindingKind::Race, thread % 32, Some(address), name, text);
    }
}
