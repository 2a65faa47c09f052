//! Escapes inside strings, those of JSON and those of other languages.

use super::{failure::Step, parser::Parser};
use crate::fix::FixKind;

/// What an escape stands for.
pub(super) enum Escaped {
    /// This character; reading goes on at this offset.
    Character(char, usize),
    /// The text ends inside the escape.
    Cut,
}

impl Parser<'_> {
    /// Reads the escape whose backslash stands at `at`.
    pub(super) fn escape(&mut self, at: usize) -> Step<Escaped> {
        let Some(next) = self.text.get(at + 1..).and_then(|rest| rest.chars().next()) else { return Ok(Escaped::Cut) };
        let end = at + 1 + next.len_utf8();
        let plain = match next {
            '"' | '\\' | '/' => next,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.code_point(at),
            // As JavaScript reads it: a backslash before any other character is that character.
            other => {
                self.fix(FixKind::Escape, self.slice(at, end), other.to_string());
                other
            }
        };
        Ok(Escaped::Character(plain, end))
    }

    /// `\u` and four hexadecimal digits, with a second half where the first is half of a pair.
    fn code_point(&mut self, at: usize) -> Step<Escaped> {
        let digits = self.slice(at + 2, at + 6);
        let Some(unit) = unit(digits) else { return self.broken_code_point(at, digits) };
        let end = at + 6;
        if !(0xD800..0xE000).contains(&unit) {
            return Ok(Escaped::Character(char::from_u32(unit).unwrap_or('\u{fffd}'), end));
        }
        if unit < 0xDC00 && self.slice(end, end + 2) == "\\u" {
            let low = self::unit(self.slice(end + 2, end + 6)).filter(|low| (0xDC00..0xE000).contains(low));
            if let Some(c) = low.and_then(|low| char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))) {
                return Ok(Escaped::Character(c, end + 6));
            }
        }
        self.fix(FixKind::LoneSurrogate, self.slice(at, end), "\u{fffd}");
        Ok(Escaped::Character('\u{fffd}', end))
    }

    /// `\u` without four hexadecimal digits. With a decimal digit it is a damaged code point, and which one cannot be
    /// known; without one it is a backslash that should have been doubled, as in `C:\users`.
    fn broken_code_point(&mut self, at: usize, digits: &str) -> Step<Escaped> {
        let cut = at + 2 + digits.len() >= self.text.len();
        if cut && digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Ok(Escaped::Cut);
        }
        if digits.chars().any(|c| c.is_ascii_digit()) {
            self.pos = at;
            return self.fail(format!("`\\u{digits}` is a damaged code point: `\\u` needs four hexadecimal digits"));
        }
        self.fix(FixKind::Escape, "\\u", "\\\\u");
        // The `u` behind it is text.
        Ok(Escaped::Character('\\', at + 1))
    }
}

fn unit(digits: &str) -> Option<u32> {
    let all_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
