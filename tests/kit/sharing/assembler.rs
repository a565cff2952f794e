//! A stock assembler takes annotated PTX. It is looked for on the path and in
//! `SPADKIT_PTXAS`; PyPI has one in nvidia-cuda-nvcc. Without it the check is
//! skipped.

use crate::common::tools::missing_ptxas;
use crate::sharing::random::{annotated, random_kernel};
use spadkit::sharing::Placement;
use spadkit::tool::{ToolKind, Toolbox};
use std::process::Command;

#[test]
fn ptxas_takes_annotated_kernels() {
    if missing_ptxas(&[ToolKind::Ptxas]) {
        return;
    }
    let ptxas = Toolbox::new().get(ToolKind::Ptxas).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ptx, cubin) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
    for seed in 0..12 {
        for placement in [Placement::Optimal, Placement::PostDom] {
            let (_, text) = annotated(&random_kernel(seed), 0.34, placement);
            std::fs::write(&ptx, &text).unwrap();
            let mut command = Command::new(&ptxas.path);
            let output = command
                .arg("-arch=sm_80")
                .arg(&ptx)
                .arg("-o")
                .arg(&cubin)
                .output();
            let output = output.unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "seed {seed}: {told}\n{text}");
        }
    }
}
