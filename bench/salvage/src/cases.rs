//! Files of cases: one JSON object per line.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use reknit_protocol::Value;
use reknit_salvage::Schema;

use crate::Result;

/// A file of cases. Its first line decides the kind.
pub enum CaseFile {
    /// Broken texts: lines with `text`.
    Texts(Texts),
    /// Calls with mistakes: lines with `schema`, and `value` or its JSON text as `text`.
    Calls(Calls),
}

/// Broken texts.
pub struct Texts {
    pub name: String,
    pub texts: Vec<String>,
}

/// Calls with mistakes.
pub struct Calls {
    pub name: String,
    pub list: Vec<Call>,
    /// The distinct schemas.
    pub schemas: Vec<Schema>,
}

/// A value that may not fit its schema.
pub struct Call {
    pub value: Value,
    /// The JSON text of the value.
    pub text: String,
    /// The index of its schema in [`Calls::schemas`].
    pub schema: usize,
}

/// Reads a file of cases.
pub fn load(path: &Path) -> Result<CaseFile> {
    let error_at = |line: usize, message: String| format!("{}, line {line}: {message}", path.display());
    let content = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = Vec::new();
    for (line, number) in content.lines().zip(1..) {
        lines.push((number, Value::parse(line).map_err(|error| error_at(number, error.to_string()))?));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if lines.first().is_some_and(|(_, line)| line.get("schema").is_none()) {
        let text = |(number, line): &(usize, Value)| {
            let text = line.get("text").and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| error_at(*number, "`text` is missing".to_owned()).into())
        };
        return Ok(CaseFile::Texts(Texts { name, texts: lines.iter().map(text).collect::<Result<_>>()? }));
    }
    let mut calls = Calls { name, list: Vec::new(), schemas: Vec::new() };
    let mut indices = HashMap::new();
    for (number, line) in &lines {
        calls.add(line, &mut indices).map_err(|error| error_at(*number, error.to_string()))?;
    }
    Ok(CaseFile::Calls(calls))
}

impl Calls {
    fn add(&mut self, line: &Value, indices: &mut HashMap<String, usize>) -> Result<()> {
        let source = line.get("schema").ok_or("`schema` is missing")?;
        let key = source.to_string();
        let schema = *indices.entry(key).or_insert(self.schemas.len());
        if schema == self.schemas.len() {
            self.schemas.push(Schema::compile(source)?);
        }
        let (value, text) = match (line.get("value"), line.get("text").and_then(Value::as_str)) {
            (Some(value), _) => (value.clone(), value.to_string()),
            (None, Some(text)) => (Value::parse(text)?, text.to_owned()),
            (None, None) => return Err("`value` and `text` are missing".into()),
        };
        self.list.push(Call { value, text, schema });
        Ok(())
    }
}
