//! Constants and constant expressions.

use super::Parser;
use crate::ast::Immediate;
use crate::token::TokenKind;
use spadkit_base::error::Result;

/// Nesting beyond which an expression is refused; the parser is recursive.
const DEPTH: usize = 64;

impl Parser<'_> {
    /// A constant expression: C's operators on 64-bit integers, or one
    /// floating-point number with its sign.
    pub(super) fn constant(&mut self) -> Result<Immediate> {
        self.binary(0, 0)
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

    fn binary(&mut self, least: u8, depth: usize) -> Result<Immediate> {
        let mut left = self.unary(depth)?;
        while let Some(rank) = rank(self.kind())
            && rank >= least
        {
            let operator = self.next();
            let right = self.binary(rank + 1, depth + 1)?;
            let (Immediate::Integer(a), Immediate::Integer(b)) = (left, right) else {
                return self.error(operator, "an operator between floating-point numbers", {
                    "expected integers, or the value itself"
                });
            };
            left = match apply(operator.kind, a, b) {
                Some(value) => Immediate::Integer(value),
                None => return self.error(operator, "division by zero", "expected a divisor"),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Immediate> {
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
                Some(value) => Immediate::Integer(value as i64),
                None => return self.error(token, "bad integer", "expected one below 2^64"),
            },
            TokenKind::Single => Immediate::Single(bits(&text[2..]) as u32),
            TokenKind::Double => Immediate::Double(bits(&text[2..])),
            TokenKind::Decimal => Immediate::Double(text.parse::<f64>().unwrap_or(0.0).to_bits()),
            TokenKind::Plus => self.unary(depth + 1)?,
            TokenKind::Minus => match self.unary(depth + 1)? {
                Immediate::Integer(value) => Immediate::Integer(value.wrapping_neg()),
                Immediate::Single(bits) => Immediate::Single(bits ^ 1 << 31),
                Immediate::Double(bits) => Immediate::Double(bits ^ 1 << 63),
            },
            TokenKind::Tilde | TokenKind::Not => match (token.kind, self.unary(depth + 1)?) {
                (TokenKind::Tilde, Immediate::Integer(value)) => Immediate::Integer(!value),
                (_, Immediate::Integer(value)) => Immediate::Integer(i64::from(value == 0)),
                _ => return self.error(token, "a floating-point number", "expected an integer"),
            },
            TokenKind::RoundOpen => {
                let value = self.binary(0, depth + 1)?;
                self.expect(TokenKind::RoundClose, "`)`")?;
                value
            }
            _ => {
                self.at -= usize::from(token.kind != TokenKind::End);
                return self.unexpected("a constant");
            }
        })
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
    Some(match kind {
        TokenKind::Pipe => 0,
        TokenKind::Xor => 1,
        TokenKind::And => 2,
        TokenKind::ShiftLeft | TokenKind::ShiftRight => 3,
        TokenKind::Plus | TokenKind::Minus => 4,
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 5,
        _ => return None,
    })
}

fn apply(operator: TokenKind, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        TokenKind::Pipe => a | b,
        TokenKind::Xor => a ^ b,
        TokenKind::And => a & b,
        TokenKind::ShiftLeft => a.wrapping_shl(b as u32),
        TokenKind::ShiftRight => a.wrapping_shr(b as u32),
        TokenKind::Plus => a.wrapping_add(b),
        TokenKind::Minus => a.wrapping_sub(b),
        TokenKind::Star => a.wrapping_mul(b),
        TokenKind::Slash => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}
