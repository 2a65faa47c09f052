//! `reknit eval`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use reknit_bind::{Evaluated, Exactness, Expression, Fault, Reason, TemplateError, TemplateProblem};
use reknit_protocol::{StepId, Value};
use reknit_salvage::Place;

use crate::cli::EvalArguments;
use crate::excerpt::Excerpt;
use crate::failure::Failure;
use crate::input::Input;
use crate::show::{one_line, shell_word};

/// What the whole document is called.
const WHOLE: &str = "it";

/// How much of a text that was taken for a number is shown, in columns.
const QUOTE: usize = 40;

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let document = arguments.with.as_deref().map(|file| load(&Input::new(Some(file)))).transpose()?;
    let results = document.map(results).unwrap_or_default();
    let ids: Vec<StepId> = results.keys().cloned().collect();
    let text = arguments.expression.as_str();
    let expression = Expression::parse(text, &ids).map_err(|error| unreadable(text, error, ids.is_empty()))?;
    let evaluated = expression.evaluate(&results).map_err(|reason| no_value(text, reason))?;
    print(&evaluated, arguments.json)
}

/// Reads the document strictly: one that had to be mended might mean something else.
fn load(input: &Input) -> Result<Value, Failure> {
    let text = input.read_text()?;
    Value::parse(&text).map_err(|source| {
        let excerpt = Excerpt::of(&text, Place::of(&text, source.offset));
        Failure::Document { input: input.clone(), excerpt, source: Box::new(source) }
    })
}

/// The document under the names it has in expressions.
fn results(document: Value) -> BTreeMap<StepId, Value> {
    let keys = document.as_object().cloned().unwrap_or_default();
    let mut results: BTreeMap<StepId, Value> = keys.into_iter().map(|(key, value)| (key.into(), value)).collect();
    results.entry(WHOLE.into()).or_insert(document);
    results
}

fn unreadable(text: &str, error: TemplateError, is_alone: bool) -> Failure {
    let before: usize = text.chars().take(error.position).map(char::len_utf8).sum();
    let hint = match &error.problem {
        TemplateProblem::UnknownStep { found, nearest: None, .. } if found.contains('-') => {
            Some(format!("a minus inside a name belongs to it; to subtract, write `{}`", found.replace('-', " - ")))
        }
        TemplateProblem::UnknownStep { .. } if is_alone => {
            Some(format!("give the document it is in: `reknit eval {} --with FILE`", shell_word(text)))
        }
        _ => None,
    };
    let excerpt = Some(Excerpt::of(text, Place::of(text, before)));
    Failure::Expression { what: "cannot read the expression", excerpt, hint, source: Box::new(error) }
}

fn no_value(text: &str, reason: Reason) -> Failure {
    let excerpt = culprit(&reason).and_then(|words| only_place(text, words));
    let excerpt = excerpt.map(|offset| Excerpt::of(text, Place::of(text, offset)));
    Failure::Expression { what: "the expression has no value", excerpt, hint: None, source: Box::new(reason) }
}

/// The words of the expression that a reason is about.
fn culprit(reason: &Reason) -> Option<&str> {
    match reason {
        Reason::NoSuchField { reference, .. } => Some(reference),
        Reason::Null { what } => Some(what),
        Reason::Fault { fault, .. } => match fault {
            Fault::Kind { operation, .. } | Fault::EmptyList { operation } | Fault::BadArgument { operation, .. } => {
                Some(operation)
            }
            Fault::DivisionByZero => Some("/"),
            Fault::NoSuchField { field, .. } => Some(field),
            Fault::Incomparable { .. } | Fault::OutOfRange | Fault::TooMuchWork => None,
        },
        _ => None,
    }
}

/// Where words stand in a text, if there is no doubt about it.
fn only_place(text: &str, words: &str) -> Option<usize> {
    let mut places = text.match_indices(words).map(|(offset, _)| offset);
    let first = places.next();
    first.filter(|_| places.next().is_none())
}

fn print(evaluated: &Evaluated, json: bool) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    if json {
        let text = serde_json::to_string(evaluated).map_err(|error| Failure::Write(io::Error::other(error)))?;
        return writeln!(output, "{text}").map_err(Failure::Write);
    }
    writeln!(output, "{}", evaluated.value).map_err(Failure::Write)?;
    // The value is out; that the notes cannot be seen does not take it back.
    let _ = io::stderr().write_all(notes(evaluated).as_bytes());
    Ok(())
}

fn notes(evaluated: &Evaluated) -> String {
    let taken = evaluated.changes.iter().map(|change| match change.before.as_str() {
        "" => format!("note: {} texts were taken for numbers\n", change.after),
        text => format!("note: the text {} was taken for a number\n", one_line(text, QUOTE)),
    });
    let rounded = (evaluated.exact == Exactness::Inexact).then(|| "note: rounded to 34 digits\n".to_owned());
    taken.chain(rounded).collect()
}
