//! Bulk copies that still read or write the shared memory of a block when all of its
//! threads have exited: the memory may be that of another block by then.

use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;

/// The block has ended: tells of those that no thread has waited for.
pub fn tell(m: &mut Machine) {
    let Some(races) = &m.races else {
        return;
    };
    for copy in races.unwaited() {
        let address = copy.address;
        (m.warp, m.pc) = (copy.thread / 32, copy.pc);
        let (whither, missing) = if copy.abroad {
            (
                " to another block of the cluster",
                "no thread knows from that block that it is over",
            )
        } else {
            ("", "no thread has waited for it")
        };
        let text = format!(
            "the bulk copy of byte {address} of shared memory{whither} may be going on when the \
             block ends: {missing}"
        );
        let name = m.shared_variable(address);
        m.found(
            FindingKind::Race,
            copy.thread % 32,
            Some(address),
            name,
            text,
        );
    }
}
