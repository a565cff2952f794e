//! The GPU that a kernel is assembled for; `tests/kit/assembler.rs` assembles.

use super::*;

fn module(text: &str) -> Module {
    Module::parse(text, "k.ptx").unwrap()
}

#[test]
fn the_gpu_is_at_least_that_of_the_target() {
    let of = |target: &str| {
        module(&format!(
            ".version 8.0\n.target {target}\n.address_size 64\n"
        ))
    };
    assert_eq!(arch(&of("sm_52"), None), "sm_75");
    assert_eq!(arch(&of("sm_52"), Some(80)), "sm_80");
    assert_eq!(arch(&of("sm_90"), Some(80)), "sm_90");
    assert_eq!(arch(&of("sm_90a"), Some(100)), "sm_90a");
}
