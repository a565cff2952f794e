//! Registers, instructions and spills in the machine code, with the `ptxas` of the
//! machine.

use crate::common::tools::missing_ptxas;
use spadkit::assembler::Assembler;
use spadkit::ptx::Module;
use spadkit::tool::{ToolKind, Toolbox};

fn assembler(text: &str, sm: Option<u32>) -> Assembler {
    let module = Module::parse(text, "k.ptx").unwrap();
    Assembler::required(&Toolbox::new(), &module, sm).unwrap()
}

/// `ptxas -v` and the section in the cubin, of two entries of different size.
#[test]
fn registers_and_instructions_are_those_of_the_entry() {
    if missing_ptxas(&[ToolKind::Ptxas]) {
        return;
    }
    let text = include_str!("../../kernels/transpose/transpose.ptx");
    let assembler = assembler(text, Some(80));
    let [small, large] = ["transpose", "drdw_rap"].map(|e| assembler.assemble(text, e).unwrap());
    assert!((8..=32).contains(&small.registers), "{small:?}");
    assert!(small.registers < large.registers && small.instructions < large.instructions);
    assert!((20..=60).contains(&small.instructions), "{small:?}");
    assert_eq!(small.spilled_bytes, 0);
    // What it does not take is said with its words.
    let wrong = text.replace("bar.sync", "bar.nonsense");
    let error = assembler.assemble(&wrong, "transpose").unwrap_err();
    assert!(format!("{error:?}").contains("nonsense"), "{error:?}");
}

/// Registers that do not fit into `.maxnreg` are stored to local memory.
#[test]
fn spills_are_counted() {
    if missing_ptxas(&[ToolKind::Ptxas]) {
        return;
    }
    let sums: String = (0..64)
        .map(|i| format!("ld.global.f32 %f{i}, [%d0+{}];\n", 4 * i))
        .chain(
            (0..64)
                .rev()
                .map(|i| format!("fma.rn.f32 %f64, %f{i}, %f{}, %f64;\n", (i + 7) % 64)),
        )
        .chain((0..64).map(|i| format!("st.global.f32 [%d0+{}], %f{i};\n", 4 * i + 512)))
        .collect();
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n\
         .maxnreg 24\n{{\n.reg .f32 %f<65>;\n.reg .b64 %d0;\nld.param.u64 %d0, [p];\n\
         mov.f32 %f64, 0f00000000;\n{sums}st.global.f32 [%d0], %f64;\nret;\n}}\n"
    );
    let spilled = assembler(&text, None).assemble(&text, "k").unwrap();
    assert!(
        spilled.registers <= 24 && spilled.spilled_bytes > 0,
        "{spilled:?}"
    );
}
