//! A path whose bank conflicts overlap (`[sm] window`).

use super::*;

/// Two memory stages, no locks.
fn windowed(accesses: u32) -> Config {
    tiny(&format!(
        "[path]\nmem_stages = 2\nlocks = 0\n[sm]\nwindow = {accesses}\n"
    ))
}

/// Warps that each load eight words of one bank; the banks of the warps differ.
const APART: &str = ".warp_size 8\n.block 64\n.shared 512\n\
                     ld.shared r1, [(32*l + 4*w) % 256]\nld.shared r2, [(32*l + 4*w) % 256]\n";

#[test]
fn conflicts_of_warps_in_different_banks_overlap() {
    let cycles = |accesses| run(&windowed(accesses), APART).unwrap().cycles;
    let [none, two, four, eight] = [0, 2, 4, 8].map(cycles);
    // Sixteen loads of eight words.
    assert!(none >= 16 * 8, "{none}");
    assert!(
        two * 9 < none * 6 && four * 9 < two * 6 && eight < four,
        "{none} {two} {four} {eight}"
    );
}

#[test]
fn conflicts_in_one_bank_take_their_time() {
    let text = ".warp_size 8\n.block 64\n.shared 512\nld.shared r1, [32*l]\n";
    let cycles = |accesses| run(&windowed(accesses), text).unwrap().cycles;
    assert_eq!([2, 4, 8].map(cycles), [cycles(0); 3]);
}

/// The degree of an access is the cycles in which it was served.
#[test]
fn an_access_alone_has_its_degree() {
    let text = ".warp_size 8\n.block 8\n.shared 512\nld.shared r1, [32*l]\n";
    let [in_order, overlapping] = [0, 4].map(|n| run(&windowed(n), text).unwrap());
    assert_eq!(in_order.cycles, overlapping.cycles);
    assert_eq!(in_order.bank_conflicts, overlapping.bank_conflicts);
}

#[test]
fn a_window_needs_two_stages_and_no_locks() {
    for more in [
        "[path]\nlocks = 0\nmem_stages = 4\n",
        "[path]\nmem_stages = 2\n",
    ] {
        let text = format!("base = \"small\"\n{more}[sm]\nwindow = 4\n");
        let error = Config::from_toml(&text, Path::new("m.toml")).unwrap_err();
        assert!(error.to_string().contains("memory stages"), "{error}");
    }
}
