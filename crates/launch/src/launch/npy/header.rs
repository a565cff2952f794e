//! The header of a .npy file: a dictionary as Python writes it,
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.

/// The header's description of the array.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The type of the elements, such as `<f4`.
    pub descr: String,
    /// Whether the first index is the fastest.
    pub fortran: bool,
    /// The size of each dimension; empty for a single number.
    pub shape: Vec<u64>,
}

impl Header {
    /// Reads the text; the error says what was expected, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        reader.expect('{')?;
        while !reader.take('}') {
            let start = reader.at;
            let key = reader.string("a key in quotes, or '}'")?;
            reader.expect(':')?;
            let is_new = match key {
                "descr" => descr.replace(reader.descr()?).is_none(),
                "fortran_order" => fortran.replace(reader.truth()?).is_none(),
                "shape" => shape.replace(reader.sizes()?).is_none(),
                _ => {
                    reader.at = start;
                    return Err(reader.wanted("'descr', 'fortran_order' or 'shape'"));
                }
            };
            if !is_new {
                reader.at = start;
                return Err(reader.wanted(&format!("'{key}' once")));
            }
            if reader.ends('}')? {
                break;
            }
        }
        reader.skip_space();
        if reader.at < text.len() {
            return Err(reader.wanted("nothing after '}'"));
        }
        let missing = |key: &str| format!("expected a key '{key}'");
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?.to_owned(),
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// A reader at a position in the text.
struct Reader<'a> {
    text: &'a str,
    /// The byte that is next.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The error at this position: `what` was expected.
    fn wanted(&self, what: &str) -> String {
        format!("expected {what} at byte {} of it", self.at)
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Passes `mark` if it is next, after white space.
    fn take(&mut self, mark: char) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(mark);
        self.at += if is_next { mark.len_utf8() } else { 0 };
        is_next
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        if !self.take(mark) {
            return Err(self.wanted(&format!("'{mark}'")));
        }
        Ok(())
    }

    /// Passes a comma, after which there may be more, or `mark`, the end.
    fn ends(&mut self, mark: char) -> Result<bool, String> {
        let is_end = self.take(mark);
        if !is_end && !self.take(',') {
            return Err(self.wanted(&format!("',' or '{mark}'")));
        }
        Ok(is_end)
    }

    /// The text between quotes; the ones that NumPy writes have no backslash.
    fn string(&mut self, what: &str) -> Result<&'a str, String> {
        let quote = ['\'', '"'].into_iter().find(|&quote| self.take(quote));
        let quote = quote.ok_or_else(|| self.wanted(what))?;
        let end = self.rest().find([quote, '\\']);
        match end.filter(|&end| self.rest()[end..].starts_with(quote)) {
            Some(end) => {
                let inside = &self.rest()[..end];
                self.at += end + quote.len_utf8();
                Ok(inside)
            }
            None => Err(self.wanted("text without a backslash, and its closing quote")),
        }
    }

    /// A structured type is a list.
    fn descr(&mut self) -> Result<&'a str, String> {
        self.string("a plain number type in quotes, such as '<f4',")
    }

    fn truth(&mut self) -> Result<bool, String> {
        self.skip_space();
        let values = [("False", false), ("True", true)];
        let found = values
            .iter()
            .find(|(name, _)| self.rest().starts_with(name));
        let (name, value) = found.ok_or_else(|| self.wanted("False or True"))?;
        self.at += name.len();
        Ok(*value)
    }

    fn sizes(&mut self) -> Result<Vec<u64>, String> {
        self.expect('(')?;
        let mut sizes = Vec::new();
        while !self.take(')') {
            self.skip_space();
            let rest = self.rest();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let size = rest[..digits].parse();
            sizes.push(size.map_err(|_| self.wanted("the size of a dimension, or ')'"))?);
            self.at += digits;
            // Python 2 writes long integers with an L.
            if self.rest().starts_with('L') {
                self.at += 1;
            }
            if self.ends(')')? {
                break;
            }
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_reads_is_read() {
        let usual = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        let wanted = Header::parse(usual).unwrap();
        assert_eq!((wanted.descr.as_str(), wanted.fortran), ("<f4", false));
        assert_eq!(wanted.shape, [2, 3]);
        for same in [
            "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
            "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
            "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
            "  { 'descr' :\t'<f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , }  \n",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
        ] {
            assert_eq!(Header::parse(same).as_ref(), Ok(&wanted), "{same}");
        }
        let shape = |text: &str| {
            let header = usual.replace("(2, 3)", text);
            Header::parse(&header).map(|h| h.shape)
        };
        assert_eq!(shape("()"), Ok(vec![]));
        assert_eq!(shape("(7,)"), Ok(vec![7]));
        assert!(
            Header::parse(&usual.replace("False", "True"))
                .unwrap()
                .fortran
        );
    }

    /// A key that is the value of another is not a key.
    #[test]
    fn keys_are_not_searched_for_in_values() {
        let text = "{'descr': 'shape', 'fortran_order': False, 'shape': (1,)}";
        let header = Header::parse(text).unwrap();
        assert_eq!(
            (header.descr.as_str(), &header.shape[..]),
            ("shape", &[1][..])
        );
        let text = "{'descr': \"'shape': (9,)\", 'fortran_order': True, 'shape': (1,)}";
        assert_eq!(Header::parse(text).unwrap().shape, [1]);
    }

    #[test]
    fn what_was_expected_is_in_the_error() {
        let usual = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        for (from, to, expected) in [
            ("{", "[", "'{' at byte 0"),
            ("}", "", "a key in quotes, or '}'"),
            (", }", "", "'}'"),
            ("'descr'", "descr", "a key in quotes"),
            (
                "'descr'",
                "'desc'",
                "'descr', 'fortran_order' or 'shape' at byte 1 ",
            ),
            ("'shape'", "'descr'", "a plain number type"),
            ("'shape': (2, 3)", "'descr': 'i'", "'descr' once"),
            ("'descr': ", "'descr' ", "':'"),
            ("'<f4'", "[('a', '<f4')]", "a plain number type"),
            ("'<f4'", "'<f4", "'}'"),
            ("'<f4'", "'\\x3cf4'", "a backslash"),
            ("False", "0", "False or True"),
            ("(2, 3)", "2", "'('"),
            ("(2, 3)", "(2 3)", "')'"),
            ("(2, 3)", "(-2)", "the size of a dimension"),
            (
                "(2, 3)",
                "(99999999999999999999)",
                "the size of a dimension",
            ),
            ("(2, 3)", "(2, 3", "the size of a dimension, or ')'"),
            ("'fortran_order': False, ", "", "a key 'fortran_order'"),
            ("}", "} more", "nothing after '}'"),
        ] {
            let text = usual.replacen(from, to, 1);
            let error = Header::parse(&text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for cut in 0..usual.len() {
            assert!(Header::parse(&usual[..cut]).is_err(), "{cut}");
        }
    }
}
