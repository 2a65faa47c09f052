//! The end of a run: the answer on standard output, the rest beside it, and the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_dialogue::Money;
use reknit_engine::{Answer, Outcome, Spent, Status, Writer};
use reknit_protocol::{Object, RunId, Value};

use crate::failure::Failure;
use crate::questions::Asked;
use crate::show::harmless;

/// What waits for a person.
const WAITING: u8 = 6;

/// The exit status for the end of a run.
pub(crate) fn exit_code(status: Status) -> ExitCode {
    ExitCode::from(match status {
        Status::Complete => 0,
        Status::Failed => 1,
        Status::Partial => 3,
        Status::Impossible => 4,
        Status::BudgetExhausted => 5,
        Status::Cancelled => 130,
    })
}

/// Prints the answer.
pub(crate) fn finish(run: &RunId, answer: &Answer, json: bool) -> Result<ExitCode, Failure> {
    let text = if json { document(run, answer)?.to_string() } else { harmless(&answer.full_text()) };
    match writeln!(io::stdout(), "{text}") {
        // Whoever reads has seen enough; how the run ended is still in the status.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.map_err(Failure::Write)?,
    }
    // The answer is out; who cannot be told the rest has missed only what `runs show` says too.
    let _ = write!(io::stderr(), "{}", harmless(&footer(run, answer)));
    Ok(exit_code(answer.status))
}

/// Says that a run waits, and for what to be typed.
pub(crate) fn waiting(run: &RunId, asked: &[Asked], json: bool) -> Result<ExitCode, Failure> {
    if json {
        let object = Object::from([
            ("run", run.as_str().into()),
            ("status", "waiting".into()),
            ("asks", asked.iter().map(Asked::to_value).collect()),
        ]);
        writeln!(io::stdout(), "{object}").map_err(Failure::Write)?;
    }
    let questions: Vec<String> = asked.iter().map(|asked| format!("- {}: {}", asked.ask.step, asked.words())).collect();
    let questions = questions.join("\n");
    let _ = write!(
        io::stderr(),
        "\nThe run waits for a person:\n{questions}\n\nhint: type `reknit runs approve {run}` or `reknit runs deny {run}`, then \
         `reknit runs resume {run}`\n"
    );
    Ok(ExitCode::from(WAITING))
}

/// The whole answer as JSON, digits as they are.
pub(crate) fn document(run: &RunId, answer: &Answer) -> Result<Value, Failure> {
    let unwritable = |error: serde_json::Error| Failure::Write(io::Error::other(error));
    let text = serde_json::to_string(answer).map_err(unwritable)?;
    let mut object = Object::from([("run", Value::from(run.as_str()))]);
    if let Ok(Value::Object(fields)) = Value::parse(&text) {
        for (name, value) in fields {
            let value = if name == "spent" { with_amounts(value) } else { value };
            object.insert(if name == "text" { "answer".to_owned() } else { name }, value);
        }
    }
    Ok(Value::Object(object))
}

/// The same with amounts of money in whole units, and not in billionths of them.
pub(crate) fn with_amounts(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    for name in ["cost", "estimated_cost", "reserved_cost"] {
        let nanos = fields.get(name).and_then(|nanos| nanos.to_string().parse().ok());
        let amount = nanos.and_then(|nanos| Value::parse(&Money::from_nanos(nanos).to_string()).ok());
        if let Some(amount) = amount {
            fields.insert(name, amount);
        }
    }
    Value::Object(fields)
}

/// What was spent, but for the time: `1 tool call, 2 model calls, 0.0012 for models`.
pub(crate) fn spending(spent: &Spent) -> String {
    let calls = [count(spent.tool_calls, "tool call"), count(spent.model_calls, "model call")];
    calls.into_iter().chain(money(spent)).collect::<Vec<_>>().join(", ")
}

/// What models cost, for the line of what was spent: `0.0012 for models (0.0004 of it estimated)`; nothing if they have no
/// prices.
fn money(spent: &Spent) -> Option<String> {
    if spent.cost.is_zero() {
        return None;
    }
    let notes = [
        Some(format!("{} of it estimated", spent.estimated_cost)).filter(|_| !spent.estimated_cost.is_zero()),
        Some(format!("{} without a price", count(spent.unpriced_calls, "call"))).filter(|_| spent.unpriced_calls > 0),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    Some(format!("{} for models{notes}", spent.cost))
}

fn footer(run: &RunId, answer: &Answer) -> String {
    let done = answer.steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))).count();
    let spent = &answer.spent;
    let instead = match &answer.written_by {
        Writer::TemplateInstead(reason) => format!("note: the answer was put together by code: {reason}\n"),
        Writer::Model | Writer::Template | Writer::Raw => String::new(),
    };
    let doubts: String = answer.doubts.iter().flat_map(|doubt| ["note: ", doubt, "\n"]).collect();
    let reason = answer.reason.as_ref().filter(|_| !answer.steps.is_empty());
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "\n{instead}{doubts}{}{reason}: {done} of {} done, {}, {}\n\nhint: see each attempt with `reknit runs show {run}`\n",
        answer.status.as_str().replace('_', " "),
        count(answer.steps.len(), "step"),
        spending(spent),
        seconds(spent.active_ms),
    )
}

/// `1 step`, `2 steps`.
pub(crate) fn count(number: impl std::fmt::Display, thing: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// `4.2 s`.
pub(crate) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}
