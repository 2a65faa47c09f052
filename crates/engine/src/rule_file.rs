//! Files with learned rules, which people review and commit.

mod read;

use std::collections::BTreeMap;
use std::fmt;

use reknit_mend::{AcceptedBy, ErrorPattern, LearnedRule, RuleBook, RuleEvidence, RuleState, RuleValue};
use reknit_plan::{Document, FileProblem, write_yaml};
use reknit_protocol::{Object, Path, Value};

/// Why a file with rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFileError {
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<FileProblem>,
}

impl std::error::Error for RuleFileError {}

impl fmt::Display for RuleFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        out.write_str(&problems.join("; "))
    }
}

/// Reads a file with rules. An empty file has none.
///
/// ```
/// use reknit_engine::{read_rule_file, write_rule_file};
///
/// let text = r#"
/// rules:
///   - id: 3f9a20c1d4
///     state: accepted
///     capability: bank/convert
///     error: {code: NO_RATE, status: 404, message: "no rate from * to *", fields: [from]}
///     change:
///       from: {of: parameters.from, map: {Pounds: GBP, Yen: JPY}}
/// "#;
/// let book = read_rule_file(text)?;
/// assert_eq!(book.rules[0].capability, "bank/convert");
/// assert_eq!(read_rule_file(&write_rule_file(&book))?, book);
///
/// let error = read_rule_file("rules:\n  - capability: bank/convert\n    chang: {}").unwrap_err();
/// assert!(error.to_string().starts_with("line 3, column 5: `rules[0].chang`: unknown key"));
/// # Ok::<(), reknit_engine::RuleFileError>(())
/// ```
pub fn read_rule_file(text: &str) -> Result<RuleBook, RuleFileError> {
    let document = Document::read(text).map_err(|problem| RuleFileError { problems: vec![problem] })?;
    read::read(&document).map_err(|problems| RuleFileError { problems })
}

/// The first lines of every file.
const HEAD: &str = "\
# Rules that runs have learned from corrections: docs/how-to/learned-rules.md. Only `accepted` rules are used.
# People may change this file. `reknit rules` and runs change the state of rules in it: comments above a rule are kept, those
# inside a rule that changes are lost.
";

/// The text of a new file with these rules.
pub fn write_rule_file(book: &RuleBook) -> String {
    let rules: Value = book.rules.iter().map(|rule| Value::Object(rule_object(rule))).collect();
    format!("{HEAD}{}", write_yaml(&Value::from([("rules", rules)])))
}

fn rule_lines(rule: &LearnedRule, indent: &str) -> Vec<String> {
    let text = write_yaml(&std::iter::once(Value::Object(rule_object(rule))).collect::<Value>());
    text.lines().map(|line| format!("{indent}{line}")).collect()
}

fn rule_object(rule: &LearnedRule) -> Object {
    let mut object = Object::from([("id", rule.id.as_str().into()), ("state", Value::from(rule.state.as_str()))]);
    // The other states say it.
    let is_written = rule.accepted_by != Some(AcceptedBy::Person) || rule.state != RuleState::Accepted;
    let accepted_by = rule.accepted_by.filter(|_| is_written);
    object.extend(accepted_by.map(|by| ("accepted-by".to_owned(), Value::from(by.as_str()))));
    object.insert("capability", rule.capability.as_str());
    object.insert("error", Value::Object(error_object(&rule.error)));
    add_texts(&mut object, "absent", &rule.absent);
    if !rule.results.is_empty() {
        object.insert("results", texts_by_name(&rule.results));
    }
    if !rule.change.is_empty() {
        let change: Object = rule.change.iter().map(|(name, value)| (name.clone(), value_of(value))).collect();
        object.insert("change", Value::Object(change));
    }
    add_texts(&mut object, "remove", &rule.remove);
    if !rule.evidence.is_empty() {
        object.insert("evidence", Value::Object(evidence_object(&rule.evidence)));
    }
    object
}

fn error_object(error: &ErrorPattern) -> Object {
    let mut object = Object::new();
    object.extend(error.status.map(|status| ("status".to_owned(), u32::from(status).into())));
    if !error.code.is_empty() {
        object.insert("code", error.code.as_str());
    }
    object.insert("message", error.message.as_str());
    add_texts(&mut object, "fields", &error.fields);
    object
}

fn value_of(value: &RuleValue) -> Value {
    match &value.map {
        None => value.of.as_str().into(),
        Some(map) => Value::from([("of", value.of.as_str().into()), ("map", Value::Object(map.clone()))]),
    }
}

fn evidence_object(evidence: &RuleEvidence) -> Object {
    let mut object = Object::new();
    add_texts(&mut object, "helps", &evidence.helps);
    add_texts(&mut object, "harms", &evidence.harms);
    add_texts(&mut object, "confirmations", &evidence.confirmations);
    if evidence.model_calls > 0 {
        object.insert("model-calls", evidence.model_calls);
    }
    add_texts(&mut object, "rejections", &evidence.rejections);
    object.extend(evidence.retired.as_deref().map(|reason| ("retired".to_owned(), reason.into())));
    object
}

fn add_texts(object: &mut Object, key: &str, texts: &[String]) {
    if !texts.is_empty() {
        object.insert(key, texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>());
    }
}

fn texts_by_name(texts: &BTreeMap<String, String>) -> Value {
    Value::Object(texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect())
}

/// The text of a file with other rules. Rules that did not change keep their text, and every rule the comments above it. Only comments
/// inside a rule that changes are lost, and all of them if the rules are not a list with one item per line.
pub fn edit_rule_file(text: &str, book: &RuleBook) -> String {
    let edited = edit_items(text, book).filter(|edited| {
        let document = Document::read(edited).ok();
        document.is_some_and(|document| read::read(&document).is_ok_and(|found| found == *book))
    });
    edited.unwrap_or_else(|| write_rule_file(book))
}

fn edit_items(text: &str, book: &RuleBook) -> Option<String> {
    let document = Document::read(text).ok()?;
    let before = read::read(&document).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    if before.rules.is_empty() {
        return with_first_rules(&lines, book);
    }
    let items = Items::find(&document, before.rules.len(), &lines)?;
    let mut edited: Vec<String> = items.head(&lines)?;
    for rule in &book.rules {
        let known = before.rules.iter().position(|known| known.id == rule.id);
        let item = known.and_then(|index| Some((before.rules.get(index)?, items.item(index, &lines)?)));
        match item {
            Some((known, item)) if known == rule => edited.extend(item.all()),
            Some((_, item)) => edited.extend(item.with_body(rule_lines(rule, &items.indent))),
            None => edited.extend(rule_lines(rule, &items.indent)),
        }
    }
    Some(edited.join("\n") + "\n")
}

/// A file without rules: its comments, then the rules.
fn with_first_rules(lines: &[&str], book: &RuleBook) -> Option<String> {
    let comments: Vec<&str> = lines.iter().copied().filter(|line| line.trim_start().starts_with('#')).collect();
    let rules = write_rule_file(book);
    let rules = rules.strip_prefix(HEAD)?;
    (!comments.is_empty()).then(|| format!("{}\n{rules}", comments.join("\n")))
}

/// The lines at which the items of the list of rules begin.
struct Items {
    starts: Vec<usize>,
    indent: String,
}

/// The lines of a rule: the comments above it, the rule, and the empty lines and comments after it that belong to no rule.
struct Item<'t> {
    above: &'t [&'t str],
    body: &'t [&'t str],
    below: &'t [&'t str],
}

impl Items {
    /// `None` if an item does not begin a line of its own, or is indented in another way than the first.
    fn find(document: &Document, count: usize, lines: &[&str]) -> Option<Self> {
        let position = |index| document.position(&Path::root().key("rules").index(index));
        let starts: Vec<usize> =
            (0..count).map(|index| position(index)?.0.checked_sub(1)).collect::<Option<Vec<usize>>>()?;
        let indent_of = |start: &usize| {
            let line = lines.get(*start)?;
            let item = line.trim_start();
            item.starts_with("- ").then(|| line.strip_suffix(item).unwrap_or_default().to_owned())
        };
        let indents: Vec<String> = starts.iter().map(indent_of).collect::<Option<Vec<String>>>()?;
        let indent = indents.first()?.clone();
        let is_list = starts.is_sorted_by(|one, next| one < next) && indents.iter().all(|other| *other == indent);
        is_list.then_some(Self { starts, indent })
    }

    /// The lines before the first rule and its comments.
    fn head(&self, lines: &[&str]) -> Option<Vec<String>> {
        let first = self.lead_of(0, lines)?;
        Some(lines.get(..first)?.iter().map(|line| (*line).to_owned()).collect())
    }

    /// Where the comments directly above an item begin.
    fn lead_of(&self, index: usize, lines: &[&str]) -> Option<usize> {
        let start = *self.starts.get(index)?;
        let above = lines.get(..start)?.iter().rev();
        Some(start - above.take_while(|line| line.trim_start().starts_with('#')).count())
    }

    fn item<'t>(&self, index: usize, lines: &'t [&'t str]) -> Option<Item<'t>> {
        let (lead, start) = (self.lead_of(index, lines)?, *self.starts.get(index)?);
        let end = self.lead_of(index + 1, lines).unwrap_or(lines.len());
        let block = lines.get(start..end)?;
        let is_filler = |line: &&&str| line.trim().is_empty() || line.trim_start().starts_with('#');
        let body = block.len() - block.iter().rev().take_while(is_filler).count();
        Some(Item { above: lines.get(lead..start)?, body: block.get(..body)?, below: block.get(body..)? })
    }
}

impl Item<'_> {
    fn all(&self) -> Vec<String> {
        self.with_body(self.body.iter().map(|line| (*line).to_owned()).collect())
    }

    fn with_body(&self, body: Vec<String>) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        [owned(self.above), body, owned(self.below)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reknit_mend::{LearnedRule, RuleState};

    const FILE: &str = "\
# Reviewed by the payments team.
rules:
    # Names of currencies.
    - id: first
      state: accepted   # since May
      capability: bank/convert
      error: {code: NO_RATE}
      change: {from: upper(parameters.from)}

    # Orders.
    - {id: second, state: proposed, capability: shop/order, error: {code: NO_SIZE}, change: {size: lower(parameters.size)}}
# the end
";

    #[test]
    fn comments_and_rules_that_do_not_change_stay_as_people_wrote_them() {
        let mut book = read_rule_file(FILE).expect("the file is right");
        assert_eq!(edit_rule_file(FILE, &book), FILE);
        book.rules[1].state = RuleState::Retired;
        let edited = edit_rule_file(FILE, &book);
        assert_eq!(read_rule_file(&edited).as_ref(), Ok(&book));
        let (kept, _) = FILE.split_once("    - {id: second").expect("a second rule");
        assert!(edited.starts_with(kept) && edited.ends_with("\n# the end\n"), "{edited}");
        assert!(edited.contains("    # Orders.\n    - id: second\n      state: retired\n"), "{edited}");
    }

    #[test]
    fn a_new_rule_is_added_at_the_end_and_a_removed_one_leaves_the_others() {
        let mut book = read_rule_file(FILE).expect("the file is right");
        book.rules.push(LearnedRule { id: "third".to_owned(), ..book.rules[0].clone() });
        let added = edit_rule_file(FILE, &book);
        assert!(added.starts_with(FILE.trim_end_matches("# the end\n")) && added.contains("- id: third\n"), "{added}");
        assert_eq!(read_rule_file(&added).as_ref(), Ok(&book));
        book.rules.remove(0);
        let removed = edit_rule_file(&added, &book);
        assert!(removed.starts_with("# Reviewed by the payments team.\nrules:\n    # Orders.\n"), "{removed}");
        assert_eq!(read_rule_file(&removed).as_ref(), Ok(&book));
    }

    #[test]
    fn rules_in_another_form_are_written_anew() {
        let book = read_rule_file(FILE).expect("the file is right");
        let json =
            r#"{"rules": [{"id": "first", "capability": "bank/convert", "error": {"code": "X"}, "remove": ["a"]}]}"#;
        assert_eq!(edit_rule_file(json, &book), write_rule_file(&book));
        assert_eq!(edit_rule_file("", &book), write_rule_file(&book));
        assert_eq!(
            edit_rule_file("# ours\n", &book),
            format!("# ours\n{}", write_rule_file(&book).trim_start_matches(HEAD))
        );
    }
}
