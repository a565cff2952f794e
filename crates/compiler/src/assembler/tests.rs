//! With a `ptxas` of the machine, if any: `SPADKIT_PTXAS`, or on the
//! path; PyPI has one in nvidia-cuda-nvcc.

use super::*;

/// The assembler for a kernel of the kit; none where it is not installed.
fn assembler(module: &Module, sm: Option<u32>) -> Option<Assembler> {
    let found = Assembler::find(&Toolbox::new(), module, sm).unwrap();
    if found.is_none() {
        eprintln!("skipped: no ptxas (set SPADKIT_PTXAS, or put it on the path)");
    }
    found
}

fn module(text: &str) -> Module {
    Module::parse(text, "k.ptx").unwrap()
}

#[test]
fn the_gpu_is_at_least_that_of_the_target() {
    let of = |target: &str| {
        module(&format!(
            ".version 8.0\n.target {target}\n.address_size 64\n"
        ))
    };
    assert_eq!(arch(&of("sm_52"), None), "sm_75");
    assert_eq!(arch(&of("sm_52"), Some(80)), "sm_80");
    assert_eq!(arch(&of("sm_90"), Some(80)), "sm_90");
    assert_eq!(arch(&of("sm_90a"), Some(100)), "sm_90a");
}

/// `ptxas -v` and the section in the cubin, of two entries of different size.
#[test]
fn registers_and_instructions_are_those_of_the_entry() {
    let text = include_str!("../../../../kernels/transpose/transpose.ptx");
    let module = module(text);
    let Some(assembler) = assembler(&module, Some(80)) else {
        return;
    };
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
    let Some(assembler) = assembler(&module(&text), None) else {
        return;
    };
    let spilled = assembler.assemble(&text, "k").unwrap();
    assert!(
        spilled.registers <= 24 && spilled.spilled_bytes > 0,
        "{spilled:?}"
    );
}
