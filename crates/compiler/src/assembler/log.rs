//! Parses the log of `ptxas -v`.

/// The resources of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    pub registers: u32,
    pub spilled_bytes: u64,
}

/// The resources of `entry` in the log; `None` if the log does not state the registers.
///
/// The lines of an entry follow one that names it. Versions differ in what they
/// say besides, and functions that are called have lines of their own, without
/// registers.
pub(super) fn used(log: &str, entry: &str) -> Option<Used> {
    let mut lines = log.lines();
    let compiled = format!("entry function '{entry}'");
    lines.find(|line| line.contains(&compiled))?;
    let own = lines.take_while(|line| !line.contains("Compiling entry function"));
    let mut found = Used {
        registers: 0,
        spilled_bytes: 0,
    };
    let mut of_entry = true;
    for line in own {
        if let Some((_, function)) = line.split_once("Function properties for ") {
            of_entry = function.trim() == entry;
        }
        if let (true, Some(stores)) = (of_entry, number_before(line, "bytes spill stores")) {
            let loads = number_before(line, "bytes spill loads").unwrap_or(0);
            found.spilled_bytes = stores + loads;
        }
        if let (true, Some(registers)) = (line.contains("Used "), number_before(line, "registers"))
        {
            found.registers = u32::try_from(registers).ok()?;
        }
    }
    (found.registers > 0).then_some(found)
}

/// The number before `unit`.
fn number_before(line: &str, unit: &str) -> Option<u64> {
    let (before, _) = line.split_once(unit)?;
    before.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "ptxas info    : 8 bytes gmem, 128 bytes cmem[3]\n\
        ptxas info    : Compiling entry function 'a' for 'sm_80'\n\
        ptxas info    : Function properties for a\n\
        \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 17 registers, used 1 barriers, 8192 bytes smem\n\
        ptxas info    : Compile time = 6.448 ms\n\
        ptxas info    : Compiling entry function '_Z1bPf' for 'sm_80'\n\
        ptxas info    : Function properties for _Z1bPf\n\
        \u{20}   48 bytes stack frame, 40 bytes spill stores, 24 bytes spill loads\n\
        ptxas info    : Used 255 registers, 356 bytes cmem[0]\n\
        ptxas info    : Function properties for helper\n\
        \u{20}   0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n";

    #[test]
    fn the_lines_of_an_entry_are_found() {
        let (a, b) = (used(LOG, "a").unwrap(), used(LOG, "_Z1bPf").unwrap());
        assert_eq!((a.registers, a.spilled_bytes), (17, 0));
        assert_eq!((b.registers, b.spilled_bytes), (255, 64));
        assert_eq!(used(LOG, "helper"), None);
        assert_eq!(used("ptxas fatal : nothing", "a"), None);
        assert_eq!(
            used("Compiling entry function 'a' for 'sm_80'\n", "a"),
            None
        );
    }
}
