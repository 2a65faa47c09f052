//! Checks that references lead to values that can exist and can fit.

use reknit_expressions::{Expression, Reference, Template, TextPart};
use reknit_protocol::{Path, Segment, Step, Value};

use super::parsed_plan::{ParsedPlan, ParsedStep};
use super::{Code, PlanLocation, PlanProblem};
use crate::INPUTS;
use crate::announced::{
    AnnouncedResults, DeclaredValue, ENVELOPE_KEYS, KnownEntry, declared_at, declares, field_names, is_result_name,
    properties, property, types, with_article,
};
use crate::catalogue::CatalogueEntry;

/// The references of a plan, with what the tools announce about their results.
pub(super) struct References<'o> {
    parsed: &'o ParsedPlan<'o>,
    announced: &'o AnnouncedResults,
}

impl<'o> References<'o> {
    pub(super) fn new(parsed: &'o ParsedPlan<'o>, announced: &'o AnnouncedResults) -> Self {
        Self { parsed, announced }
    }

    /// The references of a step to values that cannot exist or cannot fit.
    pub(super) fn check_step(
        &self,
        location: &PlanLocation,
        parsed_step: &ParsedStep,
        entry: KnownEntry<'_>,
    ) -> Vec<PlanProblem> {
        let schema = entry.and_then(CatalogueEntry::compiled_schema);
        let mut problems = Vec::new();
        for (name, template) in parsed_step.parameters.iter() {
            let wanted = schema.as_ref().and_then(|schema| property(schema.source(), name));
            let wanted = wanted.filter(|_| matches!(template, Template::Reference(_)));
            let location = || location.clone().parameter(&Path::root().key(name));
            for reference in template.references() {
                problems.extend(self.check(reference, location, wanted.map(|wanted| (name, wanted))));
            }
            for reference in references_in_text(template) {
                problems.extend(self.check_in_text(reference, location));
            }
        }
        problems
    }

    pub(super) fn is_step(&self, reference: &Reference) -> bool {
        self.parsed.index_of(reference.step()).is_some()
    }

    /// The first field of a reference and the fields that the step declares, if the field is not one of them.
    pub(super) fn undeclared_field<'r>(&self, reference: &'r Reference) -> Option<(&'r str, Vec<&str>)> {
        let schema = self.announced.schema_with_fields(self.parsed.index_of(reference.step())?)?;
        let mut keys = reference.path().segments().iter().map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        });
        let key = keys.find(|key| !is_result_name(key))?;
        let is_open = matches!(declared_at(schema, reference.path().segments()), DeclaredValue::Open);
        (is_open && !ENVELOPE_KEYS.contains(&key) && !declares(schema, key)).then(|| (key, field_names(schema)))
    }

    /// Checks an expression that must have a value of one type, as far as the tools announce it. Only a plain reference has an
    /// announced type.
    pub(super) fn check_type(
        &self,
        expression: &Expression,
        wanted: WantedType,
        location: PlanLocation,
    ) -> Option<PlanProblem> {
        let reference = expression.as_reference()?;
        let schema = self.announced.result_schema(self.parsed.index_of(reference.step())?)?;
        let DeclaredValue::Schema(found) = declared_at(schema, reference.path().segments()) else { return None };
        let names = types(found);
        if names.is_empty() || names.contains(&wanted.name) {
            return None;
        }
        let WantedType { key, name, description } = wanted;
        let message = format!("`{key}`: `{reference}` is {}, not {description}", with_article(&names));
        let hint = if name == "array" {
            let lists = properties(found).filter(|(_, field)| types(field).contains(&name));
            let lists: Vec<String> = lists.map(|(name, _)| format!("`{reference}.{name}`")).collect();
            (!lists.is_empty()).then(|| format!("a list is in {}", lists.join(", ")))
        } else {
            Some(format!("compare it: `{reference} == \"...\"`, `{reference} > 0`"))
        };
        Some(PlanProblem::new(Code::BadType, location, message).with_hint(hint))
    }

    /// Checks a reference that is inserted into a text: a list or an object has no text.
    fn check_in_text(&self, reference: &Reference, location: impl Fn() -> PlanLocation) -> Option<PlanProblem> {
        let schema = match self.parsed.index_of(reference.step()) {
            Some(index) => self.announced.result_schema(index)?,
            None if reference.step().as_str() == INPUTS => self.announced.of_inputs(),
            None => return None,
        };
        let DeclaredValue::Schema(found) = declared_at(schema, reference.path().segments()) else { return None };
        let found = types(found);
        if found.is_empty() || !found.iter().all(|name| matches!(*name, "array" | "object")) {
            return None;
        }
        let message = format!("`{reference}` is {}, which cannot be inserted into a text", with_article(&found));
        let hint = match found.as_slice() {
            ["array"] => {
                format!("write `{{{{join({reference}, \", \")}}}}`, or refer to one item: `{{{{{reference}[0]}}}}`")
            }
            _ => format!("refer to one of its fields: `{{{{{reference}.FIELD}}}}`"),
        };
        Some(PlanProblem::new(Code::BadType, location(), message).with_hint(Some(hint)))
    }

    /// A field of a loop is a field of its items.
    fn with_loop_hint(&self, problem: PlanProblem, reference: &Reference) -> PlanProblem {
        let index = self.parsed.index_of(reference.step());
        let is_loop = index.and_then(|index| self.parsed.plan().steps.get(index.get())).is_some_and(Step::has_foreach);
        let Some(Segment::Key(field)) = reference.path().segments().first().filter(|_| is_loop) else { return problem };
        let step = reference.step();
        problem.with_hint(Some(format!(
            "`{step}` has one result for each item: write `map({step}, item.{field})` for all, `{step}[0].{field}` for one"
        )))
    }

    /// Checks a reference. `wanted` is the name and the schema of a parameter that consists of the reference alone.
    pub(super) fn check(
        &self,
        reference: &Reference,
        location: impl Fn() -> PlanLocation,
        wanted: Option<(&str, &Value)>,
    ) -> Option<PlanProblem> {
        let (schema, is_input) = match self.parsed.index_of(reference.step()) {
            Some(index) => (self.announced.result_schema(index)?, false),
            None if reference.step().as_str() == INPUTS => (self.announced.of_inputs(), true),
            None => return None,
        };
        let code = if is_input { Code::UnknownReference } else { Code::BadPath };
        let problem = check_reference(reference, schema, code, &location);
        problem.map(|problem| self.with_loop_hint(problem, reference)).or_else(|| {
            let DeclaredValue::Schema(found) = declared_at(schema, reference.path().segments()) else { return None };
            let message = wanted.and_then(|(name, wanted)| type_conflict(reference, found, name, wanted))?;
            Some(PlanProblem::new(Code::BadType, location(), message))
        })
    }
}

/// The type that the expression under a key of a step must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedType {
    pub(super) key: &'static str,
    name: &'static str,
    description: &'static str,
}

impl WantedType {
    pub(super) const LIST: Self = Self { key: "foreach", name: "array", description: "a list" };
    pub(super) const CONDITION: Self = Self { key: "when", name: "boolean", description: "true or false" };
}

/// The problem of a reference to a value that this schema of the result rules out.
pub(super) fn check_reference(
    reference: &Reference,
    schema: &Value,
    code: Code,
    location: impl Fn() -> PlanLocation,
) -> Option<PlanProblem> {
    let DeclaredValue::Nothing { message, hint } = declared_at(schema, reference.path().segments()) else {
        return None;
    };
    let message = format!("`{reference}` does not exist: {message}");
    Some(PlanProblem::new(code, location(), message).with_hint(hint))
}

/// The references that are inserted into texts as they are, without a calculation.
fn references_in_text(template: &Template) -> Vec<&Reference> {
    match template {
        Template::Text(text) => {
            let placeholders = text.parts.iter().filter_map(|part| match part {
                TextPart::Placeholder(expression) => expression.as_reference(),
                TextPart::Literal(_) => None,
            });
            placeholders.collect()
        }
        Template::Array(items) => items.iter().flat_map(references_in_text).collect(),
        Template::Object(entries) => entries.iter().flat_map(|(_, template)| references_in_text(template)).collect(),
        Template::Literal(_) | Template::Reference(_) | Template::Expression(_) => Vec::new(),
    }
}

/// Why a value of one schema can never fit another, not even after conversion without loss.
fn type_conflict(reference: &Reference, found: &Value, name: &str, wanted: &Value) -> Option<String> {
    let (found, wanted) = (types(found), types(wanted));
    let never = |from: &&str| wanted.iter().all(|to| never_fits(from, to));
    if found.is_empty() || wanted.is_empty() || !found.iter().all(never) {
        return None;
    }
    Some(format!("`{reference}` is {}, and `{name}` takes {}", with_article(&found), with_article(&wanted)))
}

/// Whether no value of one type can be converted to another without loss. A list of one can become its item, but a plan
/// cannot know how many items a result will have.
fn never_fits(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("object" | "array", "string" | "number" | "integer" | "boolean" | "null")
            | ("number" | "integer" | "boolean" | "array", "object")
            | ("boolean", "number" | "integer")
    )
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Object;
    use reknit_salvage::{Schema, fit};

    use super::*;

    #[test]
    fn types_that_never_fit_are_never_converted() {
        let samples = [
            ("object", r#"[{}, {"a": 1}]"#),
            ("array", r#"[[], [1, 2], ["1", "2"]]"#),
            ("number", "[0, 1, 1.5]"),
            ("integer", "[0, 1]"),
            ("boolean", "[true, false]"),
        ];
        for (from, values) in samples {
            let values = Value::parse(values).unwrap();
            for to in ["string", "number", "integer", "boolean", "null", "object", "array"] {
                let schema = Object::from([("type", Value::from(to))]);
                let schema = Schema::compile(&Value::Object(schema)).unwrap();
                let some_fit = values.as_array().unwrap().iter().any(|value| fit(value.clone(), &schema).is_ok());
                assert!(!(never_fits(from, to) && some_fit), "{from} can become {to}");
            }
        }
    }
}
