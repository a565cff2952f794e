//! `tune --software`, compared with padding by one element.

use super::*;

/// Padding by one vector after every row of banks.
fn padded_by_one(array: &Array) -> u64 {
    conflicts(array, &format!("pad:every=32,by={}", array.vector_words())).0
}

/// Nor is the best XOR mapping, which wastes next to nothing, worse.
#[test]
fn on_our_kernels_it_is_never_worse_than_padding_by_one() {
    for name in [
        "transpose/transpose",
        "reduction/reduction",
        "scan/scan",
        "fft/fft_radix2",
        "fwt/fwt",
        "convolution/conv_rows",
        "dct8x8/dct_short",
        "nw/nw_upper",
        "lavamd/lavamd",
        "lud/lud_perimeter",
        "matmul/matmul_wide",
        "sort/bitonic",
        "backprop/layer_forward",
        "histogram/histogram64_atomic",
        "tiles/tile_vector",
    ] {
        let trace = LaunchInput::at(&kernel(&format!("{name}.toml")))
            .access_trace(RunOptions::default())
            .unwrap();
        let array = array(&trace, "sm80");
        // On the diagonals of nw only a matrix does as well as padding.
        let kinds = if name.starts_with("nw/") {
            &MappingKind::all()[..]
        } else {
            &QUICK
        };
        let found = tuned(&array, kinds, 1.0);
        let by_one = padded_by_one(&array);
        assert!(found.best().conflicts <= by_one, "{name}");
        let xors = found.ranked.iter().filter(|c| c.kind != MappingKind::Pad);
        assert!(xors.map(|c| c.conflicts).min().unwrap() <= by_one, "{name}");
    }
}

/// Conflicts of the recorded traces on the hash paper's machine: unmapped,
/// padded by one, with the best mapping of all kinds. If the bound is not
/// reached, the search may find better mappings in more time.
#[test]
fn on_recorded_traces_it_is_never_worse_than_padding_by_one() {
    for (name, by_one, most) in [
        ("transpose", 8, 0),
        ("reduction", 0, 0),
        ("FWT", 512, 0),
        ("conv-1", 292, 0),
        ("hist256", 848, 786),
        ("lavaMD", 709, 709),
        ("NW-1", 1, 0),
        ("backprop", 32, 0),
        ("dct8x8-1-cse", 0, 0),
        ("MRI-grid-splitSort", 400, 400),
    ] {
        let Some(trace) = recorded::trace(name) else {
            return;
        };
        let array = array(&trace, "fermi");
        let found = tuned(&array, &QUICK, 2.0);
        let best = found.best();
        println!("{name}: {by_one} {} {}", best.conflicts, best.layout.spec());
        assert_eq!(padded_by_one(&array), by_one, "{name}");
        assert!(
            best.conflicts <= most.min(by_one),
            "{name} {}",
            best.conflicts
        );
    }
}
