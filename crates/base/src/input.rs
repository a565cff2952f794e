//! Reading what a user names: a file, a pipe, or `-` for standard input.
//!
//! Devices and pipes may never end, so everything is read up to a limit; input
//! of the wrong kind is refused at once.

pub mod section;

use crate::claims;
use crate::error::{Error, Result};
use crate::quote::{is_plain, nearest, shown_path};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, IsTerminal, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// INPUT that names standard input.
pub const STDIN: &str = "-";

/// The complaint about a stream with a zero byte near its start, where text is expected.
const NO_TEXT: &str = "is not text";

/// Bytes that are read first, to decide whether to read the rest.
const HEAD_BYTES: u64 = 1 << 16;

/// Whether `path` names standard input: `-` or `/dev/stdin`.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN || path.as_os_str() == "/dev/stdin"
}

/// `path` for messages.
pub fn name_of(path: &Path) -> &Path {
    if is_stdin(path) {
        Path::new("standard input")
    } else {
        path
    }
}

/// The byte order mark of UTF-8.
const UTF8_MARK: &[u8] = "\u{feff}".as_bytes();

/// The format of a file that cannot be UTF-8 text, and the tool that converts it.
fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(("is UTF-16 text", "save it as UTF-8")),
        [0x7f, b'E', b'L', b'F', ..] => Some((
            "is an ELF file: a program, an object file or machine code of a GPU",
            "if it holds PTX, cuobjdump -ptx prints it",
        )),
        _ => None,
    }
}

/// A file that cannot be opened; of one that is not there, a name that is near.
fn missing(path: &Path, error: std::io::Error) -> Error {
    let beside = || {
        let stem = path.file_stem()?.to_str()?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let names = std::fs::read_dir(folder.unwrap_or(Path::new(".")))
            .ok()?
            .flatten();
        let names = names.map(|entry| PathBuf::from(entry.file_name()));
        let is_alike = |name: &PathBuf| name.extension() == path.extension();
        let alike: Vec<PathBuf> = names.filter(is_alike).collect();
        let stems = alike.iter().filter_map(|name| name.file_stem()?.to_str());
        let near = nearest(stem, stems)?;
        let is_near = |name: &PathBuf| name.file_stem().is_some_and(|stem| stem == near);
        alike.iter().find(|name| is_near(name)).cloned()
    };
    let near = match error.kind() {
        ErrorKind::NotFound => beside(),
        _ => None,
    };
    let plain = Error::io("read", path, error);
    match near {
        Some(near) => Error::usage(
            plain.to_string(),
            format!("did you mean '{}'?", shown_path(&near)),
        ),
        None => plain,
    }
}

/// Refuses a path from another file unless it is a regular file: a pipe may block
/// forever, a device never ends. Links are followed.
pub fn require_file(path: &Path) -> Result<Metadata> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?;
    let kind = meta.file_type();
    let what = match () {
        _ if kind.is_file() => return Ok(meta),
        _ if kind.is_dir() => "is a folder",
        _ if kind.is_fifo() => "is a pipe",
        _ => "is a device",
    };
    Err(Error::usage(
        format!("{} {what}", shown_path(path)),
        "expected a file",
    ))
}

/// The expected kind of input, and its largest size.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Largest size in bytes.
    pub bytes: u64,
    /// The end of the sentence `expected ...`.
    pub expected: &'static str,
}

impl Limit {
    /// Reads a file that may be binary. Standard input is kept: who asks for
    /// it again gets the same.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.read_if(path, |_| true)
    }

    /// Reads a text in UTF-8, without the mark that some editors put before it. `path` may
    /// be standard input.
    pub fn read_text(&self, path: &Path) -> Result<String> {
        let bytes = self.read_if(path, |head| !head.contains(&0))?;
        if let Some((what, help)) = foreign(&bytes) {
            let help = format!("{help}; expected {}", self.expected);
            let what = format!("{} {what}", shown_path(name_of(path)));
            return Err(Error::usage(what, help));
        }
        let bytes = match bytes.strip_prefix(UTF8_MARK) {
            Some(text) => text.to_vec(),
            None => bytes,
        };
        String::from_utf8(bytes).map_err(|e| {
            let offset = e.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(e.as_bytes());
            let help = Some(format!("expected {}", self.expected));
            Error::input("this is not UTF-8 text", help, name_of(path), &text, offset)
        })
    }

    /// Reads what `worth_it` after its beginning.
    pub fn read_if(&self, path: &Path, worth_it: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
        let fail = |e| Error::io("read", name_of(path), e);
        if !is_stdin(path) {
            claims::reads(path)?;
            let file = File::open(path).map_err(|e| missing(path, e))?;
            return self.take(file, path, &worth_it);
        }
        static KEPT: OnceLock<Vec<u8>> = OnceLock::new();
        if let Some(kept) = KEPT.get() {
            let head = &kept[..kept.len().min(HEAD_BYTES as usize)];
            return match (worth_it(head), kept.len() as u64 > self.bytes) {
                (true, false) => Ok(kept.clone()),
                (false, _) => Err(self.refused(path, NO_TEXT)),
                (true, true) => Err(self.refused(path, &self.too_large())),
            };
        }
        use std::os::fd::AsFd;
        let stdin = std::io::stdin().as_fd().try_clone_to_owned();
        let bytes = self.take(File::from(stdin.map_err(fail)?), path, &worth_it)?;
        Ok(KEPT.get_or_init(|| bytes).clone())
    }

    fn take(
        &self,
        mut file: File,
        path: &Path,
        worth_it: &impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>> {
        let fail = |e| Error::io("read", name_of(path), e);
        let kind = file.metadata().map_err(fail)?.file_type();
        // Somebody may type it in.
        if kind.is_block_device() || kind.is_char_device() && !file.is_terminal() {
            return Err(self.refused(path, "is a device"));
        }
        let mut bytes = Vec::new();
        let head = HEAD_BYTES.min(self.bytes + 1);
        Read::take(&mut file, head)
            .read_to_end(&mut bytes)
            .map_err(fail)?;
        // A file ends, and its reader says where it is wrong; a pipe need not.
        if !kind.is_file() && !worth_it(&bytes) {
            return Err(self.refused(path, NO_TEXT));
        }
        let rest = self.bytes + 1 - bytes.len() as u64;
        Read::take(&mut file, rest)
            .read_to_end(&mut bytes)
            .map_err(fail)?;
        if bytes.len() as u64 > self.bytes {
            Err(self.refused(path, &self.too_large()))
        } else {
            Ok(bytes)
        }
    }

    fn too_large(&self) -> String {
        format!("is larger than {} MiB", self.bytes >> 20)
    }

    fn refused(&self, path: &Path, what: &str) -> Error {
        let what = format!("{} {what}", shown_path(name_of(path)));
        Error::usage(what, format!("expected {}", self.expected))
    }
}

/// Refuses a name that is not [plain](is_plain); `what` says what it names.
pub fn require_plain(what: &str, name: &str) -> Result<()> {
    if is_plain(name) {
        Ok(())
    } else {
        Err(Error::usage(
            format!("{what} '{name}' cannot go into the script of a tool"),
            "expected letters, digits, '_', '-' and '.'",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit {
        bytes: 1 << 20,
        expected: "a test",
    };

    #[test]
    fn files_are_read_up_to_the_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, good) in [
            (0, true),
            (100_000, true),
            (1 << 20, true),
            ((1 << 20) + 1, false),
        ] {
            std::fs::write(file.path(), vec![b'x'; bytes]).unwrap();
            match LIMIT.read_text(file.path()) {
                Ok(text) => assert!(good && text.len() == bytes, "{bytes}"),
                Err(e) => assert!(
                    !good && e.to_string().ends_with("is larger than 1 MiB"),
                    "{e}"
                ),
            }
        }
        std::fs::write(file.path(), [b'a', 0]).unwrap();
        assert_eq!(LIMIT.read_text(file.path()).unwrap(), "a\0");
        assert_eq!(LIMIT.read(file.path()).unwrap(), [b'a', 0]);
        std::fs::write(file.path(), [b'a', b'\n', 0xff]).unwrap();
        let error = LIMIT.read_text(file.path()).unwrap_err().to_string();
        assert!(
            error.contains("not UTF-8") && error.ends_with(":2:1"),
            "{error}"
        );
    }

    #[test]
    fn devices_and_folders_are_refused_at_once() {
        for device in ["/dev/zero", "/dev/urandom"] {
            if Path::new(device).exists() {
                let error = LIMIT.read(Path::new(device)).unwrap_err();
                assert_eq!(error.to_string(), format!("{device} is a device"));
            }
        }
        let folder = LIMIT.read(Path::new("/")).unwrap_err().to_string();
        assert!(folder.contains("Is a directory"), "{folder}");
        let error = require_file(Path::new("/dev/null")).unwrap_err();
        assert_eq!(error.to_string(), "/dev/null is a device");
        assert!(require_file(Path::new("/")).is_err());
    }
}
