//! Layouts as source code: the emitted C, compiled, computes the golden model.

mod nvrtc;

use crate::common::tools::{missing, missing_optional};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit::geometry::Geometry;
use spadkit::launch::{LaunchFile, Options};
use spadkit::ptx::tensor::Swizzle;
use spadkit::software::{Language, Layout, LayoutSpec, render};
use std::fmt::Write;
use std::process::Command;

/// Random specs of every kind that are mappings of `geometry`.
fn layouts(geometry: Geometry, per_kind: usize) -> Vec<Layout> {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let mut below = |n: u32| rng.next_u32() % n;
    let (n, m) = (geometry.addr_bits(), geometry.bank_bits());
    let mut layouts = Vec::new();
    for kind in 0..9 {
        let mut found = 0;
        while found < per_kind {
            let list = |item: &mut dyn FnMut() -> String| {
                let items: Vec<String> = (0..m).map(|_| item()).collect();
                items.join(",")
            };
            let text = match kind {
                0 => format!("bitvec-perm:k={}", below(n - m + 1)),
                1 => format!(
                    "bitvec-xor:k1={},k2={},mask={}",
                    below(n - m + 1),
                    below(n),
                    below(1 << m)
                ),
                2 => format!("bitwise-perm:{}", list(&mut || below(n).to_string())),
                3 => format!(
                    "bitwise-xor:{}",
                    list(&mut || format!("{}^{}", below(n / 2), n / 2 + below(n / 2)))
                ),
                4 => format!(
                    "matrix:{}",
                    list(&mut || (1 + below((1 << n) - 1)).to_string())
                ),
                5 => format!("rap:seed={}", below(1000)),
                6 => format!("ras:seed={}", below(1000)),
                7 => format!("pad:every={},by={}", 1 + below(200), below(9)),
                _ => {
                    let bits = below(m + 1);
                    let distance = bits + below(n - 2 * bits + 1);
                    let base = below(n - bits - distance + 1);
                    let sign = if distance > 0 && below(2) == 0 {
                        "-"
                    } else {
                        ""
                    };
                    format!("swizzle:{bits},{base},{sign}{distance}")
                }
            };
            let spec: LayoutSpec = text.parse().unwrap();
            // Random matrices may be of low rank.
            if let Ok(layout) = Layout::new(&spec, geometry) {
                layouts.push(layout);
                found += 1;
            }
        }
    }
    layouts
}

/// The emitted functions of `layouts`, and a main that prints the index of every word.
fn program(layouts: &[Layout], language: Language) -> String {
    let mut text = String::from(
        "#include <cstdio>\n#define __device__\n#define __forceinline__ inline\n\
         #define __constant__ static const\n#define __constant static const\ntypedef unsigned uint;\n",
    );
    for (i, layout) in layouts.iter().enumerate() {
        let code = render(layout, language);
        assert!(code.exact && code.reason.is_none());
        write!(text, "namespace n{i} {{\n{}}}\n", code.code).unwrap();
    }
    text += "int main() {\n";
    for (i, layout) in layouts.iter().enumerate() {
        let words = layout.geometry().words();
        writeln!(
            text,
            "for (unsigned i = 0; i < {words}; i++) printf(\"%u\\n\", n{i}::spad_place(i));"
        )
        .unwrap();
    }
    text + "}\n"
}

#[test]
fn the_c_text_compiled_gives_the_place_of_every_word() {
    let layouts = layouts(Geometry::new(12, 5).unwrap(), 4);
    for language in [Language::Cuda, Language::Opencl] {
        let mut printed = compiled(&program(&layouts, language)).into_iter();
        for layout in &layouts {
            for index in 0..layout.geometry().words() as u32 {
                let spec = layout.spec();
                assert_eq!(printed.next(), Some(layout.place(index)), "{spec} {index}");
            }
        }
    }
}

/// The largest number of a warp's words in one bank: a 32 x 32 tile of floats
/// that is read by columns.
fn column_degree(spec: &str) -> usize {
    let geometry = Geometry::new(10, 5).unwrap();
    let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
    let degree = |column: u32| {
        let mut load = [0; 32];
        (0..32).for_each(|row| load[layout.bank(32 * row + column) as usize] += 1);
        load.into_iter().max().unwrap_or(0)
    };
    (0..32).map(degree).max().unwrap()
}

/// As tabulated in public for CuTe's swizzles (NVlabs, cuda-oxide).
#[test]
fn columns_of_a_tile_have_the_published_conflicts() {
    for (spec, degree) in [
        ("mod", 32),
        ("swizzle:5,0,5", 1),
        ("swizzle:3,0,5", 4),
        ("swizzle:2,0,5", 8),
        ("pad:every=32,by=1", 1),
    ] {
        assert_eq!(column_degree(spec), degree, "{spec}");
    }
}

/// Whether the CUDA text has the function with the table in registers, too.
fn has_registers(layout: &Layout) -> bool {
    render(layout, Language::Cuda)
        .code
        .contains("spad_place_in_registers(")
}

#[test]
fn packed_shifts_in_registers_give_the_same_places() {
    let geometry = Geometry::new(10, 5).unwrap();
    let layout = Layout::new(&"rap:seed=4".parse().unwrap(), geometry).unwrap();
    let code = render(&layout, Language::Cuda).code;
    // RAP paper, section VI: six values of five bits a word.
    assert_eq!(
        code.matches("const unsigned spad_table[6]").count(),
        1,
        "{code}"
    );
    let swizzle = Layout::new(&"swizzle:5,0,5".parse().unwrap(), geometry).unwrap();
    assert!(has_registers(&layout) && !has_registers(&swizzle));
    let opencl = render(&layout, Language::Opencl).code;
    assert!(!opencl.contains("in_registers"), "{opencl}");
    let text = program(std::slice::from_ref(&layout), Language::Cuda).replace(
        "n0::spad_place(i)",
        "n0::spad_place_in_registers(i / 32, i % 32)",
    );
    assert_eq!(
        compiled(&text),
        (0..1024).map(|i| layout.place(i)).collect::<Vec<_>>()
    );
}

/// What a C++ program prints, a number a line.
fn compiled(program: &str) -> Vec<u32> {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("p.cpp"), folder.path().join("p"));
    std::fs::write(&source, program).unwrap();
    let compile = Command::new("c++")
        .arg("-o")
        .args([&binary, &source])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compile.stderr).into_owned();
    assert!(compile.status.success(), "{errors}");
    let output = Command::new(&binary).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(|l| l.parse().unwrap()).collect()
}

/// Runs a PTX kernel with `threads` threads; its only argument is a buffer of
/// `count` words.
fn run_ptx(ptx: &str, entry: &str, threads: u32, count: u32) -> Vec<u32> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let launch = format!(
        "ptx = \"k.ptx\"\nentry = \"{entry}\"\ngrid = [{}]\nblock = [128]\n\
         [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = {count}\n",
        threads / 128
    );
    let path = folder.path().join("k.toml");
    std::fs::write(&path, launch).unwrap();
    let file = LaunchFile::load(&path).unwrap();
    let mut prepared = file
        .prepare(&file.module().unwrap())
        .unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    let outcome = prepared.run(&Options::default()).unwrap();
    assert!(outcome.findings.is_empty(), "{:?}\n{ptx}", outcome.findings);
    let (_, _, bytes) = prepared.buffers().next().unwrap();
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// The OpenCL text is OpenCL C: a compiler of it takes all kinds of mappings.
#[test]
fn clang_takes_the_opencl_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.cl");
    let mut source = String::new();
    for (i, layout) in layouts(Geometry::new(12, 5).unwrap(), 3).iter().enumerate() {
        let code = render(layout, Language::Opencl).code;
        let code = code.replace("spad_place", &format!("place{i}"));
        source += &code.replace("spad_table", &format!("table{i}"));
    }
    std::fs::write(&path, source).unwrap();
    let arguments =
        "-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Werror";
    if missing_optional("clang") {
        return;
    }
    let output = Command::new("clang")
        .args(arguments.split(' '))
        .arg(&path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
}

/// The indices of all words, computed by a kernel that calls the function.
fn places_by_kernel(functions: &[String], words: u32, call: &str) -> String {
    let mut text = ".version 7.0\n.target sm_70\n.address_size 64\n".to_owned();
    for function in functions {
        text += function;
    }
    write!(
        text,
        ".visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<9>; .reg .b64 %rd<4>;\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n\
         mad.lo.u32 %r2, %r1, 128, %r0; mul.wide.u32 %rd1, %r2, 4; add.u64 %rd2, %rd0, %rd1;\n"
    )
    .unwrap();
    for i in 0..functions.len() {
        let at = 4 * words as usize * i;
        writeln!(
            text,
            "call (%r3), {call}{i}, (%r2); st.global.u32 [%rd2+{at}], %r3;"
        )
        .unwrap();
    }
    text + "ret;\n}\n"
}

/// The PTX text, executed, is the golden model.
#[test]
fn the_ptx_text_executed_gives_the_place_of_every_word() {
    let layouts = layouts(Geometry::new(10, 5).unwrap(), 3);
    let renamed = |(i, layout): (usize, &Layout)| {
        let code = render(layout, Language::Ptx).code;
        let code = code.replace("spad_place", &format!("place{i}"));
        code.replace("spad_table", &format!("table{i}"))
    };
    let functions: Vec<String> = layouts.iter().enumerate().map(renamed).collect();
    let words = 1024;
    let ptx = places_by_kernel(&functions, words, "place");
    // The buffer holds the words of every function; the grid covers one.
    let all = run_ptx(&ptx, "k", words, words * layouts.len() as u32);
    for (layout, places) in layouts.iter().zip(all.chunks_exact(words as usize)) {
        for (index, place) in places.iter().enumerate() {
            assert_eq!(
                *place,
                layout.place(index as u32),
                "{} {index}",
                layout.spec()
            );
        }
    }
}

/// The hash paper's Listing 2 as printed, k1 = 1, k2 = 6, mask = 3.
fn listing_2(address: u32) -> u32 {
    let addr_xor = (address >> 6) & 3;
    addr_xor ^ (address >> 1)
}

/// The layout drops the lowest bit of the index, so that two words share every
/// index. The hardware mapping of the same spec has these banks and is one to
/// one.
#[test]
fn listing_2_of_the_hash_paper_is_not_injective() {
    assert_eq!((listing_2(0), listing_2(1)), (0, 0));
    let geometry = Geometry::new(14, 5).unwrap();
    let mut taken = vec![0; geometry.words()];
    (0..geometry.words() as u32).for_each(|i| taken[listing_2(i) as usize] += 1);
    assert!(taken.iter().all(|&n| n == 0 || n == 2));
    let spec = "bitvec-xor:k1=1,k2=6,mask=3".parse().unwrap();
    let layout = Layout::new(&spec, geometry).unwrap();
    let mut seen = vec![false; geometry.words()];
    for i in 0..geometry.words() as u32 {
        assert_eq!(layout.bank(i), listing_2(i) & 31);
        assert!(!std::mem::replace(
            &mut seen[layout.place(i) as usize],
            true
        ));
    }
}

/// The number behind `name = ` in a text.
fn number(text: &str, name: &str) -> u32 {
    let rest = text.split(&format!("{name} = ")).nth(1).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Triton's encodings by their definitions: `swizzled_shared` XORs the vector's
/// number in its row with (row / perPhase) mod maxPhase, `padded_shared` puts
/// the padding behind every interval.
#[test]
fn tritons_encodings_mean_the_layout() {
    let geometry = Geometry::new(12, 5).unwrap();
    let mut exact = 0;
    for (bits, base, shift) in
        (0..6u32).flat_map(|b| (0..5u32).flat_map(move |m| (b.max(1)..8).map(move |s| (b, m, s))))
    {
        if bits + base + shift > 12 {
            continue;
        }
        let spec = format!("swizzle:{bits},{base},{shift}").parse().unwrap();
        let layout = Layout::new(&spec, geometry).unwrap();
        let code = render(&layout, Language::Triton);
        assert!(code.exact, "{spec}");
        exact += 1;
        let [vec, per_phase, max_phase] =
            ["vec", "perPhase", "maxPhase"].map(|name| number(&code.code, name));
        // The comment says for which rows; the identity is for all.
        let row_words = match bits {
            0 => 32,
            _ => {
                let rows = code.code.split("rows of ").nth(1).unwrap();
                rows.split(' ').next().unwrap().parse::<u32>().unwrap()
            }
        };
        for i in 0..geometry.words() as u32 {
            let (row, column) = (i / row_words, i % row_words);
            let vector = (column / vec) ^ (row / per_phase % max_phase);
            let place = row * row_words + vector * vec + column % vec;
            assert_eq!(layout.place(i), place, "{spec} {i}");
        }
    }
    assert!(exact > 50);
    let layout = Layout::new(&"pad:every=64,by=4".parse().unwrap(), geometry).unwrap();
    let code = render(&layout, Language::Triton);
    assert!(code.exact && code.code.contains("#ttg.padded_shared<[64:+4]"));
    let (interval, padding) = (64, 4);
    assert!((0..4096).all(|i| layout.place(i) == i + i / interval * padding));
    for spec in ["pad:every=33,by=1", "rap:seed=1", "add"] {
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        let code = render(&layout, Language::Triton);
        assert!(!code.exact && code.reason.is_some(), "{spec}");
    }
}

/// The function of elements that are no words, compiled.
#[test]
fn functions_of_elements_keep_the_bytes_of_a_word_together() {
    let geometry = Geometry::new(12, 5).unwrap();
    let widths = [1u32, 2, 4, 8, 16];
    let specs = [
        "swizzle:3,2,4",
        "pad:every=64,by=4",
        "matrix:0x1,0x2,0x24,0x88,0x110",
    ];
    let mut text = String::from(
        "#include <cstdio>\n#define __device__\n#define __forceinline__ inline\n\
         #define __constant__ static const\n",
    );
    let mut calls = String::new();
    for (i, spec) in specs.iter().enumerate() {
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        for bytes in widths {
            let name = format!("at{i}_{bytes}");
            text += &spadkit::software::cuda_function(&layout, &name, bytes);
            let elements = 4 * geometry.words() as u32 / bytes;
            writeln!(
                calls,
                "for (unsigned i = 0; i < {elements}; i++) printf(\"%u\\n\", {name}(i));"
            )
            .unwrap();
        }
    }
    let mut printed = compiled(&format!("{text}int main() {{\n{calls}}}\n")).into_iter();
    for spec in specs {
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        for bytes in widths {
            for i in 0..4 * geometry.words() as u32 / bytes {
                let byte = i * bytes;
                let place = (4 * layout.place(byte / 4) + byte % 4) / bytes;
                assert_eq!(printed.next(), Some(place), "{spec} {bytes} {i}");
            }
        }
    }
}

/// The function of Numba, executed by Python.
#[test]
fn functions_of_numba_give_the_place_of_every_element() {
    if missing(&["python3"]) {
        return;
    }
    let geometry = Geometry::new(11, 5).unwrap();
    let specs = ["swizzle:3,2,4", "pad:every=64,by=4", "rap:seed=1", "add"];
    let mut program = String::from(
        "class cuda:\n    jit = staticmethod(lambda device: lambda function: function)\nN = 16\n",
    );
    let mut expected = Vec::new();
    for (i, spec) in specs.iter().enumerate() {
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        // Other mappings take elements of several words apart.
        let widths: &[u32] = if i < 2 { &[2, 4, 8] } else { &[4] };
        for &bytes in widths {
            let place = |element: u32| {
                let byte = element * bytes;
                (4 * layout.place(byte / 4) + byte % 4) / bytes
            };
            let elements = 4 * geometry.words() as u32 / bytes;
            let name = format!("at{i}_{bytes}");
            program += &spadkit::software::numba_function(&layout, &name, bytes, None);
            program += &format!("for i in range({elements}): print({name}(i))\n");
            expected.extend((0..elements).map(|i| place(i).to_string()));
            program += &spadkit::software::numba_function(&layout, &name, bytes, Some("N"));
            program += &format!("for i in range({elements}): print(*{name}(i // N, i % N))\n");
            expected.extend((0..elements).map(|i| format!("{} {}", place(i) / 16, place(i) % 16)));
        }
    }
    let run = Command::new("python3")
        .args(["-c", &program])
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(printed.lines().eq(&expected), "{errors}");
}

/// The modes of tensor maps as index arithmetic are those by which the executor
/// copies.
#[test]
fn tma_modes_are_those_of_the_executor() {
    let geometry = Geometry::new(14, 5).unwrap();
    for (text, pieces) in [("tma:32", 2), ("tma:64", 4), ("tma:128", 8)] {
        let mode = Swizzle::ALL.into_iter().find(|m| m.pieces() == pieces);
        let mode = mode.unwrap();
        let layout = Layout::new(&text.parse().unwrap(), geometry).unwrap();
        for word in 0..4096 {
            let copied = mode.place(4 * u64::from(word), 0);
            assert_eq!(copied, 4 * u64::from(layout.place(word)), "{text}");
        }
    }
}
