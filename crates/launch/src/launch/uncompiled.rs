//! Files that are no launch files: PTX, source and machine code.

use spadkit_base::error::{Error, Result};
use spadkit_base::input::require_file;
use spadkit_base::quote::{shell, shown_path};
use std::path::Path;

/// Refuses source text that has to be compiled first, with the command for it.
pub(super) fn refuse_source(path: &Path) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let (language, compile) = match ending {
        "cu" | "cuh" => ("CUDA source", "nvcc -ptx -lineinfo -arch=sm_80"),
        "cubin" | "fatbin" => ("machine code", "cuobjdump -ptx"),
        _ => return Ok(()),
    };
    require_file(path)?;
    let (source, ptx) = (shell(path), shell(path.with_extension("ptx")));
    let compile = match ending {
        "cubin" | "fatbin" => {
            format!("if it holds PTX, {compile} {source} prints it: put that into {ptx}")
        }
        _ => format!("compile it:\n  {compile} {source} -o {ptx}\n"),
    };
    Err(Error::usage(
        format!("{} is {language}, and the kit reads PTX", shown_path(path)),
        match ending {
            "cubin" | "fatbin" => {
                format!("{compile}, then write a launch file:\n  spadkit init {ptx}")
            }
            _ => format!("{compile}then write a launch file:\n  spadkit init {ptx}"),
        },
    ))
}

/// Refuses a PTX text where a launch is expected: it does not say with which
/// grid and arguments it runs. The help names what writes the launch file.
pub(crate) fn refuse_ptx(path: &Path) -> Result<()> {
    refuse_source(path)?;
    if path.extension().is_none_or(|e| e != "ptx") {
        return Ok(());
    }
    require_file(path)?;
    let toml = path.with_extension("toml");
    Err(Error::usage(
        format!(
            "{} is PTX, which does not specify a launch",
            shown_path(path)
        ),
        if toml.exists() {
            format!("expected a launch file; there is {}", shown_path(&toml))
        } else {
            format!(
                "`spadkit init {}` writes {} with grid, block and arguments to fill in \
                 (docs/reference/kernels.md); name that file",
                shell(path),
                shown_path(&toml),
            )
        },
    ))
}

#[cfg(test)]
mod tests {
    use crate::launch::{LaunchFile, read_module};

    #[test]
    fn source_is_refused_with_the_command_that_compiles_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my k.cu");
        std::fs::write(&path, "__global__ void k() {}\n").unwrap();
        let errors = [
            LaunchFile::load(&path).map(drop).unwrap_err(),
            read_module(&path).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.exit_status(), 2);
            let help = miette::Diagnostic::help(&error).unwrap().to_string();
            let ptx = folder.path().join("my k.ptx");
            for part in [
                "nvcc -ptx -lineinfo",
                &format!("spadkit init '{}'", ptx.display()),
            ] {
                assert!(help.contains(part), "{help}");
            }
        }
    }
}
