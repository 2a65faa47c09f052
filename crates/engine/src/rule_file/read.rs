//! Reads a file with rules, and says everything that is wrong with it.

use std::collections::BTreeMap;

use reknit_mend::{AcceptedBy, ErrorPattern, LearnedRule, RuleBook, RuleEvidence, RuleState, RuleValue};
use reknit_plan::{Document, FileProblem};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Path, Value};

const RULE_KEYS: [&str; 10] =
    ["id", "state", "accepted-by", "capability", "error", "absent", "results", "change", "remove", "evidence"];
const ERROR_KEYS: [&str; 4] = ["status", "code", "message", "fields"];
const VALUE_KEYS: [&str; 2] = ["of", "map"];
const EVIDENCE_KEYS: [&str; 6] = ["helps", "harms", "confirmations", "model-calls", "rejections", "retired"];

pub(super) fn read(document: &Document) -> Result<RuleBook, Vec<FileProblem>> {
    let mut reader = Reader { document, problems: Vec::new() };
    let mut book = RuleBook::default();
    if !document.value.is_null() {
        let root = Path::root();
        if let Some(file) = reader.object(&root, &document.value, &["rules"]) {
            for (at, item) in reader.items(&root.key("rules"), file.get("rules")) {
                let Some(rule) = reader.rule(&at, item) else { continue };
                if book.get(&rule.id).is_some() {
                    reader.add(&at.key("id"), format!("another rule has the id `{}`", rule.id), None);
                }
                book.rules.push(rule);
            }
        }
    }
    if reader.problems.is_empty() { Ok(book) } else { Err(reader.problems) }
}

struct Reader<'d> {
    document: &'d Document,
    problems: Vec<FileProblem>,
}

impl<'d> Reader<'d> {
    /// Adds a problem at a place, or at the closest one around it that the file has.
    fn add(&mut self, path: &Path, message: impl Into<String>, hint: Option<String>) {
        let segments = path.segments();
        let prefix = |length: usize| segments.iter().take(length).cloned().collect::<Path>();
        let position = (0..=segments.len()).rev().find_map(|length| self.document.position(&prefix(length)));
        self.problems.push(FileProblem { path: path.clone(), position, message: message.into(), hint });
    }

    fn expected(&mut self, path: &Path, what: &str, value: &Value) {
        self.add(path, format!("expected {what}, found {}", value.kind().with_article()), None);
    }

    /// The members of an object with these keys and no others.
    fn object(&mut self, path: &Path, value: &'d Value, keys: &[&str]) -> Option<&'d Object> {
        let Value::Object(object) = value else {
            self.expected(path, "keys with values", value);
            return None;
        };
        for key in object.keys().filter(|key| !keys.contains(key)) {
            let hint = match nearest(key, keys.iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys: {}", keys.join(", ")),
            };
            self.add(&path.key(key), "unknown key", Some(hint));
        }
        Some(object)
    }

    fn items(&mut self, path: &Path, value: Option<&'d Value>) -> Vec<(Path, &'d Value)> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().enumerate().map(|(index, item)| (path.index(index), item)).collect()
            }
            Some(other) => {
                self.expected(path, "a list", other);
                Vec::new()
            }
        }
    }

    fn text(&mut self, path: &Path, value: Option<&Value>) -> Option<String> {
        match value? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            other => {
                self.expected(path, "a text", other);
                None
            }
        }
    }

    fn texts(&mut self, path: &Path, value: Option<&'d Value>) -> Vec<String> {
        let items = self.items(path, value);
        items.into_iter().filter_map(|(at, item)| self.text(&at, Some(item))).collect()
    }

    /// One of some words.
    fn word<T: Copy>(
        &mut self,
        path: &Path,
        value: Option<&Value>,
        all: &[T],
        as_str: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(path, value)?;
        let found = all.iter().copied().find(|word| as_str(*word) == text);
        if found.is_none() {
            let words: Vec<&str> = all.iter().map(|word| as_str(*word)).collect();
            self.add(path, format!("`{text}` is not one of {}", words.join(", ")), None);
        }
        found
    }

    fn number(&mut self, path: &Path, value: Option<&Value>) -> Option<u32> {
        let value = value?;
        let number = value.as_number().and_then(|number| u32::try_from(number.as_u64()?).ok());
        if number.is_none() {
            self.expected(path, "a whole number", value);
        }
        number
    }

    fn rule(&mut self, path: &Path, value: &'d Value) -> Option<LearnedRule> {
        let fields = self.object(path, value, &RULE_KEYS)?;
        let before = self.problems.len();
        let at = |key: &str| path.key(key);
        for key in ["capability", "error"] {
            if !fields.contains_key(key) {
                self.add(path, format!("`{key}` is missing"), None);
            }
        }
        let state = self.word(&at("state"), fields.get("state"), RuleState::ALL, RuleState::as_str);
        let state = state.unwrap_or(RuleState::Proposed);
        let accepted_by = self.word(&at("accepted-by"), fields.get("accepted-by"), AcceptedBy::ALL, AcceptedBy::as_str);
        let rule = LearnedRule {
            id: self.text(&at("id"), fields.get("id")).unwrap_or_default(),
            state,
            accepted_by: accepted_by.or((state == RuleState::Accepted).then_some(AcceptedBy::Person)),
            capability: self.text(&at("capability"), fields.get("capability")).unwrap_or_default(),
            error: self.error(&at("error"), fields.get("error")),
            absent: self.texts(&at("absent"), fields.get("absent")),
            results: self.results(&at("results"), fields.get("results")),
            change: self.change(&at("change"), fields.get("change")),
            remove: self.texts(&at("remove"), fields.get("remove")),
            evidence: self.evidence(&at("evidence"), fields.get("evidence")),
        };
        // What follows from a value that could not be read is no problem of its own.
        if self.problems.len() > before {
            return None;
        }
        if let Err(problem) = rule.validate() {
            let place = problem.keys.iter().fold(path.clone(), |path, key| path.key(key));
            self.add(&place, problem.message, None);
            return None;
        }
        Some(if rule.id.is_empty() { rule.with_computed_id() } else { rule })
    }

    fn error(&mut self, path: &Path, value: Option<&'d Value>) -> ErrorPattern {
        let fields = value.and_then(|value| self.object(path, value, &ERROR_KEYS));
        let get = |key: &str| fields.and_then(|fields| fields.get(key));
        let status = self.number(&path.key("status"), get("status")).map(u16::try_from);
        if let Some(Err(_)) = status {
            self.add(&path.key("status"), "expected the status of an HTTP response", None);
        }
        ErrorPattern {
            status: status.and_then(Result::ok),
            code: self.text(&path.key("code"), get("code")).unwrap_or_default(),
            message: self.text(&path.key("message"), get("message")).unwrap_or_else(|| "*".to_owned()),
            fields: self.texts(&path.key("fields"), get("fields")),
        }
    }

    fn results(&mut self, path: &Path, value: Option<&'d Value>) -> BTreeMap<String, String> {
        let entries = self.entries(path, value);
        entries.into_iter().filter_map(|(at, name, item)| Some((name, self.text(&at, Some(item))?))).collect()
    }

    fn change(&mut self, path: &Path, value: Option<&'d Value>) -> BTreeMap<String, RuleValue> {
        let entries = self.entries(path, value);
        let read = entries.into_iter().filter_map(|(at, name, item)| Some((name, self.value(&at, item)?)));
        read.collect()
    }

    fn entries(&mut self, path: &Path, value: Option<&'d Value>) -> Vec<(Path, String, &'d Value)> {
        match value {
            None => Vec::new(),
            Some(Value::Object(object)) => {
                object.iter().map(|(name, item)| (path.key(name), name.to_owned(), item)).collect()
            }
            Some(other) => {
                self.expected(path, "keys with values", other);
                Vec::new()
            }
        }
    }

    fn value(&mut self, path: &Path, value: &'d Value) -> Option<RuleValue> {
        if let Value::String(text) = value {
            return Some(RuleValue { of: text.clone(), map: None });
        }
        let hint = "write an expression, like `parameters.quantity`, or `of` and `map`";
        let Value::Object(_) = value else {
            self.add(path, "a rule states no value of its own", Some(hint.to_owned()));
            return None;
        };
        let fields = self.object(path, value, &VALUE_KEYS)?;
        let of = self.text(&path.key("of"), fields.get("of"));
        let map = fields.get("map").and_then(Value::as_object).cloned();
        if of.is_none() || map.is_none() {
            self.add(path, "`of` and `map` belong together", Some(hint.to_owned()));
        }
        Some(RuleValue { of: of?, map: Some(map?) })
    }

    fn evidence(&mut self, path: &Path, value: Option<&'d Value>) -> RuleEvidence {
        let fields = value.and_then(|value| self.object(path, value, &EVIDENCE_KEYS));
        let get = |key: &str| fields.and_then(|fields| fields.get(key));
        RuleEvidence {
            helps: self.texts(&path.key("helps"), get("helps")),
            harms: self.texts(&path.key("harms"), get("harms")),
            confirmations: self.texts(&path.key("confirmations"), get("confirmations")),
            model_calls: self.number(&path.key("model-calls"), get("model-calls")).unwrap_or_default(),
            rejections: self.texts(&path.key("rejections"), get("rejections")),
            retired: self.text(&path.key("retired"), get("retired")),
        }
    }
}
