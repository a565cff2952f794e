//! Groups registers by pipeline stage, for reports of timing.

/// Units whose parts and registers are groups of their own also inside the path.
const OPENED: [&str; 7] = [
    "scratchpad",
    "issue_select",
    "pass_issue",
    "predictor",
    "hash_stage",
    "memory_entry",
    "memory_exit",
];

/// The stage of the path that writes a group of registers. Logic between two
/// registers is named after the register at its end
/// (microarchitecture/sm-path.md).
const STAGES: [(&str, &str); 33] = [
    ("release_unit", "release"),
    ("release_register", "release"),
    ("qualified", "Q"),
    ("was", "Q"),
    ("pk", "P"),
    ("scheduler", "P"),
    ("cur", "S"),
    ("eligibility", "S"),
    ("warp", "S"),
    ("atom", "S"),
    ("access", "S"),
    ("history", "S"),
    ("lq", "S"),
    ("warp_mask", "S"),
    ("ex", "EX"),
    ("hx", "EX"),
    ("nonmem", "EX"),
    ("premem", "HX"),
    ("atomics", "HX"),
    ("sequencer", "HX"),
    ("arbiter", "HX"),
    ("mem0", "HX"),
    ("mem1", "MEM0"),
    ("bank", "MEM1"),
    ("locks", "MEM1"),
    ("success", "MEM1"),
    ("mem2", "MEM1"),
    ("mem3", "MEM2"),
    ("acc", "MEM3"),
    ("mem4", "MEM3"),
    ("accumulator", "MEM3"),
    ("writeback", "MEM3"),
    ("wb", "MEM3"),
];

/// The name in the RTL of a flip-flop or macro, with dots between instances.
pub(super) fn register_name(cell: &str) -> String {
    let name = cell.replace('/', ".");
    // Drivers of a part of a net, and duplicates, have a suffix after it.
    match name.rsplit_once("_reg") {
        Some((register, "")) => register.to_owned(),
        Some((register, rest)) if is_number(rest) => register.to_owned(),
        _ => name,
    }
}

/// Whether it is `_` and digits.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('_').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The group of a register or memory by its name, which has dots between the
/// instances. The group is the instance that it is in; of a unit of several
/// stages, the instance in that unit. A register in no instance belongs to the
/// group of its prefix, up to the first `_`.
pub(super) fn group_of(register: &str) -> String {
    if register.starts_with('$') {
        return "unnamed".to_owned();
    }
    let inside = |name: &str| -> String {
        match name.split_once('.') {
            Some((instance, _)) => without_index(instance).to_owned(),
            None => {
                let name = without_index(name);
                name.split('_').next().unwrap_or(name).to_owned()
            }
        }
    };
    match register.split_once('.') {
        Some((instance, rest)) if OPENED.contains(&instance) => inside(rest),
        _ => inside(register),
    }
}

/// The stage of the path that computes a group, where it is one of its.
pub(super) fn stage_of(group: &str) -> Option<&'static str> {
    let found = STAGES.iter().find(|(name, _)| *name == group);
    found.map(|(_, stage)| *stage)
}

fn without_index(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_yosys_adds() {
        assert_eq!(register_name("acc[0]_reg"), "acc[0]");
        assert_eq!(register_name("u/x_reg_1"), "u.x");
        assert_eq!(register_name("bank[0].ram"), "bank[0].ram");
        assert_eq!(register_name("a_register"), "a_register");
    }

    #[test]
    fn registers_are_grouped_by_instance_or_prefix() {
        for (register, group) in [
            ("hash_stage.hx_mask[3]", "hx"),
            ("pass_issue.ex_valid", "ex"),
            ("eligibility.warp[12].infl_m[0]", "eligibility"),
            ("issue_select.scheduler.behind[1]", "scheduler"),
            ("warp_blk[3]", "warp"),
            ("scratchpad.arbiter.pend[1]", "arbiter"),
            ("scratchpad.mem1_op[0]", "mem1"),
            ("scratchpad.bank[3].ram", "bank"),
            ("predictor.history.row_of.out[2]", "history"),
            ("$procdff$12", "unnamed"),
        ] {
            assert_eq!(group_of(register), group, "{register}");
        }
        assert_eq!(stage_of("arbiter"), Some("HX"));
        assert_eq!(stage_of("row_config"), None);
    }
}
