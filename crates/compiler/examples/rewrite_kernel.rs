//! Puts the XOR mapping into the PTX of a kernel whose threads store down a column,
//! and runs the kernel before and after.
//!
//! ```text
//! cargo run -p spadkit-compiler --example rewrite_kernel
//! ```

use spadkit_base::error::Result;
use spadkit_compiler::rewrite::{Hashes, Request, measure, rewrite};
use spadkit_launch::launch::LaunchFile;
use spadkit_ptx::Module;
use spadkit_sm::config::Config;
use std::path::Path;

/// Every thread stores into its own row of 32 words, and loads from there.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry columns(.param .u64 out)
{
    .shared .align 4 .b8 tile[4096];
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 7;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    ld.shared.u32 %r2, [%r4];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}";

/// One warp.
const LAUNCH: &str = r#"
ptx = "columns.ptx"
grid = [1]
block = [32]

[[arg]]
name = "out"
type = "u32"
count = 32
"#;

fn main() -> Result<()> {
    let machine = Config::preset("sm80")?;
    let module = Module::parse(PTX, "columns.ptx")?;
    let file = LaunchFile::parse(LAUNCH.to_owned(), Path::new("columns.toml"))?;

    let hashes = Hashes::All("xor".parse()?);
    let prepared = file.prepare(&module)?;
    let request = Request::of_launches(&machine, prepared.launches(), "columns", hashes);
    let rewritten = rewrite(&module, &request)?;
    println!("{}", rewritten.text().unwrap_or("nothing was rewritten"));

    let rule = machine.conflict_rule();
    let measured = measure(&file, &module, &request, &rewritten, rule)?;
    println!(
        "conflicts: {} before, {} after; results equal: {}",
        measured.conflicts_before, measured.conflicts_after, measured.outputs_equal
    );
    Ok(())
}
