//! Clusters of one block, and what changes nothing here.

use super::*;

#[test]
fn the_cluster_is_the_block() {
    let body =
        ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r1;
        mov.u32 %r3, %cluster_ctarank; mapa.shared::cluster.u32 %r4, %r2, %r3;
        st.shared::cluster.u32 [%r4], %t; barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned; xor.b32 %r5, %r2, 128; ld.shared.u32 %r6, [%r5];
        getctarank.shared::cluster.u32 %r7, %r2; add.u32 %r6, %r6, %r7;
        cvta.shared.u64 %rd1, s; mapa.u64 %rd2, %rd1, 0; sub.u64 %rd2, %rd2, %rd1;
        cvt.u32.u64 %r8, %rd2; add.u32 %r6, %r6, %r8; mov.u32 %r9, %cluster_nctarank;
        mad.lo.u32 %r6, %r9, 1000, %r6; mov.u32 %r9, %clusterid.x; add.u32 %r6, %r6, %r9;
        griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 240; fence.proxy.async;
        fence.mbarrier_init.release.cluster; griddepcontrol.launch_dependents;
        elect.sync %r10|%p1, -1; @%p1 add.u32 %r6, %r6, 5000; st.global.u32 [%out], %r6; ret;";
    let run = run_with(&kernel(body), [64, 1, 1], [1, 1, 1], &[0; 64], |o, _| {
        o.races = true
    });
    let expected = |t: u32| 1000 + (t ^ 32) + if t.is_multiple_of(32) { 5000 } else { 0 };
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..64).map(expected).collect::<Vec<u32>>());
    let bare = body.replace("barrier.cluster.wait.acquire.aligned;", "");
    let run = run_with(&kernel(&bare), [64, 1, 1], [1, 1, 1], &[0; 64], |o, _| {
        o.races = true
    });
    assert!(kinds(&run).contains(&FindingKind::Race));
}

#[test]
fn what_a_cluster_of_one_block_has_not() {
    let run = threads(
        ".shared .b32 s; mov.u32 %r1, s; mapa.shared::cluster.u32 %r1, %r1, 1;
         st.shared::cluster.u32 [%r1], 1; ret;",
        1,
        1,
    );
    assert_eq!(kinds(&run), [FindingKind::OutOfBounds]);
    let refused = |head: &str, body: &str| {
        let text = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.entry k() {head} {{ {body} ret; }}"
        );
        let module = Module::parse(&text, "t.ptx").unwrap();
        match module.check_supported("k") {
            Err(crate::error::Error::Input(e)) => e.help.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let help = refused(".reqnctapercluster 2, 1, 1", "");
    assert!(help.contains("clusters of one block"), "{help}");
    let help = refused("", "setmaxnreg.dec.sync.aligned.u32 20;");
    assert!(help.contains("multiple of 8"), "{help}");
}
