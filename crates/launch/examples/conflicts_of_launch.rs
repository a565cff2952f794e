//! Runs a kernel from its launch file, and counts the bank conflicts of each
//! instruction of one block, as a GPU of compute capability 8.0 has them.
//!
//! ```text
//! cargo run -p spadkit-launch --example conflicts_of_launch
//! ```

use spadkit_base::error::Result;
use spadkit_launch::capture::{LaunchInput, RunOptions};
use spadkit_launch::launch::LaunchFile;
use spadkit_mapping::trace::ConflictProfile;
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
entry = "columns"
grid = [1]
block = [32]

[[arg]]
name = "out"
type = "u32"
count = 32
"#;

fn main() -> Result<()> {
    let name = Path::new("columns.toml");
    let file = LaunchFile::parse(LAUNCH.to_owned(), name)?;
    let module = Module::parse(PTX, "columns.ptx")?;
    let launch = LaunchInput::given(name, file, module);
    let trace = launch.access_trace(RunOptions::default())?;

    let machine = Config::preset("sm80")?;
    let mask = machine.geometry.bank_mask();
    let places = trace.places();
    for (pc, profile) in ConflictProfile::per_pc(&trace, machine.conflict_rule()) {
        let line = places.of(pc).ptx_line.map(|line| format!(", line {line}"));
        let count = profile.count(|word| word & mask);
        println!("{}{}: {count:?}", trace.name, line.unwrap_or_default());
    }
    Ok(())
}
