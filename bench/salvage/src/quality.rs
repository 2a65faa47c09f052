//! How many damaged texts each library reads as they were meant, and in how many it takes structure for text.

use std::fmt;
use std::fs;
use std::path::Path;

use reknit_protocol::Value;
use reknit_salvage::{ReadOptions, read};

use crate::Result;
use crate::peer::Peers;

/// A damaged text of a kind, with the value that was meant.
struct Damaged {
    kind: String,
    text: String,
    expected: Value,
}

/// What one library made of the texts.
struct Row {
    library: String,
    correct: usize,
    /// Values that have a key or a bracket of the text inside of a string.
    swallowed: usize,
    /// Other values than the expected one.
    wrong: usize,
    refused: usize,
}

/// The shares of all libraries.
pub struct Quality {
    kinds: usize,
    texts: usize,
    rows: Vec<Row>,
}

/// Compares the answers of all libraries with the expected values of a file.
pub fn measure(peers: &Peers, path: &Path) -> Result<Quality> {
    let cases = load(path)?;
    let ours = |case: &Damaged| read(&case.text, &ReadOptions::default()).ok().map(|reading| reading.value);
    let mut rows = vec![row("read (ours)".to_owned(), &cases, &cases.iter().map(ours).collect::<Vec<_>>())];
    let input = peers.input("damage", cases.iter().map(|case| (case.text.as_str(), None)))?;
    for name in ["json_repair", "jsonrepair", "baml", "typia"] {
        let output = peers.answers(name, &input)?;
        let mut lines = output.trim_end().split('\n');
        let library = lines.next().unwrap_or_default().to_owned();
        let answers: Vec<Option<Value>> =
            lines.map(|line| Ok(Value::parse(line)?.get("value").cloned())).collect::<Result<_>>()?;
        if answers.len() != cases.len() {
            return Err(format!("{library}: {} answers for {} texts", answers.len(), cases.len()).into());
        }
        rows.push(row(library, &cases, &answers));
    }
    let mut kinds: Vec<&str> = cases.iter().map(|case| case.kind.as_str()).collect();
    kinds.dedup();
    Ok(Quality { kinds: kinds.len(), texts: cases.len(), rows })
}

impl Quality {
    /// Whether no other library has a higher share of correct values or a lower share of swallowed structure.
    pub fn passes(&self) -> bool {
        let Some((ours, others)) = self.rows.split_first() else { return false };
        others.iter().all(|other| ours.correct > other.correct && ours.swallowed <= other.swallowed)
    }
}

fn load(path: &Path) -> Result<Vec<Damaged>> {
    let lines = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let case = |line: &str| -> Result<Damaged> {
        let case = Value::parse(line)?;
        let text = |name| case.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(kind), Some(text), Some(expected)) = (text("kind"), text("text"), case.get("expect").cloned()) else {
            return Err(format!("`kind`, `text` or `expect` is missing: {line}").into());
        };
        Ok(Damaged { kind, text, expected })
    };
    lines.split('\n').filter(|line| !line.is_empty()).map(case).collect()
}

fn row(library: String, cases: &[Damaged], answers: &[Option<Value>]) -> Row {
    let mut row = Row { library, correct: 0, swallowed: 0, wrong: 0, refused: 0 };
    for (case, answer) in cases.iter().zip(answers) {
        match answer {
            None => row.refused += 1,
            Some(value) if *value == case.expected => row.correct += 1,
            Some(value) => {
                row.wrong += 1;
                row.swallowed += usize::from(swallows(value, &case.expected));
            }
        }
    }
    row
}

/// Whether a string or key of the value has a part of the structure in it: a key that was meant, with its colon, or a bracket that
/// no expected string has.
fn swallows(value: &Value, expected: &Value) -> bool {
    let (mut keys, mut texts) = (Vec::new(), Vec::new());
    collect(expected, &mut keys, &mut texts);
    let (mut found_keys, mut found_texts) = (Vec::new(), Vec::new());
    collect(value, &mut found_keys, &mut found_texts);
    let has_key = |text: &str| {
        keys.iter().any(|key| {
            let mut places = text.match_indices(*key).map(|(at, key)| &text[at + key.len()..]);
            places.any(|rest| rest.trim_start_matches(['"', '\'', ' ', '”']).starts_with([':', '：']))
        })
    };
    let has_bracket = |text: &str| text.contains(['{', '}', '[', ']']);
    let is_expected = |text: &&str| texts.contains(text) || keys.contains(text);
    found_texts.iter().chain(&found_keys).filter(|text| !is_expected(text)).any(|text| {
        let meant = texts.iter().any(|expected| has_bracket(expected) || has_key(expected));
        !meant && (has_key(text) || has_bracket(text))
    })
}

fn collect<'v>(value: &'v Value, keys: &mut Vec<&'v str>, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, keys, texts)),
        Value::Object(object) => {
            for (key, value) in object {
                keys.push(key);
                collect(value, keys, texts);
            }
        }
        _ => {}
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "damage: {} texts of {} kinds, read without a schema", self.texts, self.kinds)?;
        writeln!(
            out,
            "{:<24} {:>9} {:>21} {:>7} {:>9}",
            "library", "correct", "swallowed structure", "wrong", "refused"
        )?;
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / self.texts as f64);
        for row in &self.rows {
            let (correct, swallowed) = (share(row.correct), share(row.swallowed));
            let library = &row.library;
            writeln!(out, "{library:<24} {correct:>9} {swallowed:>21} {:>7} {:>9}", row.wrong, row.refused)?;
        }
        writeln!(out, "we lead in both columns: {}\n", if self.passes() { "PASS" } else { "FAIL" })
    }
}
