//! Kernels on the plain interpreter with which the warp executor is compared.

use crate::reference::{GlobalMemory, Launch, run};
use spadkit::ptx::Module;

const SUM: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry sum(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, 0;
    mov.u32 %r4, %r2;
LOOP:
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra DONE;
    add.u32 %r3, %r3, %r4;
    add.u32 %r4, %r4, 64;
    bra LOOP;
DONE:
    mov.u32 %r5, tile;
    shl.b32 %r6, %r2, 2;
    add.u32 %r5, %r5, %r6;
    st.shared.u32 [%r5], %r3;
    bar.sync 0;
    xor.b32 %r6, %r6, 252;
    mov.u32 %r5, tile;
    add.u32 %r5, %r5, %r6;
    ld.shared.u32 %r7, [%r5];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r7;
    ret;
}
";

#[test]
fn loops_barriers_and_shared_memory_do_what_they_should() {
    let module = Module::parse(SUM, "sum.ptx").unwrap();
    let mut memory = GlobalMemory::default();
    let out = memory.add(vec![0; 256]);
    let mut params = out.to_le_bytes().to_vec();
    params.extend(1000u32.to_le_bytes());
    let launch = Launch {
        entry: "sum",
        grid: [1; 3],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params: &params,
        limit: 1_000_000,
    };
    run(&module, &launch, &mut memory).unwrap();
    for thread in 0..64u32 {
        let expected: u32 = (0..1000).filter(|i| i % 64 == 63 - thread).sum();
        let at = 4 * thread as usize;
        let got = u32::from_le_bytes(memory.buffers[0].bytes[at..at + 4].try_into().unwrap());
        assert_eq!(got, expected, "thread {thread}");
    }
}
