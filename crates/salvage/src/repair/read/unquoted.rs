//! Unquoted values and keys: numbers, literals, words, calls.

use reknit_protocol::{Number, Value};

use super::arithmetic;
use super::cursor::LOOKAHEAD;
use super::parser::{Parser, Role, YesNoWords};
use super::quoted::in_quotes;
use super::reading::{FailureReason, ParseFailure, ParseResult};
use super::template::template_len;
use crate::fix::FixKind;
use crate::schema::parse_scalar;

/// The result of reading unquoted text.
pub(super) enum Unquoted {
    Value(Value),
    /// The name of a call; the parenthesis before its argument is next.
    Call,
    EndOfText,
}

struct Word {
    value: Value,
    fix: Option<FixKind>,
    is_truncated: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn read_unquoted(&mut self) -> ParseResult<Unquoted> {
        let start = self.pos;
        if let Some(number) = self.read_plain_number() {
            return Ok(Unquoted::Value(Value::Number(number)));
        }
        if let Some(end) = arithmetic::find_end(self.text, start, self.role()) {
            return Ok(Unquoted::Value(self.read_arithmetic(start, end)));
        }
        let token = self.token();
        let end = start + token.len();
        if self.opens_call(token) {
            self.record(FixKind::Call, self.slice(start, end + 1), "");
            self.pos = self.after_whitespace(end);
            return Ok(Unquoted::Call);
        }
        if let Some(word) = self.parse_word(token)?
            && self.ends_word(end)
        {
            if word.is_truncated {
                self.truncated = true;
            }
            if let Some(kind) = word.fix {
                self.record(kind, token, word.value.to_string());
            }
            self.pos = end;
            return Ok(Unquoted::Value(word.value));
        }
        self.read_bare_text()
    }

    /// Reads a number with a comma or bracket right after it, which cannot mean anything else.
    fn read_plain_number(&mut self) -> Option<Number> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return None;
        }
        let token = self.token();
        let end = self.pos + token.len();
        let number = matches!(self.byte(end), b',' | b']' | b'}').then(|| Number::parse(token).ok())??;
        self.pos = end;
        Some(number)
    }

    /// Reads arithmetic. It stays text until the schema asks for a number, unless it contains a reference: then it cannot
    /// be anything else and becomes an expression at once.
    fn read_arithmetic(&mut self, start: usize, end: usize) -> Value {
        let source = self.slice(start, end);
        self.pos = end;
        self.arithmetic.push(self.path());
        let expression = arithmetic::to_expression(source).filter(|_| source.contains("{{"));
        let text = expression.unwrap_or_else(|| source.to_owned());
        let kind = if text == source { FixKind::BareText } else { FixKind::Arithmetic };
        self.record(kind, source, &text);
        Value::String(text)
    }

    /// The unquoted text up to the next white space, comma, bracket, quote or comment.
    fn token(&self) -> &'t str {
        let bytes = self.rest().as_bytes();
        let len = bytes.iter().enumerate().take_while(|(at, byte)| match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}' | b')' | b'(' | b'[' | b'{' | b'"' => false,
            b';' => !self.is_separator(self.pos + at),
            b'/' => bytes.get(at + 1) != Some(&b'*'),
            _ => true,
        });
        self.slice(self.pos, self.pos + len.count())
    }

    /// Whether `name` opens a call with one argument: `ObjectId("1")`, `callback ({})`.
    fn opens_call(&self, name: &str) -> bool {
        let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
        let open = self.after_whitespace(self.pos + name.len());
        if !identifier || self.byte(open) != b'(' {
            return false;
        }
        let inside = self.after_whitespace(open + 1);
        self.quote_at(inside).is_some()
            || matches!(self.byte(inside), b'{' | b'[' | b'-' | b'0'..=b'9')
            || self.starts_literal(inside)
    }

    fn parse_word(&self, token: &str) -> ParseResult<Option<Word>> {
        let at_end = self.pos + token.len() >= self.text.len();
        let plain = |value| Ok(Some(Word { value, fix: None, is_truncated: false }));
        let fixed = |value, kind| Ok(Some(Word { value, fix: Some(kind), is_truncated: false }));
        if let Ok(number) = Number::parse(token) {
            return plain(Value::Number(number));
        }
        match token {
            "true" => return plain(Value::Bool(true)),
            "false" => return plain(Value::Bool(false)),
            "null" => return plain(Value::Null),
            "None" | "NULL" | "Null" | "nil" | "undefined" => return fixed(Value::Null, FixKind::Literal),
            "NaN" | "Infinity" | "-Infinity" | "inf" | "-inf" | "nan" => {
                return fixed(Value::Null, FixKind::NotANumber);
            }
            _ if token.eq_ignore_ascii_case("true") => return fixed(Value::Bool(true), FixKind::Literal),
            _ if token.eq_ignore_ascii_case("false") => return fixed(Value::Bool(false), FixKind::Literal),
            _ => {}
        }
        if let Some((number, is_truncated)) = parse_number_spelling(token, at_end) {
            let kind = if is_truncated { FixKind::CutTail } else { FixKind::NumberSpelling };
            return Ok(Some(Word { value: Value::Number(number), fix: Some(kind), is_truncated }));
        }
        let whole_text = self.role() == Role::TopLevel && self.pos == 0 && at_end;
        if whole_text && self.yes_no == YesNoWords::AsBoolean {
            match token.to_ascii_lowercase().as_str() {
                "yes" | "y" | "on" => return fixed(Value::Bool(true), FixKind::BooleanWord),
                "no" | "off" => return fixed(Value::Bool(false), FixKind::BooleanWord),
                "n" => return Err(Box::new(ParseFailure::Ambiguous(Box::new([Value::Bool(false), Value::Null])))),
                _ => {}
            }
        }
        Ok(self.parse_cut_literal(token, at_end))
    }

    /// Reads an abbreviated or truncated literal. A single letter counts only at the end of the text, or as the value `t`
    /// or `f` of a key; in an array it is more likely a name.
    fn parse_cut_literal(&self, token: &str, at_end: bool) -> Option<Word> {
        let flag = self.role() == Role::Member && matches!(token, "t" | "f");
        if token.is_empty() || !(at_end || flag || token.len() > 1) {
            return None;
        }
        let literals = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        let (_, value) = literals.into_iter().find(|(literal, _)| literal.starts_with(token))?;
        Some(Word { value, fix: Some(FixKind::CutLiteral), is_truncated: at_end })
    }

    /// Whether a number or literal that ends at `end` is a whole value. If not, it is the first word of a text.
    fn ends_word(&self, end: usize) -> bool {
        let next = self.after_whitespace(end);
        if next >= self.text.len() {
            return true;
        }
        let newline = self.slice(end, next).contains('\n');
        let byte = self.byte(next);
        let comment = byte == b'/' && matches!(self.byte(next + 1), b'/' | b'*') || (byte == b'#' && next > end);
        let common = newline || comment || matches!(byte, b',' | b']' | b'}' | b')') || self.is_separator(next);
        common
            || match self.role() {
                Role::TopLevel | Role::Key => byte == b';',
                Role::Argument => false,
                Role::Member => self.looks_like_key(next) || (byte == b'{' && self.open.arrays > 0),
                Role::Item => byte == b'.' || self.starts_value(next),
            }
    }

    /// Reads unquoted text up to the next comma, bracket or line end as a string.
    fn read_bare_text(&mut self) -> ParseResult<Unquoted> {
        let start = self.pos;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Unquoted::EndOfText) };
        if rest == "-" && self.role() != Role::TopLevel {
            // A number that is cut off before its first digit is unknown.
            return Ok(Unquoted::EndOfText);
        }
        if !(first.is_alphanumeric()
            || matches!(first, '_' | '$' | '/' | '-' | '+' | '*' | '#' | '~' | '.' | '€' | '£'))
        {
            return self.fail(FailureReason::ExpectedEscaped("a value", Some(first)));
        }
        let end = start + bare_len(rest, self.role());
        let source = self.slice(start, end).trim_end();
        if (source.contains('`') && source.contains("```")) || source.contains('\0') {
            return self.fail("expected a value, found a code fence or a NUL character");
        }
        self.pos = start + source.len();
        let is_key_next = self.role() == Role::Member && source.len() < end - start && self.is_quoted_key(end);
        if self.byte(end) == b'"' && !is_key_next {
            return self.read_without_first_quote(start, end);
        }
        if self.role() == Role::TopLevel && matches!(self.byte(self.after_whitespace(end)), b'{' | b'[') {
            return self.fail("expected a value, found text before a bracket");
        }
        let (text, kind) = match strip_emphasis(source) {
            Some(inside) => (inside, FixKind::Emphasis),
            None => (source, FixKind::BareText),
        };
        if !text.contains(|c: char| c.is_alphanumeric()) {
            self.pos = start;
            return self.fail(format!("expected a value, found `{text}`"));
        }
        self.record(kind, source, in_quotes(text));
        Ok(Unquoted::Value(Value::from(text)))
    }

    /// Reads a string without its first quote: `abc"`.
    fn read_without_first_quote(&mut self, start: usize, quote: usize) -> ParseResult<Unquoted> {
        let next = self.after_whitespace(quote + 1);
        let ends = next >= self.text.len() || matches!(self.byte(next), b',' | b']' | b'}' | b')' | b':');
        if !ends {
            self.pos = quote;
            return self.fail("expected `,` or a bracket, found a quote inside unquoted text");
        }
        let text = self.slice(start, quote);
        self.record(FixKind::MissingQuote, self.slice(start, quote + 1), in_quotes(text));
        self.pos = quote + 1;
        Ok(Unquoted::Value(Value::from(text)))
    }

    /// Reads an unquoted key; `None` if the text ends inside it.
    pub(super) fn read_bare_key(&mut self) -> ParseResult<Option<String>> {
        let start = self.pos;
        let rest = self.rest();
        let marks = rest.bytes().take_while(|byte| *byte == b'*').count();
        let body = rest.get(marks..).unwrap_or_default();
        if marks > 0 && body.starts_with('"') {
            return self.read_emphasised(Role::Key);
        }
        let in_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
        let key = body.get(..body.find(|c| !in_key(c)).unwrap_or(body.len())).unwrap_or_default();
        if key.is_empty() {
            return self.fail(FailureReason::ExpectedEscaped("a key", body.chars().next()));
        }
        if key.starts_with(|c: char| c.is_ascii_digit()) && Number::parse(key).is_err() {
            return self.fail(format!("the key `{key}` starts with a digit and must be quoted"));
        }
        let mut end = start + marks + key.len();
        end += self.slice(end, end + marks).bytes().take_while(|byte| *byte == b'*').count();
        if self.byte(end) == b'"' {
            end += 1;
        }
        self.pos = end;
        if end >= self.text.len() {
            return Ok(None);
        }
        self.record(FixKind::BareKey, self.slice(start, end), in_quotes(key));
        Ok(Some(key.to_owned()))
    }

    /// Whether an unquoted reference such as `{{name.path}}` begins here, and not an object.
    pub(super) fn is_template(&self) -> bool {
        template_len(self.slice(self.pos, self.pos + LOOKAHEAD)).is_some()
    }

    /// Reads the regular expression literal that begins here as a string.
    pub(super) fn read_regular_expression(&mut self) -> Value {
        let end = self.regular_expression_end().unwrap_or(self.text.len());
        let source = self.slice(self.pos, end);
        self.record(FixKind::RegularExpression, source, source);
        self.pos = end;
        Value::from(source)
    }

    /// The end of the regular expression literal that begins here, if there is one.
    pub(super) fn regular_expression_end(&self) -> Option<usize> {
        let inside = self.slice(self.pos + 1, self.pos + 4 * LOOKAHEAD);
        let mut escaped = false;
        let len = inside.bytes().take_while(|byte| *byte != b'\n').position(|byte| {
            let ends = byte == b'/' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let flags = self.pos + 1 + len + 1;
        let end = flags + self.slice(flags, flags + 8).bytes().take_while(u8::is_ascii_lowercase).count();
        let next = self.after_whitespace(end);
        let ends = next >= self.text.len() || matches!(self.byte(next), b',' | b']' | b'}' | b')');
        (ends && !inside.starts_with([' ', '/', '*'])).then_some(end)
    }
}

fn bare_len(rest: &str, role: Role) -> usize {
    let bytes = rest.as_bytes();
    let mut previous = b' ';
    for (at, &byte) in bytes.iter().enumerate() {
        let stops = match byte {
            b'\n' | b'\r' | b'"' | b',' | b'}' | b']' => true,
            b'{' | b'[' => role == Role::TopLevel,
            b')' => role == Role::Argument,
            b'/' => previous == b' ' && matches!(bytes.get(at + 1), Some(b'/' | b'*')),
            _ => false,
        };
        if stops && at > 0 {
            return at;
        }
        previous = byte;
    }
    rest.len()
}

/// Parses a number in the syntax of another language, or a truncated one; returns whether it is truncated.
fn parse_number_spelling(token: &str, at_end: bool) -> Option<(Number, bool)> {
    let parse = |text: &str| Number::parse(text).ok();
    let (sign, body) = token.strip_prefix('-').map_or(("", token), |body| ("-", body));
    if body.starts_with('+') {
        // `+15551234567` is a telephone number.
        return parse_scalar::number(body).map(|number| (number, false));
    }
    if body.starts_with('.') {
        return parse(&format!("{sign}0{body}")).map(|number| (number, false));
    }
    if body.contains('_') {
        let digits = parse_scalar::without_separators(body, '_')?;
        return parse(&format!("{sign}{digits}")).map(|number| (number, false));
    }
    if let Some(whole) = body.strip_suffix('.') {
        return parse(&format!("{sign}{whole}.0")).map(|number| (number, at_end));
    }
    let mantissa = body.strip_suffix(['+', '-']).unwrap_or(body);
    let mantissa = mantissa.strip_suffix(['e', 'E'])?;
    parse(&format!("{sign}{mantissa}")).map(|number| (number, at_end))
}

/// Removes `**...**`, `*...*` or `__...__` around `text`; `None` if there is none.
fn strip_emphasis(text: &str) -> Option<&str> {
    ["**", "__", "*"].iter().find_map(|mark| {
        let inside = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inside.is_empty() && !inside.contains('*')).then_some(inside)
    })
}
