//! What was read before a call was written: whether its values are in it, and who says them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use reknit_protocol::{Object, SideEffect, Value};

use crate::exact_word::ExactWord;
use crate::gate::{StatedText, key_path};
use crate::guard::{Earlier, Mandate, ResultOrigin, carries_field, plain_text};
use crate::policy::SideEffectPolicy;
use crate::run::parameter_leaves::leaves_of;
use crate::synthesis::numbers_in_text::{has_words, visit_scalars};

/// A call of a tool as it is judged.
pub(crate) struct WrittenCall<'a> {
    pub(crate) step: String,
    /// The tool and the capability.
    pub(crate) callee: (&'a str, &'a str),
    pub(crate) parameters: &'a Object,
    /// Nobody knows yet how often a loop calls it.
    pub(crate) is_loop: bool,
    pub(crate) class: SideEffect,
}

/// A result that was read.
pub(crate) struct ReadResult<'a> {
    /// The tool and the capability; empty if nobody is known to have said it.
    source: (&'a str, &'a str),
    value: Value,
    /// Every whole field, and every line of a text.
    fields: HashSet<String>,
    /// In lower case, with single spaces.
    text: String,
}

impl Earlier {
    /// Adds what the results say about calls that were written after them, and what the mandate has left for them.
    pub(crate) fn judge(
        &mut self,
        calls: &[WrittenCall<'_>],
        results: &[ReadResult<'_>],
        mandate: Option<&Mandate>,
        effects: &SideEffectPolicy,
    ) {
        let stated = StatedText::new(self.person.iter().map(String::as_str));
        let mut left = BTreeMap::new();
        for call in calls {
            let (tool, capability) = call.callee;
            if let Some(mandate) = mandate.filter(|_| call.class != SideEffect::Read) {
                let left = left.entry(call.callee).or_insert_with(|| mandate.times(tool, capability));
                match left {
                    Some(0) => self.outside.extend([call.step.clone()]),
                    Some(_) if call.is_loop => self.outside.extend([call.step.clone()]),
                    Some(times) => *times -= 1,
                    None => {}
                }
            }
            for (at, value) in leaves_of(call.parameters) {
                let parameter = key_path(&at);
                let said = results.iter().filter_map(|result| {
                    let is_named = mandate.is_some_and(|is| is.names_source(call.callee, &parameter, result.source));
                    Some((result.origin(tool, value, is_named, effects)?, result.source))
                });
                if let Some((origin, (tool, capability))) = said.max_by_key(|(origin, _)| *origin) {
                    let key = Self::key(call.callee, &parameter, value);
                    let is_known = !tool.is_empty() && origin != ResultOrigin::Vouched;
                    self.sources.extend(is_known.then(|| (key.clone(), format!("{tool}/{capability}"))));
                    self.values.insert(key, origin);
                }
                let fields =
                    results.iter().flat_map(|result| &result.fields).map(|field| Cow::Borrowed(field.as_str()));
                if !stated.has(value) && carries_field(&plain_text(value), fields) {
                    self.carriers.insert(plain_text(value));
                }
            }
        }
    }
}

impl<'a> ReadResult<'a> {
    pub(crate) fn new(source: (&'a str, &'a str), text: &str) -> Self {
        let data = text.rfind("\n(").and_then(|at| text.get(..at));
        let parsed = Value::parse(text).ok().or_else(|| Value::parse(data?).ok());
        let value = parsed.unwrap_or_else(|| Value::from(text));
        let (mut fields, mut words) = (HashSet::new(), String::new());
        add_words(&value, &mut words);
        match &value {
            Value::String(text) => text.lines().for_each(|line| fields.extend(parts_of_line(line))),
            other => visit_scalars(other, &mut |scalar| fields.extend([plain_text(scalar)])),
        }
        Self { source, value, fields, text: words }
    }

    /// The same without texts that whoever reads it had written before.
    pub(crate) fn without(mut self, written: &[String]) -> Self {
        for text in written.iter().map(|text| in_one_line(text)).filter(|text| !text.is_empty()) {
            if ExactWord::of(&text).is_some() || text.contains(' ') {
                self.text = self.text.replace(&text, " ");
            }
        }
        self
    }

    /// Who says a value that this result has; `None` if it does not have it.
    fn origin(&self, tool: &str, value: &Value, is_named: bool, effects: &SideEffectPolicy) -> Option<ResultOrigin> {
        let text = plain_text(value);
        let is_field = self.fields.contains(&text);
        if text.is_empty() || !is_field && !has_words(&self.text, &in_one_line(&text)) {
            return None;
        }
        let (of_tool, of_capability) = self.source;
        let is_vouched = !of_tool.is_empty() && effects.trusts(of_tool, of_capability, &self.value, value)
            || is_named && (is_field || self.is_only_candidate(&text));
        Some(match is_vouched {
            true => ResultOrigin::Vouched,
            false if is_field && of_tool == tool => ResultOrigin::SameService,
            false if is_field => ResultOrigin::AnyResult,
            false => ResultOrigin::InText,
        })
    }

    /// Whether no other word of the text looks like this one. A text that names two addresses does not say which of them is meant, and
    /// an account or a number in the middle of a text says nothing at all.
    fn is_only_candidate(&self, text: &str) -> bool {
        let text = in_one_line(text);
        let Some(kind) = ExactWord::of(&text) else { return true };
        if kind == ExactWord::Code {
            return false;
        }
        let mut words = self.text.split(|letter: char| letter.is_whitespace() || "\"'`<>()[]{},;".contains(letter));
        !words.any(|word| {
            let word = word.trim_matches(|letter: char| ".:!?".contains(letter));
            word != text && ExactWord::of(word) == Some(kind)
        })
    }
}

/// Adds every key and every scalar of a value, as the words that somebody reads.
fn add_words(value: &Value, words: &mut String) {
    let mut add = |text: &str| {
        words.push_str(&in_one_line(text));
        words.push('\n');
    };
    match value {
        Value::Object(object) => {
            object.keys().for_each(&mut add);
            object.iter().for_each(|(_, inner)| add_words(inner, words));
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(item, words)),
        scalar => add(&plain_text(scalar)),
    }
}

/// A text in lower case with single spaces: a service may break its lines anywhere.
fn in_one_line(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line as a whole, and the value of one like `- key: value`.
fn parts_of_line(line: &str) -> impl Iterator<Item = String> + '_ {
    let line = line.trim().trim_start_matches("- ");
    let value = line.split_once(": ").map(|(_, value)| value);
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    [Some(line), value].into_iter().flatten().map(plain)
}
