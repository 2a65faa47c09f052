//! Looks up references in step results.

use reknit_protocol::{Path, Segment, StepId, Value};

use crate::evaluate::{EvalFailure, EvalResult};
use crate::reference::reference_text;
use crate::{AvailableChildren, StepResult, StepResults, UnboundReason};

/// The keys under which tools wrap their payload.
pub(crate) const ENVELOPE_KEYS: [&str; 3] = ["response", "data", "result"];

/// The names by which a reference may mean the whole result: `quote.output.price` is `quote.price`.
const RESULT_NAMES: [&str; 5] = ["response", "data", "result", "output", "outputs"];

const MAX_LISTED: usize = 20;

/// A value and its path in the body of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundValue<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: Path,
}

/// Looks up a path in the result of a step: in what the tool announces first, then wherever it can be.
pub(crate) fn look_up<'a>(results: &'a dyn StepResults, step: &StepId, path: &Path) -> EvalResult<FoundValue<'a>> {
    let body = body_of(results, step)?;
    let announced = results.announced(step);
    if let Some(found) = announced.and_then(|schema| announced_values(body, schema, path.segments())) {
        return only_value(step, found);
    }
    let path_in_body = without_body_name(body, announced, path.segments());
    let mut found = Vec::new();
    let mut dead_ends: Vec<DeadEnd<'a>> = Vec::new();
    for envelope in envelopes(body, path_in_body) {
        match walk(body, envelope, path_in_body) {
            Ok(here) => found.push(here),
            Err(dead_end) => dead_ends.push(dead_end),
        }
    }
    if found.is_empty() {
        let (reference, available) = (reference_text(step, path), available_children(&dead_ends));
        return Err(EvalFailure::Absent(UnboundReason::NoSuchField { reference, available }));
    }
    only_value(step, found)
}

/// The value that was found, if all places have the same one.
fn only_value<'a>(step: &StepId, mut found: Vec<FoundValue<'a>>) -> EvalResult<FoundValue<'a>> {
    let first = found.swap_remove(0);
    if found.iter().all(|other| other.value == first.value) {
        return Ok(first);
    }
    found.insert(0, first);
    let candidates = found.iter().map(|found| reference_text(step, &found.path)).collect();
    Err(EvalFailure::Unavailable(UnboundReason::Ambiguous { candidates }))
}

/// The values at a path of the announced result, wherever the body has that result. `None` if the path is not announced or
/// the body has no value there.
fn announced_values<'a>(body: &'a Value, schema: &Value, path: &[Segment]) -> Option<Vec<FoundValue<'a>>> {
    let properties = schema.get("properties")?.as_object()?;
    let is_layer = |segment: &Segment| matches!(segment, Segment::Key(key) if RESULT_NAMES.contains(&key.as_str()) && !properties.contains_key(key));
    let layers = path.iter().take_while(|segment| is_layer(segment)).count();
    let path = path.get(layers..)?;
    let Some(Segment::Key(first)) = path.first() else { return None };
    properties.contains_key(first).then_some(())?;
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    let is_announced = |value: &Value| {
        let mut names = required.iter().filter_map(Value::as_str);
        value.as_object().is_some() && names.all(|name| value.get(name).is_some())
    };
    let places = std::iter::once(None).chain(ENVELOPE_KEYS.into_iter().filter(|key| body.get(key).is_some()).map(Some));
    let payloads = places.filter(|place| is_announced(place.and_then(|key| body.get(key)).unwrap_or(body)));
    let found: Vec<FoundValue<'a>> = payloads.filter_map(|place| walk(body, place, path).ok()).collect();
    (!found.is_empty()).then_some(found)
}

fn body_of<'a>(results: &'a dyn StepResults, step: &StepId) -> EvalResult<&'a Value> {
    let step = step.clone();
    Err(match results.result_of(&step) {
        StepResult::Ready(body) => return Ok(body),
        StepResult::Pending => EvalFailure::Unavailable(UnboundReason::StepPending { step }),
        StepResult::Failed => EvalFailure::Unavailable(UnboundReason::StepFailed { step }),
        StepResult::Skipped => EvalFailure::Unavailable(UnboundReason::StepSkipped { step }),
        StepResult::SkippedByCondition => EvalFailure::Absent(UnboundReason::StepSkipped { step }),
        StepResult::FailureAllowed => EvalFailure::Absent(UnboundReason::StepFailed { step }),
        StepResult::Unknown => EvalFailure::Unavailable(UnboundReason::UnknownStep { step }),
        StepResult::Absent => EvalFailure::Absent(UnboundReason::UnknownStep { step }),
    })
}

/// Looks up a path in a computed value.
pub(crate) fn look_inside<'a>(value: &'a Value, path: &Path) -> Result<&'a Value, AvailableChildren> {
    walk(value, None, path.segments()).map(|found| found.value).map_err(|dead_end| available_children(&[dead_end]))
}

/// Strips leading names of the result that the body does not have: there, `response` is the body itself. A name that the
/// tool announces as a field is that field, even where a result lacks it.
fn without_body_name<'p>(body: &Value, announced: Option<&Value>, mut path: &'p [Segment]) -> &'p [Segment] {
    let is_field = |key: &str| {
        let mut inner = ENVELOPE_KEYS.iter().filter_map(|envelope| body.get(envelope));
        inner.any(|inner| inner.get(key).is_some())
            || announced.and_then(|schema| schema.get("properties")?.get(key)).is_some()
    };
    while let [Segment::Key(key), rest @ ..] = path
        && RESULT_NAMES.contains(&key.as_str())
        && body.get(key).is_none()
        && !is_field(key)
    {
        path = rest;
    }
    path
}

/// Where a lookup starts: at the body, then inside each envelope key of it. The empty path is only the body.
fn envelopes<'p>(body: &Value, path: &'p [Segment]) -> impl Iterator<Item = Option<&'static str>> + use<'p> {
    let present = ENVELOPE_KEYS.map(|envelope| body.get(envelope).map(|_| envelope));
    let inner = present.into_iter().flatten().filter(|_| !path.is_empty());
    std::iter::once(None).chain(inner.map(Some))
}

/// The last value that exists on a path, and how many segments lead to it.
struct DeadEnd<'a> {
    value: &'a Value,
    depth: usize,
    envelope: Option<&'static str>,
}

fn walk<'a>(body: &'a Value, envelope: Option<&'static str>, path: &[Segment]) -> Result<FoundValue<'a>, DeadEnd<'a>> {
    let mut here = FoundValue { value: body, path: Path::root() };
    if let Some(key) = envelope {
        here.value = body.get(key).unwrap_or(body);
        here.path.push_key(key);
    }
    for (depth, segment) in path.iter().enumerate() {
        let next = match (here.value, segment) {
            (Value::Array(items), Segment::Index(index)) => item(items, *index),
            (Value::Array(items), Segment::Key(key)) => index_of_key(key).and_then(|index| item(items, index)),
            (value, Segment::Key(key)) => value.get(key).map(|value| (value, segment.clone())),
            (_, Segment::Index(_)) => None,
        };
        let Some((value, segment)) = next else { return Err(DeadEnd { value: here.value, depth, envelope }) };
        here.value = value;
        match segment {
            Segment::Key(key) => here.path.push_key(key),
            Segment::Index(index) => here.path.push_index(index),
        }
    }
    Ok(here)
}

fn item(items: &[Value], index: usize) -> Option<(&Value, Segment)> {
    items.get(index).map(|item| (item, Segment::Index(index)))
}

/// A key of digits (`.0`) is an index if the value is an array.
fn index_of_key(key: &str) -> Option<usize> {
    key.bytes().all(|byte| byte.is_ascii_digit()).then(|| key.parse().ok()).flatten()
}

/// The children of the values at which the longest walks ended.
fn available_children(dead_ends: &[DeadEnd<'_>]) -> AvailableChildren {
    let depth = dead_ends.iter().map(|dead_end| dead_end.depth).max().unwrap_or_default();
    let mut fields = Vec::new();
    let mut other = None;
    for dead_end in dead_ends.iter().filter(|dead_end| dead_end.depth == depth) {
        let prefix = dead_end.envelope.filter(|_| depth == 0).map(|key| format!("{key}.")).unwrap_or_default();
        match dead_end.value {
            Value::Object(object) => fields.extend(object.keys().take(MAX_LISTED).map(|key| format!("{prefix}{key}"))),
            Value::Array(items) => other = other.or(Some(AvailableChildren::Items(items.len()))),
            scalar => other = other.or(Some(AvailableChildren::Scalar(scalar.kind().with_article().to_owned()))),
        }
    }
    fields.truncate(MAX_LISTED);
    match other {
        Some(other) if fields.is_empty() => other,
        _ => AvailableChildren::Fields(fields),
    }
}
