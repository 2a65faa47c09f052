//! Escapes in strings, in JSON and in other languages.

use super::cursor::LOOKAHEAD;
use super::parser::Parser;
use super::reading::ParseResult;
use crate::fix::FixKind;

/// The result of reading an escape.
pub(super) enum EscapeResult {
    /// The character, and the offset after the escape.
    Character(char, usize),
    EndOfText,
}

/// Commands of formulas whose first letter makes no escape of JSON.
const COMMANDS: [&str; 28] = [
    "alpha",
    "approx",
    "cdot",
    "cos",
    "delta",
    "epsilon",
    "gamma",
    "geq",
    "in",
    "infty",
    "int",
    "lambda",
    "left",
    "leq",
    "lim",
    "log",
    "mathbf",
    "mathrm",
    "mu",
    "omega",
    "pi",
    "sigma",
    "sqrt",
    "sum",
    "varepsilon",
    "varphi",
    "vec",
    "vert",
];

fn is_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

impl Parser<'_> {
    /// Reads the escape whose backslash is at `at`.
    pub(super) fn read_escape(&mut self, at: usize) -> ParseResult<EscapeResult> {
        let Some(next) = self.text.get(at + 1..).and_then(|rest| rest.chars().next()) else {
            return Ok(EscapeResult::EndOfText);
        };
        let end = at + 1 + next.len_utf8();
        if let Some((c, end)) = self.python_code_point(at, next) {
            self.record(FixKind::Escape, self.slice(at, end), c.to_string());
            return Ok(EscapeResult::Character(c, end));
        }
        let plain = match next {
            '"' | '\\' | '/' => next,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.read_code_point(at),
            // A backslash that should have been doubled, as in `\d+`, `\(x\)` or `C:\Work`.
            other if self.is_backslash(at, other) => {
                self.record(FixKind::Escape, self.slice(at, end), format!("\\\\{other}"));
                return Ok(EscapeResult::Character('\\', at + 1));
            }
            // As in JavaScript and Markdown, a backslash before any other character stands for that character.
            other => {
                let c = match other {
                    // As in JavaScript and Python.
                    'v' => '\u{b}',
                    '0' if !self.byte(end).is_ascii_digit() => '\0',
                    other => other,
                };
                self.record(FixKind::Escape, self.slice(at, end), c.to_string());
                c
            }
        };
        Ok(EscapeResult::Character(plain, end))
    }

    /// Whether the backslash at `at`, before `next`, is meant as one: in a regular expression, a formula or a path.
    fn is_backslash(&self, at: usize, next: char) -> bool {
        let word = self.slice(at + 1, at + 1 + LOOKAHEAD);
        let behind = word.chars().nth(1);
        match next {
            '(' | ')' | '[' | ']' | '{' | '}' | '.' | '+' | '?' | '^' | '$' | '|' | '%' | '&' => true,
            'd' | 'D' | 'w' | 'W' | 's' | 'S' if !behind.is_some_and(char::is_alphanumeric) => true,
            _ if COMMANDS.iter().any(|command| is_word(word, command)) => true,
            _ => next.is_ascii_alphanumeric() && self.is_in_path(at),
        }
    }

    /// Whether the string around `at` begins like a path of Windows: `C:\`.
    fn is_in_path(&self, at: usize) -> bool {
        let from = self.text.floor_char_boundary(at.saturating_sub(LOOKAHEAD));
        let before = self.slice(from, at);
        let start = before.rfind(['"', '\'']).map_or("", |quote| before.get(quote + 1..).unwrap_or_default());
        let drive = [start, "\\"].concat();
        let mut letters = drive.chars();
        letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.as_str().starts_with(":\\")
    }

    /// Reads `\x` with two hexadecimal digits, or `\U` with eight, as Python writes them. In a path, they are a backslash and text.
    fn python_code_point(&self, at: usize, kind: char) -> Option<(char, usize)> {
        let end = match kind {
            'x' => at + 4,
            'U' => at + 10,
            _ => return None,
        };
        let digits = self.text.get(at + 2..end).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(|c| !c.is_control())?;
        (!self.is_in_path(at)).then_some((c, end))
    }

    /// Reads `\u` and four hexadecimal digits, and the second half of a surrogate pair.
    fn read_code_point(&mut self, at: usize) -> ParseResult<EscapeResult> {
        let digits = self.slice(at + 2, at + 6);
        let Some(unit) = parse_unit(digits) else { return self.read_broken_code_point(at, digits) };
        let end = at + 6;
        let second = self.slice(end, end + 6).strip_prefix("\\u").and_then(parse_unit);
        if let Some(Ok(c)) = char::decode_utf16([Some(unit), second].into_iter().flatten()).next() {
            return Ok(EscapeResult::Character(c, at + 6 * c.len_utf16()));
        }
        self.record(FixKind::LoneSurrogate, self.slice(at, end), "\u{fffd}");
        Ok(EscapeResult::Character('\u{fffd}', end))
    }

    /// Handles `\u` without four hexadecimal digits. With a decimal digit it is a code point that cannot be recovered;
    /// without one it is a backslash that should have been doubled, as in `C:\users`.
    fn read_broken_code_point(&mut self, at: usize, digits: &str) -> ParseResult<EscapeResult> {
        let cut = at + 2 + digits.len() >= self.text.len();
        if cut && digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Ok(EscapeResult::EndOfText);
        }
        if digits.chars().any(|c| c.is_ascii_digit()) {
            self.pos = at;
            return self.fail(format!("`\\u{digits}` is not a code point: `\\u` needs four hexadecimal digits"));
        }
        self.record(FixKind::Escape, "\\u", "\\\\u");
        // The `u` after the backslash is text.
        Ok(EscapeResult::Character('\\', at + 1))
    }
}

fn parse_unit(digits: &str) -> Option<u16> {
    let all_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}
