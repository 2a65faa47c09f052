//! Splits a sentence into words, quoted texts, numbers and punctuation marks.

use reknit_protocol::{Number, Value};

/// Longer texts are read up to here: errors state the cause at the beginning.
const MAX_BYTES: usize = 4_096;
/// A longer quoted text is no name and no value.
const MAX_QUOTED: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Quoted,
    Mark,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Number) && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, words: &str) -> bool {
        words.split(' ').any(|word| self.is(word))
    }

    pub(super) fn is_mark(&self, marks: &[char]) -> bool {
        self.kind == Kind::Mark && marks.iter().any(|mark| self.text.starts_with(*mark))
    }

    /// The number or string that it denotes. `true`, `false` and `null` are strings, since they may be ordinary words.
    pub(super) fn value(&self) -> Option<Value> {
        match self.kind {
            Kind::Number => Number::parse(self.text).ok().map(Value::Number),
            Kind::Word | Kind::Quoted => Some(Value::from(self.text)),
            Kind::Mark | Kind::End => None,
        }
    }
}

/// Splits a text into tokens. It never fails and looks at each letter a bounded number of times.
pub(super) fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut rest = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
    let mut tokens = Vec::new();
    while let Some(letter) = rest.chars().next() {
        let (kind, length) = next_token(rest, letter, tokens.last());
        let (start, end) = match kind {
            Some(Kind::Quoted) => (letter.len_utf8(), length),
            _ => (0, length),
        };
        if let (Some(kind), Some(text)) = (kind, rest.get(start..end)) {
            tokens.push(Token { kind, text });
        }
        let closing = if kind == Some(Kind::Quoted) { closing_quote(letter).map_or(0, char::len_utf8) } else { 0 };
        rest = rest.get(length + closing..).unwrap_or_default();
    }
    tokens
}

/// The kind of the next token and its length in bytes, without the closing quote of a quoted text. `None` for white space.
fn next_token(rest: &str, letter: char, before: Option<&Token<'_>>) -> (Option<Kind>, usize) {
    if letter == '\n' {
        return (Some(Kind::End), 1);
    }
    if letter.is_whitespace() {
        return (None, letter.len_utf8());
    }
    if let Some(length) = quoted_length(rest, letter) {
        return (Some(Kind::Quoted), length);
    }
    let compared = [">=", "<="].iter().find(|sign| rest.starts_with(**sign));
    if compared.is_some() || matches!(letter, '<' | '>') {
        return (Some(Kind::Word), compared.map_or(1, |sign| sign.len()));
    }
    let length = word_length(rest);
    if length == 0 {
        let ends = matches!(letter, '.' | ';' | '!' | '?');
        return (Some(if ends { Kind::End } else { Kind::Mark }), letter.len_utf8());
    }
    let word = rest.get(..length).unwrap_or_default();
    // The dot of `e.g.` does not end the sentence.
    let dotted = ["e.g", "i.e"].iter().any(|short| word.eq_ignore_ascii_case(short));
    let number = Number::parse(word).is_ok() && !before.is_some_and(|before| before.is_mark(&['#']));
    (
        Some(if number { Kind::Number } else { Kind::Word }),
        length + usize::from(dotted && rest.get(length..).is_some_and(|rest| rest.starts_with('.'))),
    )
}

fn closing_quote(letter: char) -> Option<char> {
    Some(match letter {
        '`' | '\'' | '"' => letter,
        '‘' => '’',
        '“' => '”',
        '«' => '»',
        _ => return None,
    })
}

/// The length of a quoted text with its opening quote and without its closing one.
fn quoted_length(rest: &str, letter: char) -> Option<usize> {
    let closing = closing_quote(letter)?;
    let mut escaped = false;
    for (at, found) in rest.char_indices().skip(1) {
        if at > MAX_QUOTED || found == '\n' {
            return None;
        }
        let after = rest.get(at + found.len_utf8()..).and_then(|rest| rest.chars().next());
        // An apostrophe inside a word is no closing quote.
        let inside = found == '\'' && after.is_some_and(char::is_alphanumeric);
        if found == closing && !escaped && !inside {
            return Some(at);
        }
        escaped = found == '\\' && !escaped;
    }
    None
}

/// The length of a word: letters and digits, and between them the marks that occur in names, dates and paths.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut open = 0_usize;
    for (at, letter) in rest.char_indices() {
        let inside = match letter {
            '_' => true,
            '$' | '/' | '-' | '.' | '+' if at == 0 => {
                rest.get(1..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
            }
            '[' if end == at && at > 0 => {
                open += 1;
                true
            }
            ']' if open > 0 => {
                open -= 1;
                true
            }
            '.' | '-' | '/' | '\'' | '%' | ':' => {
                let mut after = rest.get(at + 1..).unwrap_or_default().chars();
                let next = after.next().is_some_and(char::is_alphanumeric);
                // A colon is part of a word only in a time of day.
                let time = letter != ':'
                    || rest.get(..at).is_some_and(|before| before.ends_with(|last: char| last.is_ascii_digit()));
                at > 0 && next && time
            }
            _ => letter.is_alphanumeric(),
        };
        if !inside {
            break;
        }
        end = at + letter.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_split_into_words_quoted_texts_numbers_and_marks() {
        let word = |token: &Token<'_>| format!("{:?} {}", token.kind, token.text);
        let words = |text| tokenize(text).iter().map(word).collect::<Vec<_>>().join(", ");
        for (text, expected) in [
            (
                "`a.b` can't be -1.5: see legs[0].to (e.g. 2024-01-31).",
                "Quoted a.b, Word can't, Word be, Number -1.5, Mark :, Word see, Word legs[0].to, Mark (, Word e.g., \
                 Word 2024-01-31, Mark ), End .",
            ),
            ("x >= 1", "Word x, Word >=, Number 1"),
            ("it's 'a' or \"b c\"", "Word it's, Quoted a, Word or, Quoted b c"),
            ("field .lat of", "Word field, Word .lat, Word of"),
            ("open 'end", "Word open, Mark ', Word end"),
            ("", ""),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
