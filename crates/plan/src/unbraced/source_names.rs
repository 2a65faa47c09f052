//! The names by which a text may mean a step or the inputs of a plan.

use std::collections::HashMap;

use reknit_protocol::spelling::{folded, nearest};
use reknit_protocol::{Plan, StepId};

use crate::{INPUTS, StepIndex};

/// The most ids that a wrong name is compared with.
const MAX_COMPARED_IDS: usize = 1_000;

/// Something that a reference can lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Step(StepIndex),
    Inputs,
}

/// How a name in a text matches the name of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameMatch {
    /// The name is the id.
    Exact,
    /// The name differs from one id only in case and separators.
    Alike,
    /// The name is that of the tool which only this step calls, or the number of the step.
    Alias,
}

/// The names of the steps and the inputs of a plan.
#[derive(Debug)]
pub(crate) struct SourceNames {
    ids: Vec<StepId>,
    exact: HashMap<String, Source>,
    /// By folded name; a name of several sources is in it once for each.
    alike: HashMap<String, Vec<Source>>,
    /// By folded name of the capability or the tool.
    callees: HashMap<String, Vec<Source>>,
    /// By the digits at the end of the id.
    numbers: HashMap<String, Vec<Source>>,
    max_len: usize,
}

impl SourceNames {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut names = Self {
            ids: plan.steps.iter().map(|step| step.step_id.clone()).collect(),
            exact: HashMap::new(),
            alike: HashMap::new(),
            callees: HashMap::new(),
            numbers: HashMap::new(),
            max_len: 0,
        };
        for (position, step) in plan.steps.iter().enumerate() {
            let source = Source::Step(StepIndex::new(position));
            names.add(step.step_id.as_str(), source);
            for callee in [step.capability(), Some(step.tool.as_str())].into_iter().flatten() {
                names.callees.entry(folded(callee)).or_default().push(source);
            }
            if let Some(number) = trailing_number(step.step_id.as_str()) {
                names.numbers.entry(number.to_owned()).or_default().push(source);
            }
        }
        if !plan.inputs.is_empty() {
            names.ids.push(INPUTS.into());
            names.add(INPUTS, Source::Inputs);
        }
        names
    }

    fn add(&mut self, name: &str, source: Source) {
        if name.trim().is_empty() {
            return;
        }
        self.exact.entry(name.to_owned()).or_insert(source);
        self.alike.entry(folded(name)).or_default().push(source);
        self.max_len = self.max_len.max(name.len());
    }

    pub(crate) fn ids(&self) -> &[StepId] {
        &self.ids
    }

    pub(crate) fn id(&self, source: Source) -> Option<&StepId> {
        match source {
            Source::Step(index) => self.ids.get(index.get()),
            Source::Inputs => self.ids.last(),
        }
    }

    pub(crate) fn exact(&self, name: &str) -> Option<Source> {
        self.exact.get(name).copied()
    }

    /// The source that a name means, if there is only one.
    pub(crate) fn find(&self, name: &str) -> Option<(Source, NameMatch)> {
        if let Some(source) = self.exact(name) {
            return Some((source, NameMatch::Exact));
        }
        let folded_name = folded(name);
        let only = |sources: Option<&Vec<Source>>, matched| match sources?.as_slice() {
            [only] => Some((*only, matched)),
            _ => None,
        };
        let after_noun = ["step", "task", "node"].iter().find_map(|noun| folded_name.strip_prefix(noun));
        only(self.alike.get(&folded_name), NameMatch::Alike)
            .or_else(|| only(self.callees.get(&folded_name), NameMatch::Alias))
            // `STEP_A` for the step `a`.
            .or_else(|| only(self.alike.get(after_noun?), NameMatch::Alias))
    }

    /// The longest id at the start of a text that ends where a name ends.
    pub(crate) fn longest_prefix(&self, text: &str) -> Option<(Source, usize)> {
        let end = text.floor_char_boundary(self.max_len);
        let ends = text.get(..end)?.char_indices().map(|(at, character)| at + character.len_utf8());
        let mut ends: Vec<usize> = ends.filter(|end| text.get(*end..).is_some_and(ends_name)).collect();
        ends.reverse();
        ends.into_iter().find_map(|end| Some((self.exact(text.get(..end)?)?, end)))
    }

    pub(crate) fn count(&self) -> usize {
        self.ids.len()
    }

    /// The only step whose id ends with this number.
    pub(crate) fn numbered(&self, digits: &str) -> Option<Source> {
        match self.numbers.get(digits.trim_start_matches('0'))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The id that is spelled most like a name.
    pub(crate) fn nearest(&self, name: &str) -> Option<&StepId> {
        nearest(name, self.ids.get(..MAX_COMPARED_IDS).unwrap_or(&self.ids))
    }
}

/// The characters of names. A hyphen belongs to a name only between two others.
pub(super) fn is_name_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a name ends where `rest` begins.
pub(super) fn ends_name(rest: &str) -> bool {
    let mut characters = rest.chars();
    match characters.next() {
        Some('-') => !characters.next().is_some_and(is_name_char),
        Some(character) => !is_name_char(character),
        None => true,
    }
}

/// The length in bytes of the name at the start of a text.
pub(super) fn name_len(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_inner_hyphen =
            character == '-' && at > 0 && characters.peek().is_some_and(|(_, next)| is_name_char(*next));
        if !is_name_char(character) && !is_inner_hyphen {
            return at;
        }
    }
    text.len()
}

/// The digits at the end of an id, without leading zeros.
fn trailing_number(id: &str) -> Option<&str> {
    let start = id.trim_end_matches(|character: char| character.is_ascii_digit()).len();
    id.get(start..).map(|digits| digits.trim_start_matches('0')).filter(|digits| !digits.is_empty())
}

/// Whether an id is one that nobody writes for anything else: `step-1`, `E2`, `task_3`.
pub(super) fn is_generic_id(id: &str) -> bool {
    const WORDS: [&str; 16] = [
        "step", "task", "call", "node", "action", "result", "output", "var", "tool", "s", "t", "e", "op", "query",
        "job", "#e",
    ];
    let letters = id.trim_end_matches(|character: char| character.is_ascii_digit());
    letters.len() < id.len() && WORDS.contains(&folded(letters).as_str())
}
