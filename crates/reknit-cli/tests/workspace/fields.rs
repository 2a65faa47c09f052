//! How many fields structs have.

/// The structs that a file defines outside of its tests, each with the number of its named fields. The code is formatted by rustfmt:
/// a field begins a line, four columns to the right of its struct.
pub(crate) fn structs(text: &str) -> Vec<(String, usize)> {
    let mut structs: Vec<(String, usize)> = Vec::new();
    // The column of the struct whose fields are counted.
    let mut open: Option<usize> = None;
    for line in text.lines().take_while(|line| line.trim() != "#[cfg(test)]") {
        let code = without_visibility(line.trim_start());
        let column = line.len() - line.trim_start().len();
        if let Some(rest) = code.strip_prefix("struct ").filter(|_| line.ends_with('{')) {
            structs.push((word(rest).to_owned(), 0));
            open = Some(column);
        } else if open == Some(column) && code == "}" {
            open = None;
        } else if open.is_some_and(|of_struct| column == of_struct + 4) && is_field(code) {
            structs.last_mut().expect("a struct is open").1 += 1;
        }
    }
    structs
}

fn without_visibility(code: &str) -> &str {
    let Some(rest) = code.strip_prefix("pub") else { return code };
    let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) => rest,
        None => rest,
    };
    rest.strip_prefix(' ').unwrap_or(code)
}

fn is_field(code: &str) -> bool {
    let code = code.strip_prefix("r#").unwrap_or(code);
    let name = word(code);
    !name.is_empty() && code.get(name.len()..).is_some_and(|rest| rest.starts_with(": ") || rest == ":")
}

/// The name at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[test]
fn named_fields_are_counted_whatever_stands_before_and_between_them() {
    let text = "\
pub(crate) struct A<'a> {
    /// text: not a field
    #[serde(default)]
    pub first: BTreeMap<
        String,
        u8,
    >,
    pub(super) second: &'a str,
    third: fn(u8) -> u8,
}
struct B(u8);
impl A<'_> {
    fn f() {
        struct C {
            r#type: u8,
        }
    }
}
#[cfg(test)]
mod tests {
    struct D {
        x: u8,
    }
}
";
    let counted = structs(text);
    let counted: Vec<(&str, usize)> = counted.iter().map(|(name, fields)| (name.as_str(), *fields)).collect();
    assert_eq!(counted, [("A", 3), ("C", 1)]);
}
