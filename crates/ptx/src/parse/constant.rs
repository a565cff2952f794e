//! Constants and constant expressions.

use super::Parser;
use crate::ast::Immediate;
use crate::token::{Token, TokenKind};
use spadkit_base::error::Result;

/// Nesting beyond which an expression is refused; the parser is recursive.
const DEPTH: usize = 64;

impl Parser<'_> {
    /// A constant expression: C's operators on 64-bit integers, or one
    /// floating-point number with its sign.
    pub(super) fn constant(&mut self) -> Result<Immediate> {
        Ok(self.conditional(0)?.immediate())
    }

    /// A constant expression that must be an integer.
    pub(super) fn integer(&mut self, expected: &str) -> Result<i64> {
        let token = self.peek();
        match token.kind {
            TokenKind::Integer
            | TokenKind::Minus
            | TokenKind::Plus
            | TokenKind::RoundOpen
            | TokenKind::Tilde => {}
            _ => return self.unexpected(expected),
        }
        match self.constant()? {
            Immediate::Integer(value) => Ok(value),
            _ => self.error(
                token,
                "a floating-point number",
                format!("expected {expected}"),
            ),
        }
    }

    /// A number without sign or operators, below 2^32.
    pub(super) fn number(&mut self, expected: &str) -> Result<u32> {
        let token = self.expect(TokenKind::Integer, expected)?;
        let value = integer(self.str_of(token));
        match value.and_then(|v| u32::try_from(v).ok()) {
            Some(value) => Ok(value),
            None => self.error(
                token,
                "the number is too large",
                format!("expected {expected}"),
            ),
        }
    }

    /// `a ? b : c`, or what binds stronger.
    fn conditional(&mut self, depth: usize) -> Result<Constant> {
        let condition = self.binary(0, depth)?;
        if self.kind() != TokenKind::Question {
            return Ok(condition);
        }
        let operator = self.next();
        let first = self.conditional(depth + 1)?;
        self.expect(TokenKind::Colon, "`:`")?;
        let second = self.conditional(depth + 1)?;
        let (
            Constant::Integer(condition, _),
            Constant::Integer(a, unsigned),
            Constant::Integer(b, other),
        ) = (condition, first, second)
        else {
            return self.not_integers(operator);
        };
        let value = if condition != 0 { a } else { b };
        Ok(Constant::Integer(value, unsigned | other))
    }

    fn binary(&mut self, least: u8, depth: usize) -> Result<Constant> {
        let mut left = self.unary(depth)?;
        while let Some(rank) = rank(self.kind())
            && rank >= least
        {
            let operator = self.next();
            let right = self.binary(rank + 1, depth + 1)?;
            let (Constant::Integer(a, unsigned), Constant::Integer(b, other)) = (left, right)
            else {
                return self.not_integers(operator);
            };
            left = match apply(operator.kind, (a, unsigned), (b, other)) {
                Some(value) => value,
                None => return self.error(operator, "division by zero", "expected a divisor"),
            };
        }
        Ok(left)
    }

    fn not_integers<T>(&self, operator: Token) -> Result<T> {
        self.error(operator, "an operator between floating-point numbers", {
            "expected integers, or the value itself"
        })
    }

    fn unary(&mut self, depth: usize) -> Result<Constant> {
        let token = self.next();
        if depth > DEPTH {
            return self.error(token, "the expression is nested too deep", {
                format!("expected at most {DEPTH} levels")
            });
        }
        let text = self.str_of(token);
        let bits = |at: &str| u64::from_str_radix(at, 16).unwrap_or(0);
        Ok(match token.kind {
            TokenKind::Integer => match integer(text) {
                Some(value) => {
                    let unsigned = text.ends_with('U') || i64::try_from(value).is_err();
                    Constant::Integer(value as i64, unsigned)
                }
                None => return self.error(token, "bad integer", "expected one below 2^64"),
            },
            TokenKind::Single => Constant::Single(bits(&text[2..]) as u32),
            TokenKind::Double => Constant::Double(bits(&text[2..])),
            TokenKind::Decimal => Constant::Double(text.parse::<f64>().unwrap_or(0.0).to_bits()),
            TokenKind::Plus => self.unary(depth + 1)?,
            TokenKind::Minus => match self.unary(depth + 1)? {
                Constant::Integer(value, unsigned) => {
                    Constant::Integer(value.wrapping_neg(), unsigned)
                }
                Constant::Single(bits) => Constant::Single(bits ^ 1 << 31),
                Constant::Double(bits) => Constant::Double(bits ^ 1 << 63),
            },
            TokenKind::Tilde | TokenKind::Not => match (token.kind, self.unary(depth + 1)?) {
                (TokenKind::Tilde, Constant::Integer(value, unsigned)) => {
                    Constant::Integer(!value, unsigned)
                }
                (_, Constant::Integer(value, _)) => Constant::Integer(i64::from(value == 0), false),
                _ => return self.error(token, "a floating-point number", "expected an integer"),
            },
            TokenKind::Word if text == "WARP_SZ" => Constant::Integer(32, false),
            TokenKind::RoundOpen if self.kind() == TokenKind::Dotted => self.cast(depth)?,
            TokenKind::RoundOpen => {
                let value = self.conditional(depth + 1)?;
                self.expect(TokenKind::RoundClose, "`)`")?;
                value
            }
            _ => {
                self.at -= usize::from(token.kind != TokenKind::End);
                return self.unexpected("a constant");
            }
        })
    }

    /// `(.s64)` or `(.u64)` and what is cast, after the parenthesis.
    fn cast(&mut self, depth: usize) -> Result<Constant> {
        let token = self.peek();
        let unsigned = match self.str_of(token) {
            ".s64" => false,
            ".u64" => true,
            _ => return self.unexpected("`.s64` or `.u64`"),
        };
        self.next();
        self.expect(TokenKind::RoundClose, "`)`")?;
        match self.unary(depth + 1)? {
            Constant::Integer(value, _) => Ok(Constant::Integer(value, unsigned)),
            _ => self.not_integers(token),
        }
    }
}

/// The value of a constant expression while it is computed: an integer is `.u64` where the
/// flag says so, else `.s64`, which decides how it is divided, shifted and compared.
#[derive(Clone, Copy)]
enum Constant {
    Integer(i64, bool),
    Single(u32),
    Double(u64),
}

impl Constant {
    fn immediate(self) -> Immediate {
        match self {
            Constant::Integer(value, _) => Immediate::Integer(value),
            Constant::Single(bits) => Immediate::Single(bits),
            Constant::Double(bits) => Immediate::Double(bits),
        }
    }
}

/// Value of an integer literal: decimal, hexadecimal, binary or octal.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.trim_end_matches('U');
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => radix(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => radix(&text[2..], 2),
        [b'0', _, ..] => radix(&text[1..], 8),
        _ => radix(text, 10),
    }
}

/// Binding strength of a binary operator.
fn rank(kind: TokenKind) -> Option<u8> {
    use TokenKind::*;
    Some(match kind {
        Either => 0,
        Both => 1,
        Pipe => 2,
        Xor => 3,
        And => 4,
        Same | Differs => 5,
        Less | Greater | AtMost | AtLeast => 6,
        ShiftLeft | ShiftRight => 7,
        Plus | Minus => 8,
        Star | Slash | Percent => 9,
        _ => return None,
    })
}

/// A binary operator; `None` for a division by zero. One unsigned operand makes both
/// unsigned; a shift is of the type of its left operand, and truth values are signed.
fn apply(operator: TokenKind, (a, left): (i64, bool), (b, right): (i64, bool)) -> Option<Constant> {
    use TokenKind::*;
    let unsigned = left | right;
    let below = |a: i64, b: i64| {
        if unsigned {
            (a as u64) < b as u64
        } else {
            a < b
        }
    };
    let truth = match operator {
        Either => Some(a != 0 || b != 0),
        Both => Some(a != 0 && b != 0),
        Same => Some(a == b),
        Differs => Some(a != b),
        Less => Some(below(a, b)),
        Greater => Some(below(b, a)),
        AtMost => Some(!below(b, a)),
        AtLeast => Some(!below(a, b)),
        _ => None,
    };
    if let Some(truth) = truth {
        return Some(Constant::Integer(i64::from(truth), false));
    }
    let value = match operator {
        Pipe => a | b,
        Xor => a ^ b,
        And => a & b,
        ShiftLeft => return Some(Constant::Integer(a.wrapping_shl(b as u32), left)),
        ShiftRight if left => {
            return Some(Constant::Integer(
                (a as u64).wrapping_shr(b as u32) as i64,
                true,
            ));
        }
        ShiftRight => return Some(Constant::Integer(a.wrapping_shr(b as u32), false)),
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Slash if unsigned => (a as u64).checked_div(b as u64)? as i64,
        Slash => a.checked_div(b)?,
        _ if unsigned => (a as u64).checked_rem(b as u64)? as i64,
        _ => a.checked_rem(b)?,
    };
    Some(Constant::Integer(value, unsigned))
}
