//! The reproduction as a page.

use super::check::POINTS;
use crate::cli::this_command;
use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use crate::report::pages::ReproductionReport;
use crate::reproduce::Library;
use crate::reproduce::page::{Made, Section, report};

/// The page of some figures; `points` is the text of their points.
pub(super) fn of(
    sections: &[Section],
    points: &str,
    ids: &[String],
    library: &Library,
) -> Result<ReproductionReport> {
    let mut digests = vec![(POINTS.to_owned(), sha256_hex(points))];
    for section in sections {
        let file = section.figure.file();
        let content = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
        let name = file.strip_prefix(&library.root).unwrap_or(&file);
        digests.push((name.display().to_string(), sha256_hex(&content)));
    }
    let commands = vec![
        this_command(),
        "spadkit reproduce --check docs --recompute 4".to_owned(),
    ];
    let ids = ids.to_vec();
    Ok(report(
        sections,
        Made {
            ids,
            commands,
            digests,
        },
    ))
}
