//! `reknit eval`: evaluates an expression over a JSON document.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use reknit_expressions::{
    Evaluation, EvaluationError, Exactness, Expression, TemplateParseError, TemplateProblem, UnboundReason,
};
use reknit_protocol::{StepId, Value};
use reknit_salvage::TextPosition;

use crate::output::{Excerpt, Failure, Input, one_line, print_data, print_message, shell_word};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES.to_owned() + EXIT_STATUS, after_long_help = EXAMPLES.to_owned() + DETAILS)]
pub(crate) struct EvalArguments {
    /// The expression, with or without `{{ }}` around it
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    expression: String,
    /// The JSON document to evaluate it over; `-` reads standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    with: Option<PathBuf>,
    /// Print the value and its inputs as JSON
    #[arg(long)]
    json: bool,
}

pub(super) const ABOUT: &str = "\
Evaluate an expression as plans write it between {{ and }}.

The keys of the document take the place of the step ids in a plan: with {\"quote\": {\"price\": 468.285}}, write
`quote.price`. `it` is the whole document: `it[0]`, `len(it)`. A key named `it` takes precedence.";

const EXAMPLES: &str = "\
Examples:
  reknit eval '3 * 19.99'
  reknit eval '100 * quote.price' --with results.json
  curl -s https://example.org/orders | reknit eval 'sum(pluck(it, \"price\"))' --with -
  reknit eval 'first(shop.items).name ?? \"none\"' --with results.json
  reknit eval 'date_diff(\"09:00\", \"14:00\", \"hours\")'
";

const EXIT_STATUS: &str = "
Exit status: 0 printed a value; 1 there is no value, or the expression or document is not valid; 2 bad usage.";

const DETAILS: &str = "
The language:
  values      5, 1.50, \"text\", 'text', true, false, null, [1, 2]
  references  a.b, a[0].b, a.0.b, a[\"odd key\"], [\"odd id\"].b; one `response`, `data` or `result` may be left out
  operators   + - * / %, == != < <= > >=, in, not in, and, or, not, and `a ?? b`: b if a is missing or null
  functions   if sum len min max avg round abs join first last unique sort_by pluck lower upper trim split replace
              contains starts_with ends_with date_add date_diff to_number to_string
  for items   filter map any all group_by sum_by: `filter(orders, item.total > 5)`, `map(orders, o => o.total * 2)`

  Numbers are decimals with 34 digits. Subtraction needs a space before the minus: `a-b` is a name. Arithmetic converts a
  string to a number only if the whole string is one number. A note on standard error reports rounding and conversions.

With --json: {\"value\", \"inputs\", \"exact\", \"changes\"}
  inputs   the values it was computed from: [{\"source\": \"literal\" | {\"reference\": {\"step\", \"path\"}}, \"value\"}]
  exact    \"exact\", or \"inexact\" if something was rounded
  changes  strings converted to numbers: [{\"path\", \"kind\", \"before\", \"after\"}]

Exit status:
  0  printed a value
  1  there is no value, or the expression or document is not valid
  2  bad usage: an unknown option, a file that cannot be opened, an output that cannot be written";

/// The name of the whole document in expressions.
const DOCUMENT_NAME: &str = "it";

const QUOTE_COLUMNS: usize = 40;

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let document = arguments.with.as_deref().map(|file| load(&Input::new(Some(file)))).transpose()?;
    let results = document.map(results).unwrap_or_default();
    let ids: Vec<StepId> = results.keys().cloned().collect();
    let text = arguments.expression.as_str();
    let expression = Expression::parse(text, &ids).map_err(|error| parse_failure(text, error, ids.is_empty()))?;
    let evaluated = expression.evaluate(&results).map_err(|reason| evaluation_failure(text, reason))?;
    print(&evaluated, arguments.json)
}

/// Reads the document as strict JSON. A repaired document might mean something else.
fn load(input: &Input) -> Result<Value, Failure> {
    let text = input.read_text()?;
    Value::parse(&text).map_err(|source| {
        let excerpt = Excerpt::of(&text, TextPosition::at_offset(&text, source.offset));
        Failure::Document { input: input.clone(), excerpt, source: Box::new(source) }
    })
}

/// The values that expressions can name: the keys of the document, and the document itself.
fn results(document: Value) -> BTreeMap<StepId, Value> {
    let keys = document.as_object().cloned().unwrap_or_default();
    let mut results: BTreeMap<StepId, Value> = keys.into_iter().map(|(key, value)| (key.into(), value)).collect();
    results.entry(DOCUMENT_NAME.into()).or_insert(document);
    results
}

fn parse_failure(text: &str, error: TemplateParseError, has_no_document: bool) -> Failure {
    let before: usize = text.chars().take(error.position).map(char::len_utf8).sum();
    let hint = match &error.problem {
        TemplateProblem::UnknownStep { found, nearest: None, .. } if found.contains('-') => {
            Some(format!("`-` inside a name is part of the name; to subtract, write `{}`", found.replace('-', " - ")))
        }
        TemplateProblem::UnknownStep { .. } if has_no_document => {
            Some(format!("name the document that contains it: `reknit eval {} --with FILE`", shell_word(text)))
        }
        _ => None,
    };
    let excerpt = Some(Excerpt::of(text, TextPosition::at_offset(text, before)));
    Failure::Expression { message: "cannot read the expression", excerpt, hint, source: Box::new(error) }
}

fn evaluation_failure(text: &str, reason: UnboundReason) -> Failure {
    let excerpt = failing_part(&reason).and_then(|part| unique_offset(text, part));
    let excerpt = excerpt.map(|offset| Excerpt::of(text, TextPosition::at_offset(text, offset)));
    Failure::Expression { message: "the expression has no value", excerpt, hint: None, source: Box::new(reason) }
}

/// The part of the expression that has no value.
fn failing_part(reason: &UnboundReason) -> Option<&str> {
    match reason {
        UnboundReason::NoSuchField { reference, .. } => Some(reference),
        UnboundReason::Null { expression } => Some(expression),
        UnboundReason::Evaluation { error, .. } => match error {
            EvaluationError::WrongType { operation, .. }
            | EvaluationError::EmptyList { operation }
            | EvaluationError::BadArgument { operation, .. } => Some(operation),
            EvaluationError::DivisionByZero => Some("/"),
            EvaluationError::NoSuchField { field, .. } => Some(field),
            EvaluationError::Incomparable { .. } | EvaluationError::OutOfRange | EvaluationError::TooMuchWork => None,
        },
        _ => None,
    }
}

/// The offset of a part in a text, if it occurs exactly once.
fn unique_offset(text: &str, part: &str) -> Option<usize> {
    let mut offsets = text.match_indices(part).map(|(offset, _)| offset);
    let first = offsets.next();
    first.filter(|_| offsets.next().is_none())
}

fn print(evaluated: &Evaluation, json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(evaluated).map_err(|error| Failure::Write(io::Error::other(error)))?;
        return print_data(&format!("{text}\n"));
    }
    print_data(&format!("{}\n", evaluated.value))?;
    print_message(&notes(evaluated));
    Ok(())
}

fn notes(evaluated: &Evaluation) -> String {
    let conversions = evaluated.changes.iter().map(|change| match change.before.as_str() {
        "" => format!("note: converted {} strings to numbers\n", change.after),
        text => format!("note: converted the string {} to a number\n", one_line(text, QUOTE_COLUMNS)),
    });
    let rounded = (evaluated.exact == Exactness::Inexact).then(|| "note: rounded to 34 digits\n".to_owned());
    conversions.chain(rounded).collect()
}
