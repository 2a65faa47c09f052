//! What stands outside quotes where a value or a key must be: numbers, literals, words, calls.

use reknit_protocol::{Number, Value};

use super::{
    arithmetic,
    cursor::LOOK,
    failure::{Failure, Problem, Step},
    parser::{Parser, Role, YesNo},
    quoted::in_quotes,
};
use crate::fix::FixKind;

/// What an unquoted text turned out to be.
pub(super) enum Unquoted {
    Value(Value),
    /// The name of a call was read; its argument follows behind the round bracket.
    Call,
    /// The text ended before anything could be read.
    Cut,
}

/// A single word that is a value of its own.
struct Word {
    value: Value,
    fix: Option<FixKind>,
    /// Whether the word may have been cut by the end of the text.
    cut: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn unquoted(&mut self) -> Step<Unquoted> {
        let start = self.pos;
        if let Some(number) = self.plain_number() {
            return Ok(Unquoted::Value(Value::Number(number)));
        }
        if let Some(end) = arithmetic::end(self.text, start, self.role()) {
            return Ok(Unquoted::Value(self.arithmetic_text(start, end)));
        }
        let token = self.token();
        let end = start + token.len();
        if self.opens_call(token) {
            self.fix(FixKind::Call, self.slice(start, end + 1), "");
            self.pos = self.skip_blanks(end);
            return Ok(Unquoted::Call);
        }
        if let Some(word) = self.word(token)?
            && self.may_follow(end)
        {
            if word.cut {
                self.truncated = true;
            }
            if let Some(kind) = word.fix {
                self.fix(kind, token, word.value.to_string());
            }
            self.pos = end;
            return Ok(Unquoted::Value(word.value));
        }
        self.bare_text()
    }

    /// A number with a comma or bracket right behind it: nothing else can be meant.
    fn plain_number(&mut self) -> Option<Number> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return None;
        }
        let token = self.token();
        let end = self.pos + token.len();
        let number = matches!(self.byte(end), b',' | b']' | b'}').then(|| Number::parse(token).ok())??;
        self.pos = end;
        Some(number)
    }

    /// Arithmetic is kept as text until the schema says that a number is wanted. With a reference in it there is no
    /// doubt: it becomes an expression at once.
    fn arithmetic_text(&mut self, start: usize, end: usize) -> Value {
        let source = self.slice(start, end);
        self.pos = end;
        self.arithmetic.push(self.path());
        let expression = arithmetic::expression(source).filter(|_| source.contains("{{"));
        let text = expression.unwrap_or_else(|| source.to_owned());
        let kind = if text == source { FixKind::BareText } else { FixKind::Arithmetic };
        self.fix(kind, source, &text);
        Value::String(text)
    }

    /// The unquoted text up to the next white space, comma, bracket, quote or comment.
    fn token(&self) -> &'t str {
        let bytes = self.rest().as_bytes();
        let len = bytes.iter().enumerate().take_while(|(at, byte)| match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}' | b')' | b'(' | b'[' | b'{' | b'"' => false,
            b'/' => bytes.get(at + 1) != Some(&b'*'),
            _ => true,
        });
        self.slice(self.pos, self.pos + len.count())
    }

    /// Whether `name` is the name of a call with one argument: `ObjectId("1")`, `callback ({})`.
    fn opens_call(&self, name: &str) -> bool {
        let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
        let open = self.skip_blanks(self.pos + name.len());
        if !identifier || self.byte(open) != b'(' {
            return false;
        }
        let inside = self.skip_blanks(open + 1);
        let word = self.slice(inside, inside + 5);
        self.quote_at(inside).is_some()
            || matches!(self.byte(inside), b'{' | b'[' | b'-' | b'0'..=b'9')
            || ["true", "false", "null"].iter().any(|literal| word.starts_with(literal))
    }

    /// Reads a token as a number or literal in any spelling.
    fn word(&self, token: &str) -> Step<Option<Word>> {
        let at_end = self.pos + token.len() >= self.text.len();
        let plain = |value| Ok(Some(Word { value, fix: None, cut: false }));
        let fixed = |value, kind| Ok(Some(Word { value, fix: Some(kind), cut: false }));
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
        if let Some((number, cut)) = number_spelling(token, at_end) {
            let kind = if cut { FixKind::CutTail } else { FixKind::NumberSpelling };
            return Ok(Some(Word { value: Value::Number(number), fix: Some(kind), cut }));
        }
        let whole_text = self.role() == Role::Top && self.pos == 0 && at_end;
        if whole_text && self.yes_no == YesNo::Boolean {
            match token.to_ascii_lowercase().as_str() {
                "yes" | "y" | "on" => return fixed(Value::Bool(true), FixKind::BooleanWord),
                "no" | "off" => return fixed(Value::Bool(false), FixKind::BooleanWord),
                "n" => return Err(Box::new(Failure::Ambiguous(Box::new([Value::Bool(false), Value::Null])))),
                _ => {}
            }
        }
        Ok(self.cut_literal(token, at_end))
    }

    /// A literal that was cut short. A single letter counts only at the end of the text, or where `t` and `f` are
    /// the value of a key; in a list it is more likely a name.
    fn cut_literal(&self, token: &str, at_end: bool) -> Option<Word> {
        let flag = self.role() == Role::Member && matches!(token, "t" | "f");
        if token.is_empty() || !(at_end || flag || token.len() > 1) {
            return None;
        }
        let literals = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        let (_, value) = literals.into_iter().find(|(literal, _)| literal.starts_with(token))?;
        Some(Word { value, fix: Some(FixKind::CutLiteral), cut: at_end })
    }

    /// Whether what follows a number or literal lets it stand alone; otherwise it is the first word of a text.
    fn may_follow(&self, end: usize) -> bool {
        let next = self.skip_blanks(end);
        if next >= self.text.len() {
            return true;
        }
        let newline = self.slice(end, next).contains('\n');
        let byte = self.byte(next);
        let comment = byte == b'/' && matches!(self.byte(next + 1), b'/' | b'*') || (byte == b'#' && next > end);
        let common = newline || comment || matches!(byte, b',' | b']' | b'}' | b')');
        common
            || match self.role() {
                Role::Top | Role::Key => byte == b';',
                Role::Argument => false,
                Role::Member => self.looks_like_key(next) || (byte == b'{' && self.open.arrays > 0),
                Role::Item => {
                    let word = self.slice(next, next + LOOK);
                    let word = word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
                    matches!(byte, b'0'..=b'9' | b'-' | b'{' | b'[' | b'.')
                        || self.quote_at(next).is_some()
                        || matches!(word, "true" | "false" | "null" | "True" | "False" | "None")
                }
            }
    }

    /// Unquoted text as a string: up to the comma, bracket or line end that ends it.
    fn bare_text(&mut self) -> Step<Unquoted> {
        let start = self.pos;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Unquoted::Cut) };
        if rest == "-" && self.role() != Role::Top {
            // A number that is cut before its first digit: what it would have been cannot be known.
            return Ok(Unquoted::Cut);
        }
        if !(first.is_alphanumeric()
            || matches!(first, '_' | '$' | '/' | '-' | '+' | '*' | '#' | '~' | '.' | '€' | '£'))
        {
            return self.fail(Problem::Shown("a value", Some(first)));
        }
        let end = start + bare_len(rest, self.role());
        let source = self.slice(start, end).trim_end();
        if (source.contains('`') && source.contains("```")) || source.contains('\0') {
            return self.fail("expected a value, found text that is no value");
        }
        self.pos = start + source.len();
        let quote = self.byte(end) == b'"';
        if quote {
            return self.text_without_first_quote(start, end);
        }
        if self.role() == Role::Top && matches!(self.byte(self.skip_blanks(end)), b'{' | b'[') {
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
        self.fix(kind, source, in_quotes(text));
        Ok(Unquoted::Value(Value::from(text)))
    }

    /// `abc"`: the first quote is missing.
    fn text_without_first_quote(&mut self, start: usize, quote: usize) -> Step<Unquoted> {
        let next = self.skip_blanks(quote + 1);
        let ends = next >= self.text.len() || matches!(self.byte(next), b',' | b']' | b'}' | b')' | b':');
        if !ends {
            self.pos = quote;
            return self.fail("expected `,` or a bracket, found a quote inside unquoted text");
        }
        let text = self.slice(start, quote);
        self.fix(FixKind::MissingQuote, self.slice(start, quote + 1), in_quotes(text));
        self.pos = quote + 1;
        Ok(Unquoted::Value(Value::from(text)))
    }

    /// An unquoted key; `None` if the text ends inside it.
    pub(super) fn bare_key(&mut self) -> Step<Option<String>> {
        let start = self.pos;
        let rest = self.rest();
        let marks = rest.bytes().take_while(|byte| *byte == b'*').count();
        let body = rest.get(marks..).unwrap_or_default();
        if marks > 0 && body.starts_with('"') {
            self.fix(FixKind::Emphasis, self.slice(start, start + marks), "");
            self.pos += marks;
            let key = self.quoted(Role::Key)?;
            self.pos += self.rest().bytes().take_while(|byte| *byte == b'*').count();
            return Ok(key);
        }
        let in_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
        let key = body.get(..body.find(|c| !in_key(c)).unwrap_or(body.len())).unwrap_or_default();
        if key.is_empty() {
            return self.fail(Problem::Shown("a key", body.chars().next()));
        }
        if key.starts_with(|c: char| c.is_ascii_digit()) && Number::parse(key).is_err() {
            return self.fail(format!("the key `{key}` starts with a digit and must stand in quotes"));
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
        self.fix(FixKind::BareKey, self.slice(start, end), in_quotes(key));
        Ok(Some(key.to_owned()))
    }

    /// Whether `{{name.path}}` without quotes stands here: a reference, not an object.
    pub(super) fn is_template(&self) -> bool {
        template_len(self.slice(self.pos, self.pos + LOOK)).is_some()
    }

    /// The end of the regular expression literal that begins here.
    pub(super) fn regular_expression_end(&self) -> Option<usize> {
        let inside = self.slice(self.pos + 1, self.pos + 4 * LOOK);
        let mut escaped = false;
        let len = inside.bytes().take_while(|byte| *byte != b'\n').position(|byte| {
            let ends = byte == b'/' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let flags = self.pos + 1 + len + 1;
        let end = flags + self.slice(flags, flags + 8).bytes().take_while(u8::is_ascii_lowercase).count();
        let next = self.skip_blanks(end);
        let ends = next >= self.text.len() || matches!(self.byte(next), b',' | b']' | b'}' | b')');
        (ends && !inside.starts_with([' ', '/', '*'])).then_some(end)
    }
}

/// The length of `{{...}}` at the start of `text`, if what is inside can be a reference or an expression.
pub(super) fn template_len(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("{{")?;
    let len = inside.find("}}")?;
    let body = inside.get(..len)?.trim();
    let word = |c: char| c.is_alphanumeric() || " ._-[]()+*/%?,<>=!".contains(c) || c == '"' || c == '\'';
    let plausible = body.starts_with(|c: char| c.is_alphanumeric() || "_[(".contains(c)) && body.chars().all(word);
    let quoted_key = body.starts_with('"') || body.contains(':');
    (plausible && !quoted_key).then_some(len + 4)
}

/// How far unquoted text reaches.
fn bare_len(rest: &str, role: Role) -> usize {
    let bytes = rest.as_bytes();
    let mut previous = b' ';
    for (at, &byte) in bytes.iter().enumerate() {
        let stops = match byte {
            b'\n' | b'\r' | b'"' | b',' | b'}' | b']' => true,
            b'{' | b'[' => role == Role::Top,
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

/// Numbers as other languages spell them, and numbers that are cut: the number, and whether it is cut.
fn number_spelling(token: &str, at_end: bool) -> Option<(Number, bool)> {
    let parse = |text: &str| Number::parse(text).ok();
    let (sign, body) = token.strip_prefix('-').map_or(("", token), |body| ("-", body));
    if body.starts_with('.') {
        return parse(&format!("{sign}0{body}")).map(|number| (number, false));
    }
    if let Some(whole) = body.strip_suffix('.') {
        return parse(&format!("{sign}{whole}.0")).map(|number| (number, at_end));
    }
    let mantissa = body.strip_suffix(['+', '-']).unwrap_or(body);
    let mantissa = mantissa.strip_suffix(['e', 'E'])?;
    parse(&format!("{sign}{mantissa}")).map(|number| (number, at_end))
}

/// The text inside `**...**`, `*...*` or `__...__`.
fn strip_emphasis(text: &str) -> Option<&str> {
    ["**", "__", "*"].iter().find_map(|mark| {
        let inside = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inside.is_empty() && !inside.contains('*')).then_some(inside)
    })
}
