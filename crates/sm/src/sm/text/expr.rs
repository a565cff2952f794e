//! Address expressions: integers, `+ - * / %`, parentheses, and variables.

/// A variable of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Var {
    /// `l`: lane.
    Lane,
    /// `t`: thread of the block.
    Thread,
    /// `w`: warp of the block.
    Warp,
    /// `b`: block.
    Block,
    /// `i`: turn of the innermost `repeat`, from 0.
    Turn,
}

/// Values of the variables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Env {
    pub lane: i64,
    pub thread: i64,
    pub warp: i64,
    pub block: i64,
    pub turn: i64,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(i64),
    Var(Var),
    Binary(Box<Expr>, u8, Box<Expr>),
}

/// The error, and its byte in the text.
#[derive(Debug)]
pub(super) struct Wrong {
    pub at: usize,
    pub what: String,
    pub help: &'static str,
}

pub(super) fn wrong<T>(at: usize, what: impl Into<String>, help: &'static str) -> Result<T, Wrong> {
    Err(Wrong {
        at,
        what: what.into(),
        help,
    })
}

const HELP: &str = "expressions have integers, + - * / %, parentheses, \
                    and l (lane), t (thread), w (warp), b (block), i (turn)";

/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 32;

impl Expr {
    /// The value; `None` when it overflows or divides by zero.
    pub fn value(&self, env: &Env) -> Option<i64> {
        Some(match self {
            Expr::Number(value) => *value,
            Expr::Var(Var::Lane) => env.lane,
            Expr::Var(Var::Thread) => env.thread,
            Expr::Var(Var::Warp) => env.warp,
            Expr::Var(Var::Block) => env.block,
            Expr::Var(Var::Turn) => env.turn,
            Expr::Binary(left, op, right) => {
                let (left, right) = (left.value(env)?, right.value(env)?);
                match op {
                    b'+' => left.checked_add(right)?,
                    b'-' => left.checked_sub(right)?,
                    b'*' => left.checked_mul(right)?,
                    b'/' => left.checked_div_euclid(right)?,
                    _ => left.checked_rem_euclid(right)?,
                }
            }
        })
    }

    /// Whether it changes linearly over the lanes of a warp: then each of its
    /// parts does, and lies between its values at both ends.
    pub fn is_linear(&self) -> bool {
        match self {
            Expr::Number(_) | Expr::Var(_) => true,
            Expr::Binary(left, b'+' | b'-', right) => left.is_linear() && right.is_linear(),
            Expr::Binary(left, b'*', right) => {
                (left.is_uniform() && right.is_linear()) || (left.is_linear() && right.is_uniform())
            }
            Expr::Binary(..) => self.is_uniform(),
        }
    }

    /// Whether the value is the same in all lanes of a warp.
    fn is_uniform(&self) -> bool {
        match self {
            Expr::Number(_) => true,
            Expr::Var(var) => !matches!(var, Var::Lane | Var::Thread),
            Expr::Binary(left, _, right) => left.is_uniform() && right.is_uniform(),
        }
    }
}

/// Reads a text from left to right; `at` is the byte in the whole text.
pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub at: usize,
    /// End of what belongs to this scanner: the line's.
    pub end: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, at: usize, end: usize) -> Self {
        let mut scanner = Scanner {
            text,
            at,
            end,
            depth: 0,
        };
        scanner.space();
        scanner
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub fn space(&mut self) {
        self.at = self.end - self.rest().trim_start().len();
    }

    pub fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    /// Consumes `byte` and the space after it, if they come next.
    pub fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.at += 1;
            self.space();
        }
        there
    }

    /// Takes letters, digits, dots and underscores.
    pub fn word(&mut self) -> &'a str {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let rest = self.rest();
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at += length;
        self.space();
        &rest[..length]
    }

    /// A number, decimal or hexadecimal.
    pub fn number(&mut self) -> Result<u64, Wrong> {
        let at = self.at;
        let word = self.word();
        let value = match word.strip_prefix("0x") {
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
            Some(_) => None,
            None => word.parse().ok(),
        };
        match value {
            Some(value) => Ok(value),
            None => wrong(
                at,
                format!("'{word}' is not a number"),
                "expected an integer, decimal or hexadecimal (0x...)",
            ),
        }
    }

    /// A sum of products.
    pub fn expr(&mut self) -> Result<Expr, Wrong> {
        let mut left = self.product()?;
        while let Some(op @ (b'+' | b'-')) = self.peek() {
            self.take(op);
            left = Expr::Binary(Box::new(left), op, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr, Wrong> {
        let mut left = self.factor()?;
        while let Some(op @ (b'*' | b'/' | b'%')) = self.peek() {
            self.take(op);
            left = Expr::Binary(Box::new(left), op, Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, Wrong> {
        let at = self.at;
        if self.depth == MAX_DEPTH {
            return wrong(at, "the expression is nested too deeply", HELP);
        }
        self.depth += 1;
        let factor = match self.peek() {
            Some(b'(') => {
                self.take(b'(');
                let inner = self.expr()?;
                if !self.take(b')') {
                    return wrong(self.at, "a parenthesis is not closed", "expected ')'");
                }
                inner
            }
            Some(b'-') => {
                self.take(b'-');
                Expr::Binary(Box::new(Expr::Number(0)), b'-', Box::new(self.factor()?))
            }
            Some(b'0'..=b'9') => match i64::try_from(self.number()?) {
                Ok(value) => Expr::Number(value),
                Err(_) => return wrong(at, "the number is too large", HELP),
            },
            _ => match self.word() {
                "l" => Expr::Var(Var::Lane),
                "t" => Expr::Var(Var::Thread),
                "w" => Expr::Var(Var::Warp),
                "b" => Expr::Var(Var::Block),
                "i" => Expr::Var(Var::Turn),
                word => return wrong(at, format!("there is no variable '{word}'"), HELP),
            },
        };
        self.depth -= 1;
        Ok(factor)
    }
}
