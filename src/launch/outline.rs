//! The launch file to suggest when only PTX is given.

use super::module::read_module;
use super::uncompiled::refuse_source;
use crate::error::{Error, Result};
use crate::input::require_file;
use crate::ptx::Module;
use crate::ptx::exec::{Parameter, Program};
use crate::quote::{shell, shown_path};
use std::path::Path;

/// Refuses a PTX text where a launch is expected: it does not say with which
/// grid and arguments it runs. The help is the launch file that does.
pub fn refuse_ptx(path: &Path) -> Result<()> {
    refuse_source(path)?;
    if path.extension().is_none_or(|e| e != "ptx") {
        return Ok(());
    }
    require_file(path)?;
    let module = read_module(path)?;
    let toml = path.with_extension("toml");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Err(Error::usage(
        format!(
            "{} is PTX, which does not specify a launch",
            shown_path(path)
        ),
        if toml.exists() {
            format!("expected a launch file; there is {}", shown_path(&toml))
        } else {
            format!(
                "`spadkit init {}` writes {} with grid, block and arguments to fill in; or write \
                 this into it, with your own (docs/reference/kernels.md), and name that file:\n\n{}",
                shell(path),
                shown_path(&toml),
                outline(&module, &name)
            )
        },
    ))
}

/// A launch file of the first entry, one block of 256 threads: pointers as
/// buffers of 1024 floats, everything else zero.
fn outline(module: &Module, ptx: &str) -> String {
    let program = Program::new(module).ok();
    let entry = program.iter().flat_map(|p| p.entries()).next();
    let mut text = format!("ptx = {ptx:?}\n");
    text += &format!("entry = {:?}\n", entry.unwrap_or("NAME"));
    text += "grid = [1]\nblock = [256]\n";
    let params = program.as_ref().zip(entry).map(|(p, e)| p.params(e));
    for parameter in params.and_then(Result::ok).unwrap_or_default() {
        text += &argument(&parameter);
    }
    text
}

fn argument(parameter: &Parameter) -> String {
    let given = match (parameter.bytes, parameter.ty.is_float()) {
        (8, false) => "type = \"f32\"\ncount = 1024\ninit = \"random\"".to_owned(),
        (8, true) => "type = \"f64\"\nvalue = 0.0".to_owned(),
        (4, true) => "type = \"f32\"\nvalue = 0.0".to_owned(),
        (4, false) => "type = \"u32\"\nvalue = 0".to_owned(),
        (2, _) => "type = \"u16\"\nvalue = 0".to_owned(),
        (1, _) => "type = \"u8\"\nvalue = 0".to_owned(),
        (bytes, _) => format!(
            "type = \"bytes\"\nvalue = \"{}\"",
            "00".repeat(bytes as usize)
        ),
    };
    format!("\n[[arg]]\nname = {:?}\n{given}\n", parameter.name)
}

#[cfg(test)]
mod tests {
    use crate::launch::LaunchFile;

    #[test]
    fn what_the_message_says_is_a_launch_file_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ptx");
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
                    .visible .entry k(.param .u64 a, .param .u32 n, .param .f32 x,\n\
                    .param .align 4 .b8 s[12]) { ret; }\n";
        std::fs::write(&path, text).unwrap();
        let error = LaunchFile::load(&path).map(drop).unwrap_err();
        assert!(error.to_string().contains("is PTX"), "{error}");
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        let (_, file) = help.split_once("\n\n").unwrap();
        let file = LaunchFile::parse(file.to_owned(), &folder.path().join("k.toml")).unwrap();
        let outcome = file
            .prepare(&file.module().unwrap())
            .unwrap()
            .run(&Default::default())
            .unwrap();
        assert!(outcome.findings.is_empty());
    }
}
