use super::*;
use spadkit_launch::capture::statics::launch_indices;
use spadkit_launch::capture::{LaunchInput, RunOptions};
use spadkit_mapping::search::Control;
use spadkit_mapping::software::Layout;
use spadkit_mapping::software::choice::{Effort, MappingKind, choices, per_variable};
use spadkit_sm::config::Config;
use std::path::Path;
use std::time::Duration;

struct TunedTrace {
    trace: AccessTrace,
    machine: Config,
    indices: Indices,
}

impl TunedTrace {
    fn new(launch: &str, preset: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../kernels")
            .join(launch);
        TunedTrace {
            trace: LaunchInput::at(&path)
                .access_trace(RunOptions::default())
                .unwrap(),
            machine: Config::preset(preset).unwrap(),
            indices: launch_indices(&LaunchInput::at(&path)).unwrap(),
        }
    }

    fn suggestions(&self, kinds: &[MappingKind]) -> Vec<Suggestion> {
        let effort = Effort {
            control: Control::none(),
            budget: Duration::from_millis(300),
        };
        let (geometry, rule) = (self.machine.geometry, self.machine.conflict_rule());
        let room = self.machine.block_words;
        let array = Array::new(&self.trace, geometry, rule, room);
        let whole = choices(&array, kinds, &effort).unwrap();
        let apart = per_variable(&self.trace, geometry, rule, room, kinds, &effort).unwrap();
        let tuned = Tuned {
            trace: &self.trace,
            geometry,
            rule,
            whole: (&array, &whole),
            apart: apart.as_ref(),
            indices: &self.indices,
            machine_code: None,
        };
        suggestions(
            &tuned,
            &mut FunctionNames::default(),
            &mut SourceFiles::default(),
        )
        .changes
    }

    /// Thread and first word of the lanes of the accesses at a line of the PTX.
    fn lanes(&self, ptx_line: u32) -> Vec<([u32; 3], u32)> {
        let places = self.trace.places();
        let own = self.trace.accesses.iter();
        let own = own.filter(|a| places.of(a.pc).ptx_line == Some(ptx_line));
        let [x, y, _] = self.trace.block_dim;
        own.flat_map(|a| {
            let lanes = a.addrs.iter().enumerate();
            lanes.filter_map(move |(lane, word)| {
                let t = 32 * a.warp + lane as u32;
                Some(([t % x, t / x % y, t / (x * y)], (*word)?))
            })
        })
        .collect()
    }

    fn layout(&self, spec: &LayoutSpec) -> Layout {
        Layout::new(spec, self.machine.geometry).unwrap()
    }
}

/// What `name[sum]` or `name[f(sum)]` has between its brackets, for a thread:
/// sums of products of numbers and thread indices, nothing else.
fn evaluated(text: &str, thread: [u32; 3]) -> Option<i64> {
    let inside = text.split_once('[')?.1.strip_suffix(']')?;
    let inside = match inside.split_once('(') {
        Some((_, arguments)) => arguments.strip_suffix(')')?,
        None => inside,
    };
    let signed = inside.replace(" - ", " + -");
    signed.split(" + ").try_fold(0, |sum, term| {
        let factors = term.split(" * ").map(|f| match f.trim_start_matches('-') {
            "threadIdx.x" => Some(i64::from(thread[0])),
            "threadIdx.y" => Some(i64::from(thread[1])),
            "threadIdx.z" => Some(i64::from(thread[2])),
            number => number.parse().ok(),
        });
        let product = factors.product::<Option<i64>>()?;
        Some(
            sum + if term.starts_with('-') {
                -product
            } else {
                product
            },
        )
    })
}

/// Every expression that names only threads, compared with the addresses of the
/// run: the element, and its index.
#[test]
fn expressions_give_the_elements_that_the_run_accesses() {
    for (launch, preset, at_least) in [
        ("transpose/transpose.toml", "fermi", 512),
        ("transpose/crsw.toml", "sm80", 1024),
        ("lavamd/lavamd.toml", "sm80", 400),
        ("tiles/tile_vector.toml", "sm80", 64),
    ] {
        let kernel = TunedTrace::new(launch, preset);
        let mut compared = 0;
        for s in kernel.suggestions(&[MappingKind::Swizzle, MappingKind::Pad]) {
            let variables = kernel.trace.shared_variables();
            let own = variables
                .iter()
                .find(|v| Some(&v.name) == s.variable.as_ref());
            let base = own.map_or(0, |v| v.offset);
            for access in s.lines.iter().flat_map(|l| &l.accesses) {
                let (Some(old), Some(new)) = (&access.expression, &access.changed) else {
                    continue;
                };
                assert!(new.contains("(") && new.starts_with(&s.array), "{new}");
                for (thread, word) in kernel.lanes(access.ptx_line.unwrap()) {
                    let Some(element) = evaluated(old, thread) else {
                        continue;
                    };
                    let byte = element * i64::from(s.element_bytes) + i64::from(base);
                    assert_eq!(
                        byte.div_euclid(4),
                        i64::from(word),
                        "{launch}: {old} {thread:?}"
                    );
                    assert_eq!(evaluated(new, thread), Some(element), "{new}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= at_least, "{launch}: {compared}");
    }
}

fn number(text: &str, before: &str) -> u32 {
    let rest = text
        .split_once(before)
        .unwrap_or_else(|| panic!("{before}: {text}"))
        .1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// The texts of padding, CuTe and Triton, read back, put every element where the
/// mapping that they name puts it.
#[test]
fn templates_and_padding_mean_the_mapping() {
    let (mut paddings, mut declared, mut cute, mut triton) = (0, 0, 0, 0);
    for (launch, preset) in [
        ("transpose/transpose.toml", "fermi"),
        ("transpose/crsw.toml", "sm80"),
        ("lavamd/lavamd.toml", "sm80"),
        ("tiles/tile_columns.toml", "sm80"),
        ("tiles/tile_ldmatrix.toml", "sm80"),
        ("dct8x8/dct_short.toml", "sm80"),
        ("matmul/matmul_wide.toml", "sm80"),
    ] {
        let kernel = TunedTrace::new(launch, preset);
        for s in kernel.suggestions(&[MappingKind::Swizzle, MappingKind::Pad]) {
            let bytes = s.element_bytes;
            let elements = kernel.trace.shared_bytes / bytes;
            let place = |layout: &Layout, element: u32| {
                let at = element * bytes;
                (4 * layout.place(at / 4) + at % 4) / bytes
            };
            if let Some(p) = &s.padding {
                paddings += 1;
                let layout = kernel.layout(&p.hash);
                let sizes: Vec<u32> = (p.declaration.split('[').skip(1))
                    .map(|d| d.split(']').next().unwrap().parse().unwrap())
                    .collect();
                for i in 0..elements.min(sizes.iter().product()) {
                    let new = if let [rows, length] = sizes[..] {
                        declared += 1;
                        let row = number(&p.index, "rows of ");
                        if i / row >= rows {
                            continue;
                        }
                        i / row * length + i % row
                    } else {
                        let every = number(&p.index, "i / ");
                        let by = p.index.contains(" * ").then(|| number(&p.index, " * "));
                        i + i / every * by.unwrap_or(1)
                    };
                    assert_eq!(new, place(&layout, i), "{launch}: {p:?} {i}");
                }
            }
            if let Some(t) = &s.cute {
                cute += 1;
                let layout = kernel.layout(&t.hash);
                let numbers = t.code.split_once("Swizzle<").unwrap().1;
                let numbers = numbers.split_once('>').unwrap().0;
                let numbers: Vec<i32> = numbers.split(", ").map(|n| n.parse().unwrap()).collect();
                let [bits, base, shift] = numbers[..] else {
                    panic!()
                };
                for i in 0..elements {
                    // As cute/swizzle.hpp has it.
                    let mask = ((1u32 << bits) - 1) << (base + shift.max(0));
                    let moved = i & mask;
                    let new = i ^ if shift < 0 {
                        moved << -shift
                    } else {
                        moved >> shift
                    };
                    assert_eq!(new, place(&layout, i), "{launch}: {t:?} {i}");
                }
            }
            if let Some(t) = &s.triton {
                triton += 1;
                let layout = kernel.layout(&t.hash);
                let row = number(&t.code, "rows of ");
                let vec = number(&t.code, "vec = ");
                let per_phase = number(&t.code, "perPhase = ");
                let max_phase = number(&t.code, "maxPhase = ");
                for i in 0..elements {
                    // As TritonGPUAttrDefs.td has it.
                    let (r, c) = (i / row, i % row);
                    let phase = r / per_phase % max_phase;
                    let new = r * row + ((c / vec) ^ phase) * vec + c % vec;
                    assert_eq!(new, place(&layout, i), "{launch}: {t:?} {i}");
                }
            }
        }
    }
    assert!(paddings > 3 && declared > 0 && cute > 3 && triton > 3);
}

/// A tile of 32 x 32 floats: padding by one, in the declaration.
#[test]
fn a_tile_is_padded_in_its_declaration() {
    let kernel = TunedTrace::new("tiles/tile_columns.toml", "sm80");
    let found = kernel.suggestions(&MappingKind::all());
    let [s] = &found[..] else { panic!("{found:?}") };
    let padding = s.padding.as_ref().unwrap();
    assert!(padding.declaration.ends_with("[32][33];"), "{padding:?}");
    assert_eq!((padding.conflicts, s.conflicts), (0, 0));
}

#[test]
fn arrays_that_are_best_as_they_are_stay() {
    let kernel = TunedTrace::new("backprop/layer_forward.toml", "sm80");
    assert!(
        kernel
            .suggestions(&[MappingKind::Swizzle, MappingKind::Pad])
            .is_empty()
    );
}
