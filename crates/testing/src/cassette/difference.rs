//! How a request differs from those that were recorded.

use reknit_protocol::{Path, Value};

use super::tape::{Asked, Exchange};

/// More differences than this do not help to find the one that matters.
const SHOWN: usize = 10;
/// Enough of a text to see what changed.
const LETTERS: usize = 60;

/// That a request is not recorded, and what is.
pub(super) fn miss(asked: &Asked, recorded: &[Exchange]) -> String {
    let what = format!("{} {}", asked.method, asked.path);
    let same = recorded.iter().filter(|exchange| exchange.asked == *asked).count();
    if same > 0 {
        return format!("{what} was recorded {same} time{} and is asked once more", if same == 1 { "" } else { "s" });
    }
    let there = recorded.iter().filter(|exchange| exchange.asked.method == asked.method);
    let there = there.filter(|exchange| exchange.asked.path == asked.path);
    let nearest = there.map(|exchange| differences(&exchange.asked.body, &asked.body)).min_by_key(Vec::len);
    let Some(lines) = nearest else {
        let mut others: Vec<String> =
            recorded.iter().map(|exchange| format!("{} {}", exchange.asked.method, exchange.asked.path)).collect();
        others.dedup();
        return format!("{what} is not recorded; recorded are: {}", others.join(", "));
    };
    let rest = lines.len().saturating_sub(SHOWN);
    let mut text = format!("{what} is not recorded in this form; the nearest recording differs in:");
    for line in lines.iter().take(SHOWN) {
        text = format!("{text}\n  {line}");
    }
    if rest > 0 {
        text = format!("{text}\n  and {rest} more");
    }
    text
}

/// One line for each place in which two values differ.
fn differences(recorded: &Value, asked: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare(&Path::default(), recorded, asked, &mut lines);
    lines
}

fn compare(path: &Path, recorded: &Value, asked: &Value, lines: &mut Vec<String>) {
    match (recorded, asked) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                let path = path.key(key);
                match right.get(key) {
                    Some(other) => compare(&path, value, other, lines),
                    None => lines.push(format!("{path}: recorded {}, now missing", cut(&value.to_string()))),
                }
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(key)) {
                let path = path.key(key);
                lines.push(format!("{path}: not recorded, now {}", cut(&value.to_string())));
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for (index, (value, other)) in left.iter().zip(right).enumerate() {
                compare(&path.index(index), value, other, lines);
            }
            if left.len() != right.len() {
                lines.push(format!("{path}: recorded {} entries, now {}", left.len(), right.len()));
            }
        }
        // By the text: a number that is written otherwise is another request.
        _ if recorded.to_string() != asked.to_string() => lines.push(changed(path, recorded, asked)),
        _ => {}
    }
}

/// Long texts from shortly before the place where they part.
fn changed(path: &Path, recorded: &Value, asked: &Value) -> String {
    const BEFORE: usize = 15;
    let (left, right) = (recorded.to_string(), asked.to_string());
    let same = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let from = if same > LETTERS / 2 { same - BEFORE } else { 0 };
    let part = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        format!("{}{}", if from > 0 { "…" } else { "" }, cut(&rest))
    };
    format!("{path}: recorded {}, now {}", part(&left), part(&right))
}

fn cut(text: &str) -> String {
    let shown: String = text.chars().take(LETTERS).collect();
    if shown.len() < text.len() { shown + "…" } else { shown }
}
