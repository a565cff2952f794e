//! `kernelslist.g`: the kernels of an application, a line each.

use super::source::{Bad, Lines};
use super::survey::Survey;
use spadkit_base::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The trace that `path` names: itself, or for a list the one kernel in it
/// that accesses shared memory.
pub fn find_kernel(path: &Path) -> Result<Survey> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    if !name.starts_with("kernelslist") {
        return Survey::read(path);
    }
    let mut users = Vec::new();
    for kernel in kernels(path)? {
        let survey = Survey::read(&kernel)?;
        if survey.shared_accesses > 0 {
            users.push(survey);
        }
    }
    let names: Vec<String> = users.iter().map(|u| u.path.display().to_string()).collect();
    match users.len() {
        1 => Ok(users.remove(0)),
        0 => Err(Error::usage(
            format!("{}: no kernel accesses shared memory", path.display()),
            "expected a kernel with LDS, STS or ATOMS instructions",
        )),
        n => Err(Error::usage(
            format!("{}: {n} kernels access shared memory", path.display()),
            format!("name one of them: {}", names.join(", ")),
        )),
    }
}

/// The trace files that a list names, in the folder of the list.
fn kernels(path: &Path) -> Result<Vec<PathBuf>> {
    let mut lines = Lines::open(path)?;
    let mut kernels = Vec::new();
    while lines.advance()? {
        let line = lines.line().trim();
        if line.is_empty() || line.starts_with("Memcpy") {
            continue;
        }
        let is_name = line.starts_with("kernel") && !line.contains(['/', '\\']);
        if !is_name {
            let what = format!("'{line}' is not a line of a kernel list");
            let help = "expected kernel-N.traceg or Memcpy...";
            return Err(lines.error(Bad::new(what, help, 0)));
        }
        kernels.push(path.with_file_name(line));
    }
    Ok(kernels)
}
