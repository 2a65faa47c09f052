//! Describes how a request differs from the recorded ones.

use reknit_protocol::{Path, Value, shorten};

use super::{Exchange, RecordedRequest};

/// How many differences a message lists.
const MAX_DIFFERENCES: usize = 10;
/// How many characters of a value a message quotes.
const MAX_QUOTED: usize = 60;

/// The message about a request that is not in the recording.
pub(super) fn describe_miss(request: &RecordedRequest, recorded: &[Exchange]) -> String {
    let name = format!("{} {}", request.method, request.path);
    let same = recorded.iter().filter(|exchange| exchange.request == *request).count();
    if same > 0 {
        return format!(
            "{name} was recorded {same} time{} and is requested once more",
            if same == 1 { "" } else { "s" }
        );
    }
    let same_path = recorded.iter().map(|exchange| &exchange.request);
    let same_path = same_path.filter(|other| other.method == request.method && other.path == request.path);
    let nearest = same_path.map(|other| differences(&other.body, &request.body)).min_by_key(Vec::len);
    let Some(lines) = nearest else {
        let mut others: Vec<String> =
            recorded.iter().map(|exchange| format!("{} {}", exchange.request.method, exchange.request.path)).collect();
        others.dedup();
        return format!("{name} is not recorded; recorded are: {}", others.join(", "));
    };
    let rest = lines.len().saturating_sub(MAX_DIFFERENCES);
    let shown = lines.into_iter().take(MAX_DIFFERENCES).chain((rest > 0).then(|| format!("and {rest} more")));
    let shown: Vec<String> = shown.collect();
    format!("{name} is not recorded in this form; the nearest recording differs in:\n  {}", shown.join("\n  "))
}

/// One line for each place in which two values differ.
fn differences(recorded: &Value, current: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare(&Path::default(), recorded, current, &mut lines);
    lines
}

fn compare(path: &Path, recorded: &Value, current: &Value, lines: &mut Vec<String>) {
    match (recorded, current) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                let path = path.key(key);
                match right.get(key) {
                    Some(other) => compare(&path, value, other, lines),
                    None => lines.push(format!("{path}: recorded {}, now missing", quoted(value))),
                }
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(key)) {
                let path = path.key(key);
                lines.push(format!("{path}: not recorded, now {}", quoted(value)));
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
        // The text is compared: a number in another spelling makes another request.
        _ if recorded.to_string() != current.to_string() => lines.push(changed(path, recorded, current)),
        _ => {}
    }
}

/// Quotes both values. Long values are quoted from shortly before the first difference.
fn changed(path: &Path, recorded: &Value, current: &Value) -> String {
    const BEFORE: usize = 15;
    let (left, right) = (recorded.to_string(), current.to_string());
    let same = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let from = if same > MAX_QUOTED / 2 { same - BEFORE } else { 0 };
    let part = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        format!("{}{}", if from > 0 { "…" } else { "" }, shorten(&rest, MAX_QUOTED))
    };
    format!("{path}: recorded {}, now {}", part(&left), part(&right))
}

fn quoted(value: &Value) -> String {
    shorten(&value.to_string(), MAX_QUOTED).into_owned()
}
