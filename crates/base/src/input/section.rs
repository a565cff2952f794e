//! Tables of a TOML file (a launch, a machine), read key by key, so that errors
//! have line, column and what was expected.

use crate::error::{Error, Result};
use crate::quote::did_you_mean;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file's text and where it came from, for messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Text of the whole file.
    pub text: String,
}

impl Source {
    /// An error at byte `offset`.
    pub fn error(&self, what: impl Into<String>, help: impl Into<String>, offset: usize) -> Error {
        Error::input(what, Some(help.into()), &self.path, &self.text, offset)
    }

    /// A path of the file, which is relative to the file's folder.
    pub fn resolve(&self, relative: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(relative)
    }
}

/// A value and its byte offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Byte offset in the file.
    pub offset: usize,
}

/// A number as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A floating-point number; infinities and NaN too.
    Float(f64),
    /// A string, for what TOML has no room.
    Text(String),
}

/// Tables of a kind, so that a damaged file ends in a message: no kernel comes near it.
const MOST_TABLES: usize = 4096;

/// A table with the keys that it may have.
pub struct Section<'a> {
    source: &'a Source,
    table: &'a DeTable<'a>,
    offset: usize,
    name: String,
}

impl<'a> Section<'a> {
    /// Refuses keys that are not among `known`. `name` is for messages:
    /// such as `[[arg]]`.
    pub fn new(
        source: &'a Source,
        table: &'a DeTable<'a>,
        offset: usize,
        name: impl Into<String>,
        known: &[&str],
    ) -> Result<Self> {
        let name = name.into();
        let mut unknown: Vec<_> = table
            .keys()
            .filter(|k| !known.contains(&k.get_ref().as_ref()))
            .collect();
        unknown.sort_by_key(|k| k.span().start);
        if let Some(key) = unknown.first() {
            return Err(source.error(
                format!(
                    "unknown key '{}' in {name}{}",
                    key.get_ref(),
                    did_you_mean(key.get_ref(), known.iter().copied())
                ),
                format!("expected {}", known.join(", ")),
                key.span().start,
            ));
        }
        Ok(Section {
            source,
            table,
            offset,
            name,
        })
    }

    /// The offset of the table.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the key is given.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value of a key and its byte offset.
    pub fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Refuses keys that mean nothing here, with the reason.
    pub fn refuse(&self, keys: &[&str], reason: &str) -> Result<()> {
        match keys.iter().find_map(|k| Some((k, self.get(k)?))) {
            None => Ok(()),
            Some((key, value)) => {
                let what = format!("'{key}' does not fit here");
                Err(self.source.error(what, reason, value.span().start))
            }
        }
    }

    /// The position of a key's value; of the table if there is none.
    pub fn place(&self, key: &str) -> usize {
        self.get(key).map_or(self.offset, |v| v.span().start)
    }

    /// An error at the value of a key.
    pub fn wrong(&self, key: &str, what: &str, help: &str) -> Error {
        self.source.error(what, help, self.place(key))
    }

    /// The error that a key is missing.
    pub fn missing(&self, key: &str, expected: &str) -> Error {
        self.source.error(
            format!("{} has no '{key}'", self.name),
            format!("expected {key} = {expected}"),
            self.offset,
        )
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue>, expected: &str) -> Error {
        self.source.error(
            format!("'{key}' is {}", described(value.get_ref())),
            format!("expected {expected}"),
            value.span().start,
        )
    }

    /// A string.
    pub fn string(&self, key: &str, expected: &str) -> Result<Option<Placed<String>>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Ok(Some(Placed {
                value: text.to_string(),
                offset: value.span().start,
            })),
            DeValue::String(_) => {
                let expected = format!("expected {expected}");
                let what = format!("'{key}' is empty");
                Err(self.source.error(what, expected, value.span().start))
            }
            _ => Err(self.wrong_type(key, value, expected)),
        }
    }

    /// A string that must be there.
    pub fn required_string(&self, key: &str, expected: &str) -> Result<Placed<String>> {
        let value = self.string(key, expected)?;
        value.ok_or_else(|| self.missing(key, expected))
    }

    /// The key's value as an index of `words`.
    pub fn choice(&self, key: &str, words: &[&str]) -> Result<Option<usize>> {
        let expected = words.join(" or ");
        let Some(word) = self.string(key, &expected)? else {
            return Ok(None);
        };
        match words.iter().position(|w| *w == word.value) {
            Some(at) => Ok(Some(at)),
            None => {
                let what = format!("'{key}' is '{}'", word.value);
                let help = format!("expected {expected}");
                Err(self.source.error(what, help, word.offset))
            }
        }
    }

    /// An integer from `min` to `max`.
    pub fn integer(&self, key: &str, min: u64, max: u64) -> Result<Option<u64>> {
        let value = self.get(key);
        let integer = |v| self.to_integer(key, v, min.into(), max.into());
        Ok(value.map(integer).transpose()?.map(|v| v as u64))
    }

    fn to_integer(
        &self,
        key: &str,
        value: &Spanned<DeValue>,
        min: i128,
        max: i128,
    ) -> Result<i128> {
        let expected = format!("an integer from {min} to {max}");
        let DeValue::Integer(_) = value.get_ref() else {
            return Err(self.wrong_type(key, value, &expected));
        };
        let in_range = |v: &i128| (min..=max).contains(v);
        match integer_of(value.get_ref()).filter(in_range) {
            Some(v) => Ok(v),
            None => Err(self.source.error(
                format!("'{key}' is out of range"),
                format!("expected {expected}"),
                value.span().start,
            )),
        }
    }

    /// A boolean.
    pub fn boolean(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key).map(|v| (v, v.get_ref())) {
            None => Ok(None),
            Some((_, DeValue::Boolean(b))) => Ok(Some(*b)),
            Some((value, _)) => Err(self.wrong_type(key, value, "true or false")),
        }
    }

    /// A number in any of its forms.
    pub fn number(&self, key: &str) -> Result<Option<Placed<Number>>> {
        self.get(key).map(|v| self.to_number(key, v)).transpose()
    }

    fn to_number(&self, key: &str, value: &Spanned<DeValue>) -> Result<Placed<Number>> {
        let number = match value.get_ref() {
            DeValue::Integer(_) => integer_of(value.get_ref()).map(Number::Integer),
            DeValue::Float(f) => Some(Number::Float(float_of(f.as_str()))),
            DeValue::String(text) => Some(Number::Text(text.to_string())),
            _ => None,
        };
        let offset = value.span().start;
        match number {
            Some(value) => Ok(Placed { value, offset }),
            None => Err(self.wrong_type(key, value, "a number, or a string with one")),
        }
    }

    /// An array of numbers.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<Placed<Number>>>> {
        if !self.has(key) {
            return Ok(None);
        }
        let items = self.items(key, "[NUMBER, ...]")?;
        let number = |item| self.to_number(key, item);
        items.iter().map(number).collect::<Result<_>>().map(Some)
    }

    /// The items of an array, which must be there, for whoever knows what they
    /// may be.
    pub fn items(&self, key: &str, expected: &str) -> Result<&'a [Spanned<DeValue<'a>>]> {
        let value = self.get(key).ok_or_else(|| self.missing(key, expected))?;
        match value.get_ref() {
            DeValue::Array(items) => Ok(items),
            _ => Err(self.wrong_type(key, value, expected)),
        }
    }

    /// One to three sizes, each from 1 to its entry in `max`; missing ones are 1.
    pub fn dimensions(&self, key: &str, max: [u32; 3]) -> Result<Placed<[u32; 3]>> {
        let limits = format!("at most {}, {} and {}", max[0], max[1], max[2]);
        let expected = format!("[x], [x, y] or [x, y, z] with {limits}");
        let max = max.map(i128::from);
        let sizes = self.one_to_three(key, &expected, [1; 3].map(|least| (1, least)), max)?;
        Ok(Placed {
            value: sizes.map(|size| size as u32),
            offset: self.place(key),
        })
    }

    /// One to three steps of sizes up to `max`, with a sign; missing ones are 0.
    pub fn steps(&self, key: &str, max: [u32; 3]) -> Result<Option<[i64; 3]>> {
        if !self.has(key) {
            return Ok(None);
        }
        let max = max.map(i128::from);
        let range = max.map(|m| (0, -m));
        let expected = "[x], [x, y] or [x, y, z], integers";
        let steps = self.one_to_three(key, expected, range, max)?;
        Ok(Some(steps.map(|step| step as i64)))
    }

    /// An array of one to three integers; `missing` has for each what it is
    /// where it is missing, and the least that it may be.
    fn one_to_three(
        &self,
        key: &str,
        expected: &str,
        missing: [(i128, i128); 3],
        max: [i128; 3],
    ) -> Result<[i128; 3]> {
        let items = self.items(key, expected)?;
        if items.is_empty() || items.len() > 3 {
            let what = format!("'{key}' has {} dimensions", items.len());
            return Err(self.wrong(key, &what, &format!("expected {expected}")));
        }
        let mut all = missing.map(|(value, _)| value);
        for (at, item) in items.iter().enumerate() {
            all[at] = self.to_integer(key, item, missing[at].1, max[at])?;
        }
        Ok(all)
    }

    /// Items of the array of a key; 0 where it is not an array.
    pub fn length(&self, key: &str) -> usize {
        match self.get(key).map(|v| v.get_ref()) {
            Some(DeValue::Array(items)) => items.len(),
            _ => 0,
        }
    }

    /// A string or an array of strings; none where the key is not there.
    pub fn one_or_more(&self, key: &str, expected: &str) -> Result<Vec<Placed<String>>> {
        match self.get(key).map(|v| v.get_ref()) {
            None => Ok(Vec::new()),
            Some(DeValue::Array(_)) => self.strings(key, expected),
            Some(_) => Ok(self.string(key, expected)?.into_iter().collect()),
        }
    }

    /// An array of strings, which must be there.
    pub fn strings(&self, key: &str, expected: &str) -> Result<Vec<Placed<String>>> {
        let item = |item| self.to_string(key, item, expected);
        self.items(key, expected)?.iter().map(item).collect()
    }

    /// An item of an array, a string.
    pub fn to_string(
        &self,
        key: &str,
        item: &Spanned<DeValue>,
        expected: &str,
    ) -> Result<Placed<String>> {
        match item.get_ref() {
            DeValue::String(text) => Ok(Placed {
                value: text.to_string(),
                offset: item.span().start,
            }),
            _ => Err(self.wrong_type(key, item, expected)),
        }
    }

    /// An array of integers from `min` to `max`; none where the key is not
    /// there.
    pub fn integers(&self, key: &str, min: i64, max: i64) -> Result<Option<Vec<i64>>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let expected = format!("an array of integers from {min} to {max}");
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value, &expected));
        };
        let in_range = |v: &i128| (i128::from(min)..=i128::from(max)).contains(v);
        let item = |item: &Spanned<DeValue>| match item.get_ref() {
            DeValue::Integer(_) => match integer_of(item.get_ref()).filter(in_range) {
                Some(v) => Ok(v as i64),
                None => Err(self.source.error(
                    format!("'{key}' is out of range"),
                    format!("expected {expected}"),
                    item.span().start,
                )),
            },
            _ => Err(self.wrong_type(key, item, &expected)),
        };
        items.iter().map(item).collect::<Result<_>>().map(Some)
    }

    /// The table `[key]`.
    pub fn table(&self, key: &str) -> Result<Option<Placed<&'a DeTable<'a>>>> {
        match self.get(key).map(|v| (v, v.get_ref())) {
            None => Ok(None),
            Some((value, DeValue::Table(table))) => Ok(Some(Placed {
                value: table,
                offset: value.span().start,
            })),
            Some((value, _)) => Err(self.wrong_type(key, value, &format!("a table [{key}]"))),
        }
    }

    /// The tables `[[key]]`.
    pub fn tables(&self, key: &str) -> Result<Vec<Placed<&'a DeTable<'a>>>> {
        let expected = format!("tables that begin with [[{key}]]");
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value, &expected));
        };
        if items.len() > MOST_TABLES {
            return Err(self.source.error(
                format!("there are {} [[{key}]]", items.len()),
                format!("expected at most {MOST_TABLES}"),
                value.span().start,
            ));
        }
        let table = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Ok(Placed {
                value: table,
                offset: item.span().start,
            }),
            _ => Err(self.wrong_type(key, item, &expected)),
        };
        items.iter().map(table).collect()
    }
}

/// An integer of a file; `None` beyond 128 bits, and for what is none.
pub fn integer_of(value: &DeValue) -> Option<i128> {
    match value {
        DeValue::Integer(i) => i128::from_str_radix(i.as_str(), i.radix()).ok(),
        _ => None,
    }
}

/// A floating-point number of a file. TOML writes NaN and infinity with a sign
/// at will.
pub fn float_of(text: &str) -> f64 {
    text.replace('_', "").parse().unwrap_or(f64::NAN)
}

/// The type of a value, for messages.
pub fn described(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a floating-point number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
