//! From a reference to the value it means.

use reknit_protocol::{Path, Segment, StepId, Value};

use crate::reason::{Available, Reason};
use crate::reference::qualified;
use crate::{Source, Sources};

/// The keys under which tools put their answer proper.
pub(crate) const LAYERS: [&str; 3] = ["response", "data", "result"];

/// How many field names a reason lists.
const LISTED: usize = 20;

/// A value that was found, and where in the body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: Path,
}

/// Why nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Missed {
    /// The step is done and has no such value.
    Absent(Reason),
    /// There is no telling: the step is not done, or two values could be meant.
    Unclear(Reason),
}

/// The value at a place of a step's result.
pub(crate) fn look_up<'a>(sources: &'a dyn Sources, step: &StepId, path: &Path) -> Result<Found<'a>, Missed> {
    let step_id = || step.clone();
    let body = match sources.source(step) {
        Source::Ready(body) => body,
        Source::Pending => return Err(Missed::Unclear(Reason::StepPending { step: step_id() })),
        Source::Failed => return Err(Missed::Unclear(Reason::StepFailed { step: step_id() })),
        Source::Skipped => return Err(Missed::Unclear(Reason::StepSkipped { step: step_id() })),
        Source::Unknown => return Err(Missed::Unclear(Reason::UnknownStep { step: step_id() })),
    };
    let inside = without_body_name(body, path.segments());
    let mut found = Vec::new();
    let mut failed: Vec<Failure<'a>> = Vec::new();
    for start in starts(body, inside) {
        match walk(body, start, inside) {
            Ok(here) => found.push(here),
            Err(failure) => failed.push(failure),
        }
    }
    let Some(first) = found.first().cloned() else {
        let reference = qualified(step, path);
        return Err(Missed::Absent(Reason::NoSuchField { reference, available: available(&failed) }));
    };
    if found.iter().any(|other| other.value != first.value) {
        let candidates = found.iter().map(|found| qualified(step, &found.path)).collect();
        return Err(Missed::Unclear(Reason::Ambiguous { candidates }));
    }
    Ok(first)
}

/// The value at a place of another; or what there is where the way ended.
pub(crate) fn look_inside<'a>(value: &'a Value, path: &Path) -> Result<&'a Value, Available> {
    walk(value, None, path.segments()).map(|found| found.value).map_err(|failure| available(&[failure]))
}

/// The path without a first segment that names the body itself: `response` in a body that has no such key.
fn without_body_name<'p>(body: &Value, mut path: &'p [Segment]) -> &'p [Segment] {
    while let [Segment::Key(key), rest @ ..] = path
        && LAYERS.contains(&key.as_str())
        && body.get(key).is_none()
    {
        path = rest;
    }
    path
}

/// Where to begin: at the body, then inside each layer of it. The whole body is only the body, and a path that names a
/// layer means that one.
fn starts<'p>(body: &Value, path: &'p [Segment]) -> impl Iterator<Item = Option<&'static str>> + use<'p> {
    let present = LAYERS.map(|layer| body.get(layer).map(|_| layer));
    let layers = present.into_iter().flatten().filter(|layer| match path {
        [] => false,
        [Segment::Key(key), ..] => key != layer,
        [Segment::Index(_), ..] => true,
    });
    std::iter::once(None).chain(layers.map(Some))
}

/// Where the way ended.
struct Failure<'a> {
    at: &'a Value,
    depth: usize,
    layer: Option<&'static str>,
}

fn walk<'a>(body: &'a Value, layer: Option<&'static str>, path: &[Segment]) -> Result<Found<'a>, Failure<'a>> {
    let mut here = Found { value: body, path: Path::root() };
    if let Some(layer) = layer {
        here.value = body.get(layer).unwrap_or(body);
        here.path.push_key(layer);
    }
    for (depth, segment) in path.iter().enumerate() {
        let next = match (here.value, segment) {
            (Value::Array(items), Segment::Index(index)) => item(items, *index),
            (Value::Array(items), Segment::Key(key)) => position(key).and_then(|index| item(items, index)),
            (value, Segment::Key(key)) => value.get(key).map(|value| (value, segment.clone())),
            (_, Segment::Index(_)) => None,
        };
        let Some((value, segment)) = next else { return Err(Failure { at: here.value, depth, layer }) };
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

/// `.0` means a position where it meets an array.
fn position(key: &str) -> Option<usize> {
    key.bytes().all(|byte| byte.is_ascii_digit()).then(|| key.parse().ok()).flatten()
}

/// What there is where the way ended, seen from where it got farthest.
fn available(failures: &[Failure<'_>]) -> Available {
    let depth = failures.iter().map(|failure| failure.depth).max().unwrap_or_default();
    let mut fields = Vec::new();
    let mut other = None;
    for failure in failures.iter().filter(|failure| failure.depth == depth) {
        let prefix = failure.layer.filter(|_| depth == 0).map(|layer| format!("{layer}.")).unwrap_or_default();
        match failure.at {
            Value::Object(object) => fields.extend(object.keys().map(|key| format!("{prefix}{key}"))),
            Value::Array(items) => other = other.or(Some(Available::Items(items.len()))),
            scalar => other = other.or(Some(Available::Scalar(scalar.kind().with_article().to_owned()))),
        }
    }
    fields.truncate(LISTED);
    match other {
        Some(other) if fields.is_empty() => other,
        _ => Available::Fields(fields),
    }
}
