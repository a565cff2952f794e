//! The accesses of shared memory of a kernel, and how many passes each takes
//! on 32 banks of 4 bytes.
//!
//! ```text
//! cargo run -p spadkit-ptx --example shared_accesses
//! ```

use spadkit_base::error::Result;
use spadkit_ptx::Module;
use spadkit_ptx::exec::{Access, BlockSink, Event, Launch, Memory, Options, Program, Sink};
use spadkit_ptx::names::Space;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Every thread stores into its own row of 32 words, so a warp needs one bank.
const COLUMN: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry column()
{
    .shared .align 4 .b8 tile[4096];
    .reg .b32 %r<5>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 7;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    ret;
}";

const BANKS: u64 = 32;

/// Passes by instruction.
#[derive(Default)]
struct Passes(Mutex<BTreeMap<u32, usize>>);

impl Sink for Passes {
    fn block(&self, _: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        Some(Box::new(self))
    }
}

impl BlockSink for &Passes {
    fn instruction(&mut self, event: &Event) {
        let shared = event.access.filter(|access| access.space == Space::Shared);
        if let Some(access) = shared {
            *self.0.lock().unwrap().entry(event.pc).or_default() += passes(&access);
        }
    }
}

/// Lanes that access one word are served together; a bank has one word a pass.
fn passes(access: &Access) -> usize {
    let lanes = (0..32).filter(|lane| access.lanes >> lane & 1 == 1);
    let words: BTreeSet<u64> = lanes.map(|lane| access.addresses[lane] / 4).collect();
    let of_bank = |bank| words.iter().filter(|word| **word % BANKS == bank).count();
    (0..BANKS).map(of_bank).max().unwrap_or(0)
}

fn main() -> Result<()> {
    let program = Program::new(&Module::parse(COLUMN, "column.ptx")?)?;
    let launch = Launch {
        entry: "column".to_owned(),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: Vec::new(),
    };
    let passes = Passes::default();
    let options = Options {
        sink: Some(&passes),
        ..Options::default()
    };
    program.run(&mut Memory::new(), &launch, &options)?;
    let instructions = program.instructions("column")?;
    for (pc, passes) in passes.0.into_inner().unwrap() {
        let line = instructions[pc as usize].line;
        println!("line {line}: {passes} passes");
    }
    Ok(())
}
