//! `vprintf` and `__assertfail`.

use super::format::{Argument, Form, Length};
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
fn formatted(m: &mut Machine, format: &str, at: u64, lane: u32) -> (String, u64) {
    let mut arguments = Arguments { m, at, lane };
    let (mut text, mut count) = (String::new(), 0);
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let form = Form::read(&mut rest, &mut || arguments.narrow() as i32);
        match rest.next() {
            Some('%') => text.push('%'),
            Some(conversion) => {
                let argument = arguments.next(&form, conversion);
                text.push_str(&form.converted(conversion, argument));
                count += 1;
            }
            None => text.push('%'),
        }
    }
    (text, count)
}

/// The arguments that a lane has stored, each aligned to its size.
struct Arguments<'a, 'b> {
    m: &'a mut Machine<'b>,
    at: u64,
    lane: u32,
}

impl Arguments<'_, '_> {
    fn narrow(&mut self) -> u32 {
        let value = u32::from_le_bytes(bytes(self.m, self.at, self.lane));
        self.at += 4;
        value
    }

    fn next(&mut self, form: &Form, conversion: char) -> Argument {
        let wide = form.length == Length::Long || "fFeEgGaAsp".contains(conversion);
        if !wide {
            return Argument::Bits(self.narrow().into());
        }
        self.at = self.at.next_multiple_of(8);
        let bits = u64::from_le_bytes(bytes(self.m, self.at, self.lane));
        self.at += 8;
        match conversion {
            's' => Argument::Text(string(self.m, bits, self.lane)),
            _ => Argument::Bits(bits),
        }
    }
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
