//! Which GPU the PTX of an INPUT is for.

use super::Selected;
use crate::launch::LaunchFile;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The `.target` of PTX, and the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxTarget {
    /// 80 of `sm_80`.
    pub sm: u32,
    /// The PTX.
    pub file: PathBuf,
}

/// The target of what `input` names, a launch file or PTX, and the highest one
/// of PTX that is linked; none for all else and where it cannot be read, which
/// comes up again when it is.
pub fn ptx_target(input: &str) -> Option<PtxTarget> {
    let path = Path::new(input);
    let files = match Selected::of(path) {
        Some(selected) => {
            let launch = LaunchFile::load(&selected.file).ok()?;
            [vec![launch.ptx.value], launch.linked].concat()
        }
        None if path.extension().is_some_and(|e| e == "ptx") => vec![path.to_owned()],
        None => return None,
    };
    let targets = files.into_iter().filter_map(of_file);
    targets.max_by_key(|target| target.sm)
}

fn of_file(file: PathBuf) -> Option<PtxTarget> {
    // Devices and pipes are refused by whoever reads all of it.
    if !std::fs::metadata(&file).ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    let opened = std::fs::File::open(&file).ok()?;
    opened.take(HEAD).read_to_end(&mut head).ok()?;
    let sm = target(&String::from_utf8_lossy(&head))?;
    Some(PtxTarget { sm, file })
}

/// The directive is at the top, after comments.
const HEAD: u64 = 1 << 16;

/// The number of the first `sm_` in the `.target` of PTX.
fn target(text: &str) -> Option<u32> {
    let mut lines = text.lines().map(str::trim_start);
    let names = lines.find_map(|line| line.strip_prefix(".target"))?;
    let words = names.split(|c: char| c.is_whitespace() || c == ',');
    let digits = words.filter_map(|w| w.strip_prefix("sm_")).next()?;
    let letters = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
    letters.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_that_of_the_directive() {
        assert_eq!(
            target("// .target sm_30\n.version 8.0\n.target sm_80\n"),
            Some(80)
        );
        assert_eq!(target(".target sm_90a, debug"), Some(90));
        assert_eq!(target(".target texmode_unified, sm_52"), Some(52));
        assert_eq!(target(".version 8.0"), None);
        assert_eq!(target(".target sm_"), None);
    }

    #[test]
    fn what_is_no_ptx_has_none() {
        for input in [
            "kernel:fwt",
            "a.json",
            "no/such.ptx",
            "no/such.toml",
            "/dev/zero",
        ] {
            assert_eq!(ptx_target(input), None, "{input}");
        }
    }
}
