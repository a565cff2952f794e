//! The conversions of C's `printf`, as glibc writes them: CUDA's host prints what a kernel
//! has passed on.

/// Widths and precisions beyond this are cut.
const LONGEST: usize = 1000;

/// The part of a format between `%` and the conversion.
#[derive(Debug, Default)]
pub struct Form {
    pub flags: Flags,
    pub width: usize,
    pub precision: Option<usize>,
    pub length: Length,
}

/// `-`, `+`, a blank, `#` and `0`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    pub left: bool,
    pub plus: bool,
    pub blank: bool,
    pub alternate: bool,
    pub zero: bool,
}

/// The size of an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    Byte,
    Short,
    #[default]
    Int,
    Long,
}

/// An argument, by its bits.
pub enum Argument {
    Text(String),
    Bits(u64),
}

impl Form {
    /// The form that `rest` begins with, behind a `%`; `star` gives the argument of each
    /// `*`.
    pub fn read(
        rest: &mut std::iter::Peekable<std::str::Chars>,
        star: &mut dyn FnMut() -> i32,
    ) -> Self {
        let mut form = Form::default();
        while let Some(flag) = rest.next_if(|c| "-+ #0".contains(*c)) {
            let flags = &mut form.flags;
            match flag {
                '-' => flags.left = true,
                '+' => flags.plus = true,
                ' ' => flags.blank = true,
                '#' => flags.alternate = true,
                _ => flags.zero = true,
            }
        }
        let width = if rest.next_if_eq(&'*').is_some() {
            star()
        } else {
            digits(rest)
        };
        form.flags.left |= width < 0;
        form.width = (width.unsigned_abs() as usize).min(LONGEST);
        if rest.next_if_eq(&'.').is_some() {
            let precision = if rest.next_if_eq(&'*').is_some() {
                star()
            } else {
                digits(rest)
            };
            form.precision = usize::try_from(precision).ok().map(|p| p.min(LONGEST));
        }
        while let Some(length) = rest.next_if(|c| "hlLqjzt".contains(*c)) {
            form.length = match (length, form.length) {
                ('h', Length::Short) => Length::Byte,
                ('h', _) => Length::Short,
                _ => Length::Long,
            };
        }
        form
    }

    /// An argument as `conversion` writes it.
    pub fn converted(&self, conversion: char, argument: Argument) -> String {
        let bits = match argument {
            Argument::Text(text) => {
                let most = self.precision.unwrap_or(usize::MAX);
                return self.padded("", &text.chars().take(most).collect::<String>(), false);
            }
            Argument::Bits(bits) => bits,
        };
        match conversion {
            'c' => self.padded("", &char::from(bits as u8).to_string(), false),
            'd' | 'i' => self.signed(bits),
            'p' if bits == 0 => self.padded("", "(nil)", false),
            'p' => self.integer("0x", &format!("{bits:x}")),
            'u' | 'x' | 'X' | 'o' => self.unsigned(conversion, bits),
            _ => self.float(conversion, f64::from_bits(bits)),
        }
    }

    fn signed(&self, bits: u64) -> String {
        let value = match self.length {
            Length::Byte => (bits as i8).into(),
            Length::Short => (bits as i16).into(),
            Length::Int => (bits as i32).into(),
            Length::Long => bits as i64,
        };
        self.integer(self.sign(value < 0), &value.unsigned_abs().to_string())
    }

    fn unsigned(&self, conversion: char, bits: u64) -> String {
        let value = match self.length {
            Length::Byte => (bits as u8).into(),
            Length::Short => (bits as u16).into(),
            Length::Int => (bits as u32).into(),
            Length::Long => bits,
        };
        let alternate = self.flags.alternate && value != 0;
        match conversion {
            'x' if alternate => self.integer("0x", &format!("{value:x}")),
            'X' if alternate => self.integer("0X", &format!("{value:X}")),
            'o' if alternate => self.integer("", &format!("0{value:o}")),
            'x' => self.integer("", &format!("{value:x}")),
            'X' => self.integer("", &format!("{value:X}")),
            'o' => self.integer("", &format!("{value:o}")),
            _ => self.integer("", &value.to_string()),
        }
    }

    /// Digits of an integer, as many as the precision says at least.
    fn integer(&self, prefix: &str, digits: &str) -> String {
        let digits = match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits.to_owned(),
        };
        self.padded(prefix, &digits, self.precision.is_none())
    }

    fn float(&self, conversion: char, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative());
        let upper = conversion.is_ascii_uppercase();
        let cased = |text: String| if upper { text.to_uppercase() } else { text };
        let size = value.abs();
        if !size.is_finite() {
            let name = if size.is_nan() { "nan" } else { "inf" };
            return self.padded(sign, &cased(name.to_owned()), false);
        }
        let digits = self.precision.unwrap_or(6);
        let point = self.flags.alternate;
        let text = match conversion.to_ascii_lowercase() {
            'a' => {
                let prefix = cased(format!("{sign}0x"));
                let text = hexadecimal(size, self.precision, point);
                return self.padded(&prefix, &cased(text), true);
            }
            'e' => exponential(size, digits, point),
            'g' => shortest(size, digits.max(1), point),
            _ => with_point(format!("{size:.digits$}"), point),
        };
        self.padded(sign, &cased(text), true)
    }

    fn sign(&self, negative: bool) -> &'static str {
        match self.flags {
            _ if negative => "-",
            Flags { plus: true, .. } => "+",
            Flags { blank: true, .. } => " ",
            _ => "",
        }
    }

    /// To the width, with blanks, or with zeros behind the prefix of `digits` that may be
    /// longer.
    fn padded(&self, prefix: &str, digits: &str, may_be_longer: bool) -> String {
        let length = prefix.chars().count() + digits.chars().count();
        let missing = self.width.saturating_sub(length);
        let (blanks, zeros) = (" ".repeat(missing), "0".repeat(missing));
        match self.flags {
            Flags { left: true, .. } => format!("{prefix}{digits}{blanks}"),
            Flags { zero: true, .. } if may_be_longer => format!("{prefix}{zeros}{digits}"),
            _ => format!("{blanks}{prefix}{digits}"),
        }
    }
}

/// The number that `rest` begins with, or 0.
fn digits(rest: &mut std::iter::Peekable<std::str::Chars>) -> i32 {
    let mut value = 0i32;
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        let digit = digit.to_digit(10).unwrap_or(0) as i32;
        value = value.saturating_mul(10).saturating_add(digit);
    }
    value
}

/// A point behind digits that have none, if one is asked for.
fn with_point(digits: String, point: bool) -> String {
    if point && !digits.contains('.') {
        digits + "."
    } else {
        digits
    }
}

/// The mantissa with so many digits behind the point, and the power of ten.
fn scientific(size: f64, digits: usize) -> (String, i32) {
    let text = format!("{size:.digits$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), power.parse().unwrap_or(0))
}

fn power_text(power: i32) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", power.abs())
}

fn exponential(size: f64, digits: usize, point: bool) -> String {
    let (mantissa, power) = scientific(size, digits);
    with_point(mantissa, point) + &power_text(power)
}

/// `%g`: of `significant` digits, without zeros at the end unless a point is asked for.
fn shortest(size: f64, significant: usize, point: bool) -> String {
    let (mantissa, power) = scientific(size, significant - 1);
    let trimmed = |text: String| match point {
        _ if point => with_point(text, true),
        _ if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text,
    };
    if (-4..significant as i32).contains(&power) {
        let behind = (significant as i32 - 1 - power) as usize;
        trimmed(format!("{size:.behind$}"))
    } else {
        trimmed(mantissa) + &power_text(power)
    }
}

/// `%a` behind `0x`: 13 digits without zeros at the end, or as many as asked for.
fn hexadecimal(size: f64, digits: Option<usize>, point: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = size.to_bits();
    let (exponent, fraction) = (bits >> FRACTION, bits & ((1 << FRACTION) - 1));
    let (lead, power) = match exponent {
        0 if fraction == 0 => (0, 0),
        0 => (0, -1022),
        _ => (1, exponent as i64 - 1023),
    };
    let mut mantissa = lead << FRACTION | fraction;
    if let Some(digits) = digits.filter(|digits| *digits < 13) {
        let cut = FRACTION - 4 * digits as u32;
        let (kept, rest, half) = (mantissa >> cut, mantissa & ((1 << cut) - 1), 1 << (cut - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        mantissa = (kept + u64::from(up)) << cut;
    }
    let behind = format!("{:013x}", mantissa & ((1 << FRACTION) - 1));
    let behind = match digits {
        None => behind.trim_end_matches('0').to_owned(),
        Some(digits) => format!("{behind:0<digits$}")[..digits].to_owned(),
    };
    let dot = if behind.is_empty() && !point { "" } else { "." };
    format!("{}{dot}{behind}p{power:+}", mantissa >> FRACTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(form: &str, argument: u64) -> String {
        let mut rest = form[1..].chars().peekable();
        let form = Form::read(&mut rest, &mut || unreachable!());
        form.converted(rest.next().unwrap(), Argument::Bits(argument))
    }

    /// What glibc's `printf` gives.
    #[test]
    fn integers() {
        let cases: [(&str, i64, &str); 16] = [
            ("%hhd", -100, "-100"),
            ("%hhd", 0x1_9c, "-100"),
            ("%hu", -1, "65535"),
            ("% d", 42, " 42"),
            ("%#o", 8, "010"),
            ("%#o", 0, "0"),
            ("%#X", 255, "0XFF"),
            ("%#010x", 255, "0x000000ff"),
            ("%.3d", 7, "007"),
            ("%.0d", 0, ""),
            ("%010.4d", 12, "      0012"),
            ("%-+5d|", 3, "+3   "),
            ("%05d", -42, "-0042"),
            ("%p", 0, "(nil)"),
            ("%8p", 255, "    0xff"),
            ("%u", -1, "4294967295"),
        ];
        for (form, value, expected) in cases {
            assert_eq!(printed(form, value as u64), expected, "{form} {value}");
        }
    }

    /// What glibc's `printf` gives.
    #[test]
    fn floats() {
        let cases = [
            ("%a", 1.5, "0x1.8p+0"),
            ("%A", -0.1, "-0X1.999999999999AP-4"),
            ("%.3a", 3.17, "0x1.95cp+1"),
            ("%.0a", 1.99, "0x2p+0"),
            ("%a", 0.0, "0x0p+0"),
            ("%a", f64::from_bits(1), "0x0.0000000000001p-1022"),
            ("%012a", 1.0, "0x0000001p+0"),
            ("%#.3g", 3.0, "3.00"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%G", 1e-10, "1E-10"),
            ("%#.0f", 2.5, "2."),
            ("%.0f", 2.5, "2"),
            ("%+.3e", -12345.678, "-1.235e+04"),
            ("%05.1f", -0.04, "-00.0"),
            ("%05f", f64::INFINITY, "  inf"),
            ("%F", f64::NAN, "NAN"),
        ];
        for (form, value, expected) in cases {
            assert_eq!(
                printed(form, f64::to_bits(value)),
                expected,
                "{form} {value}"
            );
        }
    }
}
