//! `vprintf` and `__assertfail`.

use super::{argument, give};
use crate::exec::api::FindingKind;
use crate::exec::image::element::Element;
use crate::exec::image::{From, MemoryOp, MemoryOrder, Region, SystemCall, Transfer};
use crate::exec::machine::Machine;
use crate::exec::registers::active;

/// Strings longer than this are cut.
const LONGEST: usize = 4096;

/// `N` bytes at a generic address.
fn bytes<const N: usize>(m: &mut Machine, address: u64, lane: u32) -> [u8; N] {
    let mut result = [0; N];
    for (at, byte) in result.iter_mut().enumerate() {
        let one = MemoryOp {
            index: u32::MAX,
            space: None,
            from: From::Constant,
            offset: address.wrapping_add(at as u64) as i64,
            region: Region::ANYWHERE,
            bytes: 1,
            transfer: Transfer::Load {
                element: Element::U8InHalf,
                to: Vec::new(),
            },
            order: MemoryOrder::default(),
        };
        let pointer = m.resolve(&one, 1 << lane)[lane as usize];
        // SAFETY: `resolve` gives a pointer to a byte.
        *byte = unsafe { pointer.read() };
    }
    result
}

fn string(m: &mut Machine, address: u64, lane: u32) -> String {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        match bytes::<1>(m, address.wrapping_add(text.len() as u64), lane)[0] {
            0 => break,
            byte => text.push(byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// `vprintf(format, arguments)`
pub fn print(m: &mut Machine, call: &SystemCall, exec: u32) {
    let mut counts = [0; 32];
    for lane in active(exec) {
        let format = argument(m, call.arguments[0], lane);
        let values = argument(m, call.arguments[1], lane);
        let format = string(m, format, lane);
        let (text, count) = formatted(m, &format, values, lane);
        counts[lane as usize] = count;
        m.output.extend_from_slice(text.as_bytes());
    }
    give(m, &call.results, exec, &counts, 4);
}

/// The text, and how many arguments it took.
fn formatted(m: &mut Machine, format: &str, mut at: u64, lane: u32) -> (String, u64) {
    let (mut text, mut count) = (String::new(), 0);
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let mut form = String::new();
        while let Some(c) = rest.next_if(|c| !c.is_ascii_alphabetic() && *c != '%') {
            form.push(c);
        }
        let mut long = false;
        while let Some(c) = rest.next_if(|c| "hlLqjzt".contains(*c)) {
            long |= "lLqjzt".contains(c);
        }
        let Some(conversion) = rest.next() else {
            text.push('%');
            break;
        };
        if conversion == '%' {
            text.push('%');
            continue;
        }
        if let Some(star) = form.find('*') {
            let width = i32::from_le_bytes(bytes(m, at, lane));
            form.replace_range(star..=star, &width.to_string());
            at += 4;
        }
        let wide = long || "fFeEgGaAsp".contains(conversion);
        at = if wide { at.next_multiple_of(8) } else { at };
        let (raw, signed) = if wide {
            let raw = u64::from_le_bytes(bytes(m, at, lane));
            (raw, raw as i64)
        } else {
            let raw = u32::from_le_bytes(bytes(m, at, lane));
            (raw.into(), (raw as i32).into())
        };
        at += if wide { 8 } else { 4 };
        count += 1;
        let body = match conversion {
            's' => {
                let most = precision(&form).unwrap_or(LONGEST);
                string(m, raw, lane).chars().take(most).collect()
            }
            _ => converted(&form, conversion, raw, signed),
        };
        text.push_str(&padded(&form, &body));
    }
    (text, count)
}

/// An argument as its conversion has it, not yet padded; `raw` are its bits.
fn converted(form: &str, conversion: char, raw: u64, signed: i64) -> String {
    let plus = form.contains('+');
    match conversion {
        'd' | 'i' if plus => format!("{signed:+}"),
        'd' | 'i' => signed.to_string(),
        'u' => raw.to_string(),
        'x' if form.contains('#') => format!("{raw:#x}"),
        'x' => format!("{raw:x}"),
        'X' => format!("{raw:X}"),
        'o' => format!("{raw:o}"),
        'c' => char::from(raw as u8).to_string(),
        'p' => format!("{raw:#x}"),
        _ => number(f64::from_bits(raw), conversion, precision(form), plus),
    }
}

fn precision(form: &str) -> Option<usize> {
    let (_, digits) = form.split_once('.')?;
    Some(digits.parse().unwrap_or(0).min(100))
}

/// `%f`, `%e`, `%g`.
fn number(value: f64, conversion: char, precision: Option<usize>, plus: bool) -> String {
    let digits = precision.unwrap_or(6);
    let exponent = |digits: usize| {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        (
            mantissa.to_owned(),
            exponent,
            format!("e{sign}{:02}", exponent.abs()),
        )
    };
    let text = match conversion {
        _ if !value.is_finite() => value.to_string().to_lowercase(),
        'e' | 'E' => {
            let (mantissa, _, suffix) = exponent(digits);
            mantissa + &suffix
        }
        'g' | 'G' => {
            let significant = digits.max(1);
            let (mantissa, power, suffix) = exponent(significant - 1);
            let trimmed = |t: String| {
                if t.contains('.') {
                    t.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    t
                }
            };
            if (-4..significant as i32).contains(&power) {
                trimmed(format!(
                    "{value:.*}",
                    (significant as i32 - 1 - power) as usize
                ))
            } else {
                trimmed(mantissa) + &suffix
            }
        }
        _ => format!("{value:.digits$}"),
    };
    let text = if plus && !text.starts_with('-') {
        format!("+{text}")
    } else {
        text
    };
    if conversion.is_ascii_uppercase() {
        text.to_uppercase()
    } else {
        text
    }
}

/// To the width of the form, with spaces or zeros.
fn padded(form: &str, body: &str) -> String {
    let flags = form.len() - form.trim_start_matches(['-', '+', ' ', '#', '0']).len();
    let digits: String = form[flags..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let missing = digits
        .parse::<usize>()
        .unwrap_or(0)
        .min(1000)
        .saturating_sub(body.chars().count());
    let flags = &form[..flags];
    if flags.contains('-') {
        return format!("{body}{}", " ".repeat(missing));
    }
    if flags.contains('0') {
        let (sign, digits) = body.split_at(usize::from(body.starts_with(['-', '+'])));
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    format!("{}{body}", " ".repeat(missing))
}

/// `__assertfail(message, file, line, function, size)`
pub fn assertion(m: &mut Machine, call: &SystemCall, exec: u32) {
    let lane = exec.trailing_zeros();
    let message = argument(m, call.arguments[0], lane);
    let file = argument(m, call.arguments[1], lane);
    let line = call
        .arguments
        .get(2)
        .map_or(0, |&a| argument(m, a, lane) as u32);
    let (message, file) = (string(m, message, lane), string(m, file, lane));
    let text = format!("assertion `{message}` failed at {file}:{line}");
    m.output.extend_from_slice(format!("{text}\n").as_bytes());
    m.found(FindingKind::Trap, lane, None, None, text);
    m.stop = true;
}
