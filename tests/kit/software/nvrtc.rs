//! The CUDA text of layouts, compiled by NVIDIA's own compiler and executed.

use crate::common::tools::{missing, skip};

use super::{layouts, run_ptx};
use spadkit::geometry::Geometry;
use spadkit::software::{Language, Layout, render};
use std::fmt::Write;
use std::process::Command;

/// Compiles CUDA C++ on its standard input to PTX by NVRTC.
const NVRTC: &str = r#"
import ctypes, glob, os, sys
try:
    import nvidia.cuda_nvrtc as package
except ImportError:
    sys.exit(77)
library = ctypes.CDLL(glob.glob(os.path.join(package.__path__[0], "lib/libnvrtc.so.*"))[0])
program, options = ctypes.c_void_p(), [b"--gpu-architecture=compute_80", b"--std=c++17"]
library.nvrtcCreateProgram(ctypes.byref(program), sys.stdin.buffer.read(), b"p.cu", 0, None, None)
status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * 2)(*options))
size = ctypes.c_size_t()
library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
library.nvrtcGetProgramLog(program, log)
if status != 0:
    sys.exit(log.value.decode())
library.nvrtcGetPTXSize(program, ctypes.byref(size))
ptx = ctypes.create_string_buffer(size.value)
library.nvrtcGetPTX(program, ptx)
sys.stdout.write(ptx.value.decode())
"#;

/// PTX of CUDA C++ by NVIDIA's own compiler, where it is installed
/// (`pip install nvidia-cuda-nvrtc-cu12`).
fn nvrtc(source: &str) -> Option<String> {
    use std::io::Write;
    use std::process::Stdio;
    if missing(&["python3"]) {
        return None;
    }
    let python = Command::new("python3")
        .args(["-c", NVRTC])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut python = python.unwrap();
    // Without the package it ends before it reads.
    let _ = python.stdin.take().unwrap().write_all(source.as_bytes());
    let output = python.wait_with_output().unwrap();
    if output.status.code() == Some(77) {
        skip("NVRTC (pip install nvidia-cuda-nvrtc-cu12)");
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}\n{source}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The CUDA text of random mappings of every kind, compiled by NVRTC and
/// executed.
#[test]
fn nvrtc_compiles_the_cuda_text_to_the_golden_model() {
    let layouts = layouts(Geometry::new(10, 5).unwrap(), 3);
    let mut source = String::new();
    for (i, layout) in layouts.iter().enumerate() {
        let code = render(layout, Language::Cuda).code;
        write!(source, "namespace n{i} {{\n{code}}}\n").unwrap();
    }
    source += "extern \"C\" __global__ void k(unsigned *out)\n{\n\
               const unsigned i = 128 * blockIdx.x + threadIdx.x;\n";
    for i in 0..layouts.len() {
        writeln!(source, "out[{i} * 1024 + i] = n{i}::spad_place(i);").unwrap();
    }
    source += "}\n";
    let Some(ptx) = nvrtc(&source) else { return };
    let all = run_ptx(&ptx, "k", 1024, 1024 * layouts.len() as u32);
    for (layout, places) in layouts.iter().zip(all.chunks_exact(1024)) {
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

/// Unrolled over the rows the packed shifts are constants: nothing is loaded.
#[test]
fn nvrtc_keeps_packed_shifts_in_registers() {
    let geometry = Geometry::new(10, 5).unwrap();
    let layout = Layout::new(&"rap:seed=4".parse().unwrap(), geometry).unwrap();
    let code = render(&layout, Language::Cuda).code;
    let source = format!(
        "{code}extern \"C\" __global__ void k(unsigned *out)\n{{\n#pragma unroll\n\
         for (unsigned row = 0; row < 32; row++)\n\
         if (threadIdx.x < 32 && blockIdx.x == 0)\n\
         out[32 * row + threadIdx.x] = spad_place_in_registers(row, threadIdx.x);\n}}\n"
    );
    let Some(ptx) = nvrtc(&source) else { return };
    for load in ["ld.const", "ld.local", "ld.global"] {
        assert!(!ptx.contains(load), "{ptx}");
    }
    let places = run_ptx(&ptx, "k", 1024, 1024);
    assert_eq!(
        places,
        (0..1024).map(|i| layout.place(i)).collect::<Vec<_>>()
    );
}
