//! Layouts as source code: the emitted C, compiled, computes the golden model.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit::geometry::Geometry;
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

/// The emitted functions of `layouts` and a main that prints all places.
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
        let folder = tempfile::tempdir().unwrap();
        let (source, binary) = (folder.path().join("p.cpp"), folder.path().join("p"));
        std::fs::write(&source, program(&layouts, language)).unwrap();
        let compile = Command::new("c++")
            .arg("-o")
            .args([&binary, &source])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&compile.stderr).into_owned();
        assert!(compile.status.success(), "{errors}");
        let output = Command::new(&binary).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let mut printed = printed.lines().map(|l| l.parse::<u32>().unwrap());
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
