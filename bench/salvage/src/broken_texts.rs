//! Large texts that have one defect from beginning to end.

use serde_json::Value;

use crate::documents::rows;

/// How a text is written.
#[derive(Clone, Copy)]
struct Style {
    quote: char,
    /// The quote around keys.
    key_quote: &'static str,
    /// Between two members or items.
    comma: &'static str,
    /// After the last member or item.
    trailing: &'static str,
    literals: [&'static str; 3],
    /// The separator before the last word of a string.
    separator: &'static str,
}

const JSON: Style = Style {
    quote: '"',
    key_quote: "\"",
    comma: ", ",
    trailing: "",
    literals: ["null", "true", "false"],
    separator: " ",
};
const PYTHON: Style = Style { quote: '\'', key_quote: "'", literals: ["None", "True", "False"], ..JSON };

/// Texts of about `size` bytes, each with the name of its defect. The first is valid.
pub fn texts(size: usize) -> Vec<(&'static str, String)> {
    let rows = rows(size);
    let written = |style: Style| {
        let mut out = String::new();
        style.write(&mut out, &rows);
        out
    };
    let valid = written(JSON);
    let cut: String = valid.chars().take(valid.chars().count() - 40).collect();
    let fenced = format!("Here is the list you asked for:\n\n```json\n{valid}\n```\n\nLet me know if it helps.");
    vec![
        ("valid", valid),
        ("Python repr", written(PYTHON)),
        ("trailing commas", written(Style { trailing: ",", ..JSON })),
        ("missing commas", written(Style { comma: "\n", ..JSON })),
        ("unquoted keys", written(Style { key_quote: "", ..JSON })),
        ("comments", written(Style { comma: ", // next\n", ..JSON })),
        ("unescaped quotes", written(Style { separator: " \"a\" ", ..JSON })),
        ("raw line breaks", written(Style { separator: "\n", ..JSON })),
        ("cut tail", cut),
        ("fence and prose", fenced),
    ]
}

impl Style {
    fn write(self, out: &mut String, value: &Value) {
        let [null, yes, no] = self.literals;
        match value {
            Value::Null => out.push_str(null),
            Value::Bool(value) => out.push_str(if *value { yes } else { no }),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::String(text) => self.write_string(out, text),
            Value::Array(items) => {
                out.push('[');
                self.write_all(out, items, |out, item| self.write(out, item));
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                self.write_all(out, members, |out, (key, value)| {
                    out.extend([self.key_quote, key, self.key_quote, ": "]);
                    self.write(out, value);
                });
                out.push('}');
            }
        }
    }

    fn write_all<T>(self, out: &mut String, parts: impl IntoIterator<Item = T>, write: impl Fn(&mut String, T)) {
        for (index, part) in parts.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { self.comma });
            write(out, part);
        }
        out.push_str(self.trailing);
    }

    /// Writes a string. The strings of the rows need no escapes.
    fn write_string(self, out: &mut String, text: &str) {
        out.push(self.quote);
        match text.rsplit_once(' ') {
            Some((start, end)) => out.extend([start, self.separator, end]),
            None => out.push_str(text),
        }
        out.push(self.quote);
    }
}
