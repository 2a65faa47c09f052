//! Words with spaces between them: options of a command, `open --path /a --new=false`, `path=/a new=false`, and keywords as in Lisp,
//! `(open :path "/a" :new false)`.

use reknit_protocol::{Object, Value};

use super::{insert, literal};

/// Reads options, assignments or keywords.
pub(super) fn read(text: &str) -> Option<Object> {
    if text.contains('\n') {
        return None;
    }
    keywords(text).or_else(|| options(text)).or_else(|| assignments(text))
}

/// `{:path "/a" :new false}` and `(open :path "/a" :new false)`
fn keywords(text: &str) -> Option<Object> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text.strip_prefix('(')?.strip_suffix(')')?.split_once(' ')?.1,
    };
    let words = words(&inner.replace(',', " "), true)?;
    // A comma may stand in a text.
    let words = if inner.contains(',') && inner.contains('"') { words_with_commas(inner)? } else { words };
    let (pairs, rest) = words.as_chunks::<2>();
    let mut object = Object::new();
    for [key, value] in pairs {
        insert(&mut object, key.strip_prefix(':')?, literal(value)?)?;
    }
    (rest.is_empty() && !object.is_empty()).then_some(object)
}

/// The words of a text in which commas between words mean nothing.
fn words_with_commas(text: &str) -> Option<Vec<String>> {
    let words = words(text, true)?;
    Some(words.into_iter().map(|word| word.strip_suffix(',').map_or(word.clone(), str::to_owned)).collect())
}

/// `open --path /a --new=false`
fn options(text: &str) -> Option<Object> {
    let words = words(text, false)?;
    let mut words = words.iter().map(String::as_str).peekable();
    // The name of the command.
    words.next_if(|word| !word.starts_with('-'));
    let mut object = Object::new();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--")?;
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (option, words.next_if(|next| !next.starts_with("--"))?.to_owned()),
        };
        insert(&mut object, name, Value::from(value))?;
    }
    (!object.is_empty()).then_some(object)
}

/// `path=/a new=false`
fn assignments(text: &str) -> Option<Object> {
    let words = words(text, false)?;
    let mut object = Object::new();
    for word in &words {
        let (name, value) = word.split_once('=')?;
        if value.is_empty() || value.starts_with('=') || value.ends_with([',', ';']) {
            return None;
        }
        insert(&mut object, name, Value::from(value))?;
    }
    (words.len() > 1).then_some(object)
}

/// The words between spaces outside of quotes; `None` if a quote is open at the end. Quotes are dropped unless they are kept.
fn words(text: &str, are_quotes_kept: bool) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote, mut is_escaped, mut has_begun) =
        (Vec::new(), String::new(), None, false, false);
    for c in text.chars() {
        let is_quote = quote == Some(c) || (quote.is_none() && c == '"');
        if !is_escaped && is_quote {
            quote = if quote.is_some() { None } else { Some(c) };
            has_begun = true;
            if !are_quotes_kept {
                continue;
            }
        } else if quote.is_none() && c.is_whitespace() {
            if has_begun {
                words.push(std::mem::take(&mut word));
                has_begun = false;
            }
            continue;
        } else if !is_escaped && c == '\\' && quote.is_some() {
            is_escaped = true;
            if are_quotes_kept {
                word.push(c);
            }
            continue;
        }
        is_escaped = false;
        has_begun = true;
        word.push(c);
    }
    if has_begun {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_assignments_and_keywords_are_entries() {
        let expected = Some(r#"{"path":"/a b","new":"false"}"#);
        for (text, expected) in [
            ("open --path \"/a b\" --new false", expected),
            ("./open --path=\"/a b\" --new=false", expected),
            ("--path \"/a b\" --new false", expected),
            ("path=\"/a b\" new=false", expected),
            (r#"{:path "/a b" :new false}"#, Some(r#"{"path":"/a b","new":false}"#)),
            (r#"{:path "/a, b", :new false}"#, Some(r#"{"path":"/a, b","new":false}"#)),
            (r#"(open :path "/a b" :new false)"#, Some(r#"{"path":"/a b","new":false}"#)),
            ("open --path", None),
            ("open --path --new", None),
            ("open it --path /a", None),
            ("--path /a --path /b", None),
            ("path=/a", None),
            ("path=/a, new=false", None),
            ("path=\"/a new=false", None),
            ("the path is /a", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
