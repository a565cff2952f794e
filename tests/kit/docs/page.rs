//! A page: its links, and the anchors of its headings.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

pub struct Link {
    pub line: usize,
    pub target: String,
}

#[derive(Default)]
pub struct Page {
    pub links: Vec<Link>,
    /// Spans of code that may be paths in the repository.
    paths: Vec<Link>,
    anchors: BTreeSet<String>,
}

impl Page {
    pub fn parse(text: &str) -> Page {
        let mut page = Page::default();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            if let Event::Code(code) = &event
                && let Some(path) = path_in(code)
            {
                page.paths.push(Link {
                    line: line_of(text, range.start),
                    target: path.to_owned(),
                });
            }
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().unwrap()),
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(Link {
                        line: line_of(text, range.start),
                        target: dest_url.to_string(),
                    });
                }
                _ => {}
            }
        }
        page
    }

    /// The anchor that mdbook and code hosts give a heading; a repeated one is
    /// numbered.
    fn add_anchor(&mut self, heading: &str) {
        let slug: String = heading
            .trim()
            .chars()
            .filter_map(|c| match c {
                '_' | '-' => Some(c),
                c if c.is_whitespace() => Some('-'),
                c => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
            })
            .collect();
        let numbered = (0..).map(|i| match i {
            0 => slug.clone(),
            i => format!("{slug}-{i}"),
        });
        let free = numbered.into_iter().find(|s| !self.anchors.contains(s));
        self.anchors.extend(free);
    }
}

/// Words in capitals that are a part of a file's name; others stand for any name.
const IN_NAMES: [&str; 3] = ["README", "SUMMARY", "CHANGELOG"];

/// The path that a span of code is, without the line behind it. Commands and
/// patterns (`spad_NAME.rs`, `*.toml`) are none.
fn path_in(code: &str) -> Option<&str> {
    let path = code.split([':', '#']).next()?;
    if path.starts_with('/') || !path.contains('/') {
        return None;
    }
    let part_of_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let stands_for_any = |word: &str| {
        word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase()) && !IN_NAMES.contains(&word)
    };
    let is_path = path.chars().all(part_of_path)
        && !path.contains("...")
        && !path
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(stands_for_any);
    is_path.then_some(path)
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Pages by their path in the repository.
pub struct Pages {
    root: PathBuf,
    pages: BTreeMap<PathBuf, Page>,
}

impl Pages {
    pub fn new(root: &Path) -> Pages {
        Pages {
            root: root.to_owned(),
            pages: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, path: PathBuf, page: Page) {
        self.pages.insert(path, page);
    }

    pub fn get(&self, path: &Path) -> Option<&Page> {
        self.pages.get(path)
    }

    /// Links that lead nowhere, with file and line.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, page) in &self.pages {
            for link in &page.links {
                if let Err(fault) = self.resolve(path, &link.target) {
                    faults.push(format!("{}:{}: {fault}", path.display(), link.line));
                }
            }
        }
        faults
    }

    /// Paths in code that are in a folder of the repository and not there, with
    /// file and line. They begin at the root or at the page's folder.
    pub fn missing(&self, elsewhere: &[&str]) -> Vec<String> {
        let mut missing = Vec::new();
        for (path, page) in &self.pages {
            let folder = self.root.join(path.parent().unwrap());
            for Link { line, target } in &page.paths {
                let (top, _) = target.split_once('/').unwrap();
                let is_ours = self.root.join(top).is_dir()
                    && !elsewhere.iter().any(|start| target.starts_with(start));
                if is_ours && !self.root.join(target).exists() && !folder.join(target).exists() {
                    missing.push(format!("{}:{line}: there is no {target}", path.display()));
                }
            }
        }
        missing
    }

    /// Checks a link as it stands in the page `from`.
    pub fn resolve(&self, from: &Path, target: &str) -> Result<(), String> {
        if target.contains("://") {
            return Ok(());
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let to = match path {
            "" => from.to_owned(),
            path => normal(&from.parent().unwrap().join(path)),
        };
        let shown = to.display();
        if from.starts_with("docs") && !to.starts_with("docs") {
            return Err(format!(
                "{shown} is outside docs/, the book cannot show it: name it in `code` instead"
            ));
        }
        match self.pages.get(&to) {
            Some(page) if anchor.is_empty() || page.anchors.contains(anchor) => Ok(()),
            Some(_) => Err(format!("{shown} has no heading #{anchor}")),
            None if self.root.join(&to).exists() => Ok(()),
            None => Err(format!("there is no {shown}")),
        }
    }
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

/// Where files are that a comment of a source names.
const OF_THE_KIT: [&str; 3] = ["tests/", "crates/", "testbenches/"];

/// The files of the kit that a source names, with their lines.
pub fn files_named_in(text: &str) -> Vec<(usize, &str)> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "/.-_".contains(c);
    let starts = OF_THE_KIT
        .iter()
        .flat_map(|folder| text.match_indices(folder));
    starts
        .filter(|(start, _)| !text[..*start].ends_with(part_of_name))
        .filter_map(|(start, _)| {
            let named = &text[start..];
            let length = named.find(|c| !part_of_name(c)).unwrap_or(named.len());
            let path = path_in(named[..length].trim_end_matches(['.', '-']))?;
            let ending = Path::new(path).extension()?.to_str()?;
            let is_source = ["rs", "py", "tera", "faults", "toml"].contains(&ending);
            is_source.then(|| (line_of(text, start), path))
        })
        .collect()
}

/// The chapters of the contract, which sources name without what is in front.
const CONTRACT: &str = "docs/reference/";

/// The pages of docs/ that a source names, with their lines.
pub fn named_in(text: &str) -> Vec<(usize, String)> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "/.-_#".contains(c);
    let mut found = Vec::new();
    for (start, name) in text
        .match_indices("docs/")
        .chain(text.match_indices("microarchitecture/"))
    {
        if text[..start].ends_with(part_of_name) {
            continue;
        }
        let length = text[start..]
            .find(|c| !part_of_name(c))
            .unwrap_or(text.len() - start);
        let path = text[start..start + length].trim_end_matches(['.', '#', '-']);
        if path.contains(".md") {
            let before = if name == "docs/" { "" } else { CONTRACT };
            found.push((line_of(text, start), format!("{before}{path}")));
        }
    }
    found
}
