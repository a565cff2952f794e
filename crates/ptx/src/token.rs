//! Tokens of PTX.
//!
//! A word with all its dots (`ld.global.v4.f32`, `%tid.x`) is one token;
//! what starts with a dot (`.reg`, `.u32`) is one token per dot.

use logos::{Lexer, Logos};
use spadkit_base::error::{Error, Result};
use std::path::Path;

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0b\x0c]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(super) enum TokenKind {
    /// A comment over several lines, which the token list leaves out.
    #[token("/*", comment)]
    Comment,
    #[regex(r"(%[A-Za-z0-9_$]|[A-Za-z_$])[A-Za-z0-9_$]*(\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*)*")]
    Word,
    #[regex(r"\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*")]
    Dotted,
    #[regex(r"0[xX][0-9a-fA-F]+U?")]
    #[regex(r"0[bB][01]+U?")]
    #[regex(r"[0-9]+U?")]
    Integer,
    #[regex(r"0[fF][0-9a-fA-F]{8}")]
    Single,
    #[regex(r"0[dD][0-9a-fA-F]{16}")]
    Double,
    #[regex(r"[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][-+]?[0-9]+")]
    Decimal,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("(")]
    RoundOpen,
    #[token(")")]
    RoundClose,
    #[token("[")]
    SquareOpen,
    #[token("]")]
    SquareClose,
    #[token("{")]
    CurlyOpen,
    #[token("}")]
    CurlyClose,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    And,
    #[token("^")]
    Xor,
    #[token("~")]
    Tilde,
    #[token("!")]
    Not,
    #[token("@")]
    At,
    #[token("|")]
    Pipe,
    #[token("<=")]
    AtMost,
    #[token(">=")]
    AtLeast,
    #[token("==")]
    Same,
    #[token("!=")]
    Differs,
    #[token("&&")]
    Both,
    #[token("||")]
    Either,
    #[token("?")]
    Question,
    /// After the last token.
    End,
}

/// Skips to the end of a comment; false if there is none.
fn comment(lexer: &mut Lexer<TokenKind>) -> bool {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            true
        }
        None => false,
    }
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    /// Byte range in the text.
    pub start: u32,
    pub end: u32,
    /// 1-based line of its start.
    pub line: u32,
}

/// All tokens of `text`, the last of kind [`TokenKind::End`].
pub(super) fn tokens(text: &str, path: &Path) -> Result<Vec<Token>> {
    let Ok(length) = u32::try_from(text.len()) else {
        return Err(Error::usage(
            format!("{} is larger than 4 GB", path.display()),
            "PTX of a module is some megabytes; split it",
        ));
    };
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let (mut line, mut counted) = (1, 0);
    let mut lexer = TokenKind::lexer(text);
    while let Some(kind) = lexer.next() {
        let span = lexer.span();
        let Ok(kind) = kind else {
            return Err(unknown(text, path, span.start));
        };
        if kind == TokenKind::Comment {
            continue;
        }
        line += newlines(&text.as_bytes()[counted..span.start]);
        counted = span.start;
        tokens.push(Token {
            kind,
            start: span.start as u32,
            end: span.end as u32,
            line,
        });
    }
    line += newlines(&text.as_bytes()[counted..]);
    tokens.push(Token {
        kind: TokenKind::End,
        start: length,
        end: length,
        line,
    });
    Ok(tokens)
}

fn newlines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u32
}

fn unknown(text: &str, path: &Path, at: usize) -> Error {
    let what = match text[at..].chars().next() {
        Some('/') => "comment without an end".to_owned(),
        Some('"') => "string without an end".to_owned(),
        Some(c) => format!("unexpected character {c:?}"),
        None => "unexpected end".to_owned(),
    };
    let help = "expected PTX text, as nvcc -ptx, NVRTC or clang write it".to_owned();
    Error::input(what, Some(help), path, text, at)
}
