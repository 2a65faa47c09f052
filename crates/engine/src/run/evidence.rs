//! Where a value that a model or a rule found after a call was answered may come from: the request, a result, an error, or nowhere.

use std::borrow::Cow;
use std::cell::OnceCell;

use reknit_expressions::{
    Backing, EvaluationInput, InputSource, Provenance, ResolvedBy, StepResult, StepResults, explain_number,
};
use reknit_mend::CallFault;
use reknit_plan::{INPUTS, PlannedStep};
use reknit_protocol::{Number, Path, StepId, Value};

use super::knowledge::{PlanContext, StepContext};
use crate::gate::{OriginClass, ParameterRole, StatedText, key_path};
use crate::guard::{ResultOrigin, carries_field, is_address, plain_text};
use crate::synthesis::numbers_in_text::{self, has_words, visit_scalars};
use crate::synthesis::used_numbers::number_word;

/// The units of time that functions of the language take.
const UNITS: [&str; 5] = ["seconds", "minutes", "hours", "days", "weeks"];

/// What found values are compared with.
pub(super) struct Evidence<'a> {
    planned: &'a PlannedStep,
    /// The last failure of the call.
    fault: Option<&'a CallFault>,
    pub(super) stated: StatedText,
    /// Collected when it is first needed: results can be large.
    sources: OnceCell<Sources>,
}

struct Sources {
    /// What the request states, and in the plan of a person its inputs and the instruction of the step.
    requested: KnownValues,
    /// The same with the error and the results. A bound in the schema, or the value of another parameter, says nothing.
    known: KnownValues,
}

impl<'a> PlanContext<'a> {
    /// Whether a model wrote the calls after it had read data, with the guard on.
    pub(super) fn is_after_data(&self) -> bool {
        self.policy().effects.guard.is_on() && self.planning.earlier.has_read
    }

    fn stated_texts(self, planned: &'a PlannedStep) -> impl Iterator<Item = &'a str> {
        let instruction = Some(planned.instruction.as_str()).filter(|_| self.is_plan_of_person());
        let is_after_data = self.is_after_data();
        let of_person = self.planning.earlier.person.iter().map(String::as_str).filter(move |_| is_after_data);
        let counts_own = !is_after_data || self.planning.earlier.is_without_request;
        let of_run = [self.request].into_iter().chain(instruction).filter(move |_| counts_own);
        of_person.chain(of_run)
    }

    pub(super) fn evidence<'s>(&self, planned: &'s PlannedStep, fault: Option<&'s CallFault>) -> Evidence<'s> {
        let stated = StatedText::new(self.stated_texts(planned));
        Evidence { planned, fault, stated, sources: OnceCell::new() }
    }

    /// The origin of a value that an agent wrote after it had read data, by what it had read.
    pub(super) fn origin_in_results(
        &self,
        planned: &PlannedStep,
        (at, value, written): (&Path, Option<&Value>, Option<&Value>),
        found: OriginClass,
        provenance: Option<&Provenance>,
        role: ParameterRole,
    ) -> OriginClass {
        if !self.is_after_data() || !matches!(found, OriginClass::FoundElsewhere | OriginClass::FoundNowhere) {
            return found;
        }
        let earlier = &self.planning.earlier;
        let (callee, parameter) = ((planned.tool.as_str(), planned.capability.as_str()), key_path(at));
        if let (Some(Provenance::Reference { step, .. }), Some(mandate)) = (provenance, &earlier.mandate) {
            let source = self.plan.step(step.as_str());
            let source = source.map(|source| (source.tool.as_str(), source.capability.as_str()));
            if source.is_some_and(|source| mandate.names_source(callee, &parameter, source)) {
                return OriginClass::FoundIssued;
            }
        }
        match self.said_of(planned, (at, value, written)) {
            Some(ResultOrigin::Vouched) => OriginClass::FoundIssued,
            Some(ResultOrigin::SameService) if value.is_some_and(|value| can_be_issued(value, role)) => {
                OriginClass::FoundIssued
            }
            Some(ResultOrigin::SameService | ResultOrigin::AnyResult | ResultOrigin::InText) => {
                OriginClass::FoundElsewhere
            }
            None => found,
        }
    }

    /// What the results that were read before say about a value, or about what was written in its place.
    pub(super) fn said_of(
        &self,
        planned: &PlannedStep,
        (at, value, written): (&Path, Option<&Value>, Option<&Value>),
    ) -> Option<ResultOrigin> {
        let (callee, parameter) = ((planned.tool.as_str(), planned.capability.as_str()), key_path(at));
        let known = |value: &Value| self.planning.earlier.said_of(callee, &parameter, value);
        value.and_then(known).or_else(|| written.and_then(known))
    }

    /// The capability whose result has a value, if the call was written after that was read.
    pub(super) fn found_in(&self, planned: &PlannedStep, at: &Path, value: &Value) -> Option<String> {
        let callee = (planned.tool.as_str(), planned.capability.as_str());
        self.planning.earlier.source_of(callee, &key_path(at), value).map(str::to_owned)
    }

    /// Whether what was written after data was read needs the request as evidence.
    fn needs_request(&self) -> bool {
        self.is_after_data() && !self.planning.earlier.is_without_request
    }

    fn trusts(&self, source: &PlannedStep, body: &Value, value: &Value) -> bool {
        let (tool, capability) = (source.tool.as_str(), source.capability.as_str());
        self.policy().effects.trusts(tool, capability, body, value)
    }
}

impl StepContext<'_> {
    fn sources<'e>(&self, evidence: &'e Evidence<'_>) -> &'e Sources {
        evidence.sources.get_or_init(|| self.collect_sources(evidence.planned, evidence.fault))
    }

    fn collect_sources(&self, planned: &PlannedStep, fault: Option<&CallFault>) -> Sources {
        let mut requested = KnownValues::default();
        for text in self.stated_texts(planned) {
            requested.add(text);
            requested.stated.push(text.to_lowercase());
        }
        let mut known = requested.clone();
        if let Some(fault) = fault {
            fault.said().into_iter().for_each(|text| known.add(text));
            known.add_all(&fault.body);
            known.add_all(&Value::Object(fault.details.clone()));
        }
        let results = self.results_before(planned);
        for id in self.evidence_ids(planned) {
            // The arguments of a call that somebody wrote after reading say nothing for themselves.
            if id.as_str() == INPUTS && self.needs_request() {
                continue;
            }
            if let StepResult::Ready(body) = results.result_of(&id) {
                known.add_all(body);
                if id.as_str() == INPUTS {
                    requested.add_all(body);
                }
            }
        }
        Sources { requested, known }
    }

    /// Where a found value may come from, by how it was found and by what has it.
    pub(super) fn origin_of_found(
        &self,
        evidence: &Evidence<'_>,
        origin: Option<&Provenance>,
        value: &Value,
        role: ParameterRole,
    ) -> OriginClass {
        match origin {
            Some(Provenance::Person) => OriginClass::Person,
            Some(Provenance::Wired { .. }) => OriginClass::Wired,
            Some(Provenance::Resolved { by: ResolvedBy::Learned, .. }) => OriginClass::Mapped,
            Some(
                Provenance::Resolved { by: ResolvedBy::Accepted, .. }
                | Provenance::Corrected { backing: Backing::Rule { .. }, .. },
            ) => OriginClass::Accepted,
            Some(Provenance::Resolved { by: ResolvedBy::Model, origin }) => {
                self.origin_of_found(evidence, Some(origin), value, role)
            }
            Some(Provenance::Reference { step, path }) if !path.is_root() || value.as_object().is_none() => {
                self.origin_of_reference(evidence, step, value, role)
            }
            Some(Provenance::Expression { inputs, .. }) => {
                let inputs = inputs.iter().map(|input| self.origin_of_input(evidence, input, value, role));
                inputs.reduce(least).unwrap_or_else(|| self.origin_by_value(evidence, value, role))
            }
            _ => self.origin_by_value(evidence, value, role),
        }
    }

    fn origin_of_input(
        &self,
        evidence: &Evidence<'_>,
        input: &EvaluationInput,
        result: &Value,
        role: ParameterRole,
    ) -> OriginClass {
        let sources = self.sources(evidence);
        match &input.source {
            InputSource::Literal if sources.requested.has_operand(&input.value, result) => OriginClass::FoundInRequest,
            InputSource::Literal if sources.known.has_operand(&input.value, result) => OriginClass::FoundElsewhere,
            InputSource::Literal => OriginClass::FoundNowhere,
            InputSource::Reference { step, .. } => self.origin_of_reference(evidence, step, &input.value, role),
        }
    }

    fn origin_of_reference(
        &self,
        evidence: &Evidence<'_>,
        step: &StepId,
        value: &Value,
        role: ParameterRole,
    ) -> OriginClass {
        if step.as_str() == INPUTS {
            // What a model wrote as the default of an input is its own word.
            let by_person = self.is_plan_of_person() && !self.needs_request();
            return if by_person { OriginClass::FoundInRequest } else { self.origin_by_value(evidence, value, role) };
        }
        if evidence.stated.has(value) {
            return OriginClass::FoundInRequest;
        }
        let source = self.plan.step(step.as_str());
        let results = self.results_before(evidence.planned);
        let is_trusted = source.is_some_and(|source| match results.result_of(step) {
            StepResult::Ready(body) => self.trusts(source, body, value),
            _ => false,
        });
        if is_trusted {
            return OriginClass::FoundIssued;
        }
        let is_issued = source.is_some_and(|source| source.tool == evidence.planned.tool);
        if is_issued && can_be_issued(value, role) { OriginClass::FoundIssued } else { OriginClass::FoundElsewhere }
    }

    /// Where a value may come from that nobody computed.
    fn origin_by_value(&self, evidence: &Evidence<'_>, value: &Value, role: ParameterRole) -> OriginClass {
        let requested =
            || self.stated_texts(evidence.planned).flat_map(numbers_in_text::parse_numbers).collect::<Vec<_>>();
        let (planned, sources) = (evidence.planned, self.sources(evidence));
        let in_request = evidence.stated.has(value)
            || sources.requested.has(value, role)
            || value.as_number().is_some_and(|number| {
                explain_number(number, &self.results_before(planned), &[], &requested()).is_some()
            });
        if in_request {
            return OriginClass::FoundInRequest;
        }
        if can_be_issued(value, role) && self.is_issued(planned, value) || self.is_trusted(planned, value) {
            return OriginClass::FoundIssued;
        }
        let is_known = sources.known.has(value, role)
            || value.as_number().is_some_and(|number| {
                let (results, ids) = (self.results_before(planned), self.evidence_ids(planned));
                explain_number(number, &results, &ids, &requested()).is_some()
            });
        if is_known { OriginClass::FoundElsewhere } else { OriginClass::FoundNowhere }
    }

    /// Whether the configuration trusts a field that has a value.
    fn is_trusted(&self, planned: &PlannedStep, value: &Value) -> bool {
        let results = self.dependency_results(planned).unwrap_or_default();
        results.into_iter().any(|(source, body)| self.trusts(source, body, value))
    }

    /// Whether a value is an address that neither the request nor a result has, and that contains a value of a result.
    pub(super) fn carries_results(&self, evidence: &Evidence<'_>, value: &Value) -> bool {
        let Some(address) = value.as_str().map(str::trim).filter(|text| is_address(text)) else { return false };
        if self.planning.earlier.is_without_request {
            return !address.contains(char::is_whitespace) && self.planning.earlier.carriers.contains(address);
        }
        if evidence.stated.has(value) {
            return false;
        }
        let mut fields = Vec::new();
        for (_, body) in self.dependency_results(evidence.planned).unwrap_or_default() {
            visit_scalars(body, &mut |scalar| fields.push(Cow::Owned(plain_text(scalar))));
        }
        self.planning.earlier.carriers.contains(address) || carries_field(address, fields)
    }

    /// Whether a capability of the same service returned a value as a whole field.
    fn is_issued(&self, planned: &PlannedStep, value: &Value) -> bool {
        let text = value.to_string();
        let results = self.dependency_results(planned).unwrap_or_default();
        results.into_iter().filter(|(step, _)| step.tool == planned.tool).any(|(_, body)| {
            let mut found = false;
            visit_scalars(body, &mut |scalar| found |= scalar.to_string() == text);
            found
        })
    }
}

/// Whether a service can vouch for a value: an id or a path is its own, an address or a sum is not, and nothing is no id.
fn can_be_issued(value: &Value, role: ParameterRole) -> bool {
    role == ParameterRole::Target && !value.as_str().is_some_and(is_address) && !is_blank(value)
}

/// Whether nothing stands in a value: white space, `null`, or a list or an object of such values.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(object) => object.values().all(is_blank),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The origin of two that has less evidence.
fn least(one: OriginClass, other: OriginClass) -> OriginClass {
    let order =
        [OriginClass::FoundNowhere, OriginClass::FoundElsewhere, OriginClass::FoundIssued, OriginClass::FoundInRequest];
    let rank = |origin: OriginClass| order.iter().position(|known| *known == origin).unwrap_or(order.len());
    if rank(one) <= rank(other) { one } else { other }
}

/// What a value may come from.
#[derive(Clone, Default)]
struct KnownValues {
    /// The request and the instruction, in lower case.
    stated: Vec<String>,
    /// In lower case.
    texts: Vec<String>,
    numbers: Vec<Number>,
    keys: Vec<String>,
}

impl KnownValues {
    fn add(&mut self, text: &str) {
        self.numbers.extend(numbers_in_text::parse_numbers(text));
        self.texts.push(text.to_lowercase());
    }

    /// Adds every string and number in a value.
    fn add_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Value::Object(object) => object.iter().for_each(|(name, value)| {
                self.keys.push(name.to_owned());
                self.add_all(value);
            }),
            Value::Number(number) => self.numbers.push(number.clone()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether a value is known. A number must be known with all its digits: a factor of 100 may be a conversion, or a mistake.
    fn has(&self, value: &Value, role: ParameterRole) -> bool {
        match value {
            Value::Number(number) => self.numbers.contains(number) || self.state_in_words(number),
            Value::String(text) if role == ParameterRole::Target => self.identify(text),
            Value::String(text) => self.contain(text),
            Value::Bool(flag) => self.contain(&flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Whether a literal of an expression is known: a number as it is or as a percentage, a text, the name of a field, or a unit.
    fn has_operand(&self, literal: &Value, result: &Value) -> bool {
        match literal {
            Value::Number(number) => {
                self.numbers.contains(number)
                    || self.state_in_words(number)
                    || self.mention_percent() && self.is_percentage(number)
            }
            Value::String(text) => {
                let in_result =
                    result.as_str().is_some_and(|result| result.to_lowercase().contains(&text.to_lowercase()));
                let is_word = text.chars().any(char::is_alphanumeric);
                self.contain(text)
                    || !is_word
                    || !in_result && (self.keys.contains(text) || UNITS.contains(&text.as_str()))
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => true,
        }
    }

    fn mention_percent(&self) -> bool {
        self.texts.iter().any(|text| text.contains('%') || text.contains("percent"))
    }

    /// Whether a number is 100, or a known percentage as a factor: 0.2, 1.2 or 0.8 for 20.
    fn is_percentage(&self, number: &Number) -> bool {
        let (number, hundred) = (number.to_f64(), 100.0);
        let is_close = |one: f64, other: f64| (one - other).abs() < 1e-9;
        let shares = self.numbers.iter().map(|percent| percent.to_f64() / hundred);
        let mut factors = shares.flat_map(|share| [share, 1.0 + share, 1.0 - share]);
        is_close(number, hundred) || factors.any(|factor| is_close(number, factor))
    }

    /// Whether an address or an identifier is known: as a whole value, in the request, or in an error as more than a word.
    fn identify(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        let is_code = text.chars().any(|letter| letter.is_ascii_digit() || letter == '@');
        let is_quoted = |known: &String| {
            [('"', '"'), ('\'', '\''), ('`', '`')]
                .iter()
                .any(|(open, close)| known.contains(&format!("{open}{text}{close}")))
        };
        self.texts.contains(&text)
            || appears_in(&self.stated, &text)
            || appears_in(&self.texts, &text) && (is_code || self.texts.iter().any(is_quoted))
    }

    /// Whether the request or the instruction has the word for a number. In an error, `one` belongs to "must be one of".
    fn state_in_words(&self, number: &Number) -> bool {
        number_word(number).is_some_and(|word| appears_in(&self.stated, word))
    }

    /// Whether a text appears somewhere as whole words.
    fn contain(&self, text: &str) -> bool {
        appears_in(&self.texts, &text.trim().to_lowercase())
    }
}

/// Whether a text in lower case appears in one of the texts as whole words.
fn appears_in(texts: &[String], text: &str) -> bool {
    !text.is_empty() && texts.iter().any(|known| has_words(known, text))
}
