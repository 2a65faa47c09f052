//! Where a list of calls differs from the expected one.

use reknit_plan::yaml_line;
use reknit_protocol::{Object, Value};

use super::{ExpectedCall, Mismatch};
use crate::facts::MadeCall;
use crate::recording::{CallRecording, objects_match, values_match};

/// A step of the shortest way from the expected calls to the actual ones.
enum Edit {
    Same,
    Missing(usize),
    Extra(usize),
}

impl ExpectedCall {
    fn is_like(&self, made: &MadeCall) -> bool {
        self.call == made.call
            && self.step.as_ref().is_none_or(|step| *step == made.step)
            && self.parameters.as_ref().is_none_or(|parameters| objects_match(parameters, &made.parameters))
    }
}

/// One difference for each call that is missing, that nobody expected, or whose values differ.
pub(super) fn compare_calls(expected: &[ExpectedCall], made: &[MadeCall]) -> Vec<Mismatch> {
    let (mut missing, mut extra) = (Vec::new(), Vec::new());
    for edit in edits(expected, made) {
        match edit {
            Edit::Same => {}
            Edit::Missing(index) => missing.push(index),
            Edit::Extra(index) => extra.push(index),
        }
    }
    let mut found = Vec::new();
    for index in missing {
        let Some(wanted) = expected.get(index) else { continue };
        let what = format!("calls[{index}]");
        let line = call_line(&wanted.call, wanted.step.as_deref(), wanted.parameters.as_ref());
        // The same call with other values, or elsewhere, is one difference and not two.
        let changed = extra.iter().position(|other| {
            made.get(*other).is_some_and(|made| {
                made.call == wanted.call && wanted.step.as_ref().is_none_or(|step| *step == made.step)
            })
        });
        let Some(other) = changed.map(|position| extra.remove(position)).and_then(|other| made.get(other)) else {
            found.push(Mismatch::new(what, line, "it was not made"));
            continue;
        };
        let differing = wanted.parameters.as_ref().filter(|wanted| !objects_match(wanted, &other.parameters));
        if let Some(parameters) = differing {
            let (expected, actual) = parameter_differences(parameters, &other.parameters);
            let title = call_line(&wanted.call, wanted.step.as_deref(), None);
            found.push(Mismatch::new(format!("{what} {title}"), expected, actual));
        } else {
            let place = made.iter().position(|call| std::ptr::eq(call, other)).unwrap_or_default();
            found.push(Mismatch::new(what, line, format!("it was made as calls[{place}]")).only_order());
        }
    }
    for index in extra {
        if let Some(made) = made.get(index) {
            let line = call_line(&made.call, Some(&made.step), Some(&made.parameters));
            found.push(Mismatch::new(format!("calls[{index}]"), "no such call", line));
        }
    }
    found
}

/// The edits with the most calls that are the same.
fn edits(expected: &[ExpectedCall], made: &[MadeCall]) -> Vec<Edit> {
    let width = made.len() + 1;
    let mut common = vec![0_u32; (expected.len() + 1) * width];
    let at = |table: &[u32], row: usize, column: usize| table.get(row * width + column).copied().unwrap_or_default();
    for (row, wanted) in expected.iter().enumerate().rev() {
        for (column, call) in made.iter().enumerate().rev() {
            let best = if wanted.is_like(call) {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut edits) = (0, 0, Vec::new());
    loop {
        match (expected.get(row), made.get(column)) {
            (Some(wanted), Some(call)) if wanted.is_like(call) => {
                edits.push(Edit::Same);
                (row, column) = (row + 1, column + 1);
            }
            (Some(_), Some(_)) if at(&common, row, column + 1) > at(&common, row + 1, column) => {
                edits.push(Edit::Extra(column));
                column += 1;
            }
            (Some(_), _) => {
                edits.push(Edit::Missing(row));
                row += 1;
            }
            (None, Some(_)) => {
                edits.push(Edit::Extra(column));
                column += 1;
            }
            (None, None) => return edits,
        }
    }
}

/// `pay: bank/refund {order: 7}`.
pub(super) fn call_line(call: &str, step: Option<&str>, parameters: Option<&Object>) -> String {
    let step = step.map(|step| format!("{step}: ")).unwrap_or_default();
    let parameters =
        parameters.map(|object| format!(" {}", yaml_line(&Value::Object(object.clone())))).unwrap_or_default();
    format!("{step}{call}{parameters}")
}

/// The members that differ, as expected and as they are.
pub(crate) fn parameter_differences(expected: &Object, actual: &Object) -> (String, String) {
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    for (key, value) in expected {
        match actual.get(key) {
            Some(other) if values_match(value, other) => {}
            Some(other) => {
                wanted.push(format!("{key}: {}", yaml_line(value)));
                found.push(format!("{key}: {}", yaml_line(other)));
            }
            None => {
                wanted.push(format!("{key}: {}", yaml_line(value)));
                found.push(format!("no {key}"));
            }
        }
    }
    for (key, value) in actual.iter().filter(|(key, _)| !expected.contains_key(key)) {
        wanted.push(format!("no {key}"));
        found.push(format!("{key}: {}", yaml_line(value)));
    }
    (wanted.join(", "), found.join(", "))
}

/// The recorded call that is most like a call: of the same capability, with the most equal parameters.
pub(crate) fn nearest_call<'r>(made: &MadeCall, recorded: &'r [CallRecording]) -> Option<&'r CallRecording> {
    let tool = |call: &str| call.split('/').next().unwrap_or_default().to_owned();
    let score = |recording: &&CallRecording| {
        let of_tool = usize::from(tool(&recording.call) == tool(&made.call));
        let of_call = of_tool + 3 * usize::from(recording.call == made.call);
        let equal = recording.parameters.iter().filter(|(key, value)| made.parameters.get(key) == Some(*value)).count();
        let of_step = usize::from(recording.step.as_deref() == Some(made.step.as_str()));
        of_call * 10 + equal * 2 + of_step
    };
    // Of equals the first one: `max_by_key` would return the last.
    recorded.iter().rev().max_by_key(score).filter(|recording| score(recording) > 0)
}
