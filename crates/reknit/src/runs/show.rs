//! `reknit runs show`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use reknit_bind::{Backing, Finder, InputSource, Provenance};
use reknit_engine::{AskPerson, Machine, Moment, Question, Run, Shown, StepState, StepView};
use reknit_journal::Record;
use reknit_protocol::{Object, Value};

use super::decide::question;
use super::moments;
use super::saved::{History, find, read_back};
use super::{llm, session};
use crate::cli::JournalArguments;
use crate::failure::Failure;
use crate::finish::{document, money};
use crate::progress::run_lines;
use crate::show::one_line;
use crate::work;

/// How much of a value is shown, in columns.
pub(super) const SHOWN: usize = 160;

pub(super) struct Wanted<'a> {
    pub(super) step: Option<&'a str>,
    pub(super) events: bool,
    pub(super) llm: bool,
    pub(super) json: bool,
}

pub(super) async fn run(files: &JournalArguments, name: &str, wanted: &Wanted<'_>) -> Result<ExitCode, Failure> {
    let journal = work::open(&work::config(files.config.as_deref())?, files)?;
    let run = find(&journal, name).await?;
    let saved = read_back(&journal, &run).await?;
    let steps = saved.run.as_run().map(Run::steps).unwrap_or_default();
    if let Some(step) = wanted.step
        && !steps.iter().any(|view| view.id.as_str() == step)
    {
        let ids: Vec<String> = steps.iter().map(|view| view.id.to_string()).collect();
        return Err(Failure::Usage {
            what: format!("run `{run}` has no step `{step}`"),
            hint: Some(format!("it has: {}", ids.join(", "))),
        });
    }
    let text = match (wanted.events, wanted.json, &saved.run) {
        (_, json, _) if wanted.llm => llm::text(&run, &saved, json)?,
        (true, json, _) => events(&saved.records, json),
        (false, true, Machine::Run(run)) => as_json(run, &saved.history()?)?.to_string() + "\n",
        (false, true, Machine::Session(session)) => session::as_json(session)?.to_string() + "\n",
        (false, false, Machine::Run(run)) => page(run, &saved.history()?, wanted.step),
        (false, false, Machine::Session(session)) => session::page(session),
    };
    io::stdout().write_all(text.as_bytes()).map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(run: &Run, history: &History) -> Result<Value, Failure> {
    let mut shown = state_as_json(run)?;
    let told = serde_json::to_string(history).map_err(|error| Failure::Write(io::Error::other(error)))?;
    if let (Value::Object(shown), Ok(told)) = (&mut shown, Value::parse(&told)) {
        shown.insert("history", told);
        shown.extend(run.shown().map(|tools| ("tools_shown".to_owned(), shown_as_json(&tools))));
    }
    Ok(shown)
}

fn shown_as_json(shown: &Shown<'_>) -> Value {
    Value::Object(Object::from([
        ("capabilities", shown.capabilities.iter().map(|name| Value::from(name.as_str())).collect()),
        ("instead", shown.instead.map_or(Value::Null, Value::from)),
        ("saved_tokens", shown.saved_tokens.into()),
    ]))
}

fn state_as_json(run: &Run) -> Result<Value, Failure> {
    if let Some(answer) = run.answer() {
        return document(&run.started().run, answer);
    }
    let steps = run.steps();
    let steps = steps.iter().map(|view| {
        let mut object = Object::from([
            ("step", view.id.as_str().into()),
            ("capability", view.capability.as_str().into()),
            ("state", state_word(&view.state).into()),
            ("parameters", Value::Object(view.parameters.clone())),
        ]);
        if let StepState::Asking(ask) = &view.state {
            object.insert("asks", asks(ask));
        }
        Value::Object(object)
    });
    let status = if run.is_waiting_for_person() { "waiting" } else { "unfinished" };
    Ok(Value::Object(Object::from([
        ("run", run.started().run.as_str().into()),
        ("status", status.into()),
        ("steps", steps.collect()),
    ])))
}

/// A question with all that a program needs to decide it.
fn asks(ask: &AskPerson) -> Value {
    let (kind, call, reason) = match &ask.question {
        Question::SendAgain { call } => ("send_again", call, None),
        Question::SendCorrected { call, reason } => ("send_corrected", call, Some(reason)),
    };
    let mut object = Object::from([
        ("kind", kind.into()),
        ("agent", call.agent.as_str().into()),
        ("capability", call.capability.as_str().into()),
        ("parameters", Value::Object(call.parameters.clone())),
        ("expires_ms", ask.expires_ms.into()),
    ]);
    if let Some(reason) = reason {
        object.insert("reason", reason.as_str());
    }
    Value::Object(object)
}

fn state_word(state: &StepState) -> &'static str {
    match state {
        StepState::Waiting => "waiting",
        StepState::Queued => "queued",
        StepState::Running => "running",
        StepState::Resting { .. } => "resting",
        StepState::TurnedAway { .. } => "turned_away",
        StepState::Mending(_) => "mending",
        StepState::Asking(_) => "asking",
        StepState::Done => "done",
        StepState::Failed { .. } => "failed",
        StepState::Skipped { .. } => "skipped",
    }
}

/// Every event as a line: its number, its time, its kind, and its body cut to a line, or whole as JSON.
fn events(records: &[Record], json: bool) -> String {
    let line = |record: &Record| {
        if json {
            return format!("{}\n", record.body);
        }
        let at = jiff::Timestamp::from_millisecond(record.at_ms)
            .map_or_else(|_| record.at_ms.to_string(), |at| format!("{at:.3}"));
        format!("{:>4}  {at}  {:<15}  {}\n", record.seq, record.kind, one_line(&record.body, SHOWN))
    };
    records.iter().map(line).collect()
}

/// Which tools the planner saw out of many, and what that saved.
fn tools_shown(run: &Run, shown: &Shown<'_>) -> String {
    let there: usize = run.started().catalogue.tools.iter().map(|tool| tool.capabilities.len()).sum();
    let instead = shown.instead.map_or_else(String::new, |reason| format!(" by their words, for {reason}"));
    let text = format!(
        "tools    {} of {there} chosen{instead}, about {} tokens saved: {}",
        shown.capabilities.len(),
        shown.saved_tokens,
        shown.capabilities.join(", ")
    );
    one_line(&text, SHOWN)
}

fn page(run: &Run, history: &History, only: Option<&str>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{text}");
    };
    line(format!("run      {}", run.started().run));
    line(format!("request  {}", one_line(&run.started().request, SHOWN)));
    line(format!("status   {}", status(run)));
    let spent = run.spent();
    line(format!(
        "spent    {} tool calls, {} model calls, {}{} events",
        spent.tool_calls,
        spent.model_calls,
        money(&spent).map_or_else(String::new, |money| format!("{money}, ")),
        run.event_count()
    ));
    if let Some(shown) = run.shown() {
        line(tools_shown(run, &shown));
    }
    if !run.plan_repairs().is_empty() {
        line(format!("plan     repaired: {}", run.plan_repairs().join("; ")));
    }
    line(String::new());
    for shown in run_lines(run, run.now_ms(), SHOWN) {
        line(shown.text);
    }
    for view in run.steps().iter().filter(|view| only.is_none_or(|only| only == view.id.as_str())) {
        line(String::new());
        let moments = history.get(&view.id).map(Vec::as_slice).unwrap_or_default();
        step(view, run, moments).into_iter().for_each(&mut line);
    }
    if let Some(answer) = run.answer().filter(|_| only.is_none()) {
        line(String::new());
        line(answer.text.clone());
    }
    page
}

fn status(run: &Run) -> String {
    match run.answer() {
        Some(answer) => match &answer.reason {
            Some(reason) => format!("{} ({})", answer.status, one_line(reason, SHOWN)),
            None => answer.status.to_string(),
        },
        None if run.is_waiting_for_person() => "waiting for a person".to_owned(),
        None => "unfinished".to_owned(),
    }
}

/// Everything about one step.
fn step(view: &StepView, run: &Run, moments: &[Moment]) -> Vec<String> {
    let mut lines = vec![format!("{} ({} of {})", view.id, view.capability, view.agent)];
    if !view.instruction.is_empty() {
        lines.push(format!("  for        {}", one_line(&view.instruction, SHOWN)));
    }
    for (name, value) in &view.parameters {
        let origin = view.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin_text(origin));
        let origin = origin.map_or_else(String::new, |origin| format!("   ({origin})"));
        lines.push(format!("  parameter  {name} = {}{origin}", one_line(&value.to_string(), SHOWN)));
    }
    lines.extend(moments::lines(moments));
    match &view.state {
        StepState::Failed { reason } => lines.push(format!("  failed     {}", one_line(reason, SHOWN))),
        StepState::Skipped { reason } => lines.push(format!("  skipped    {}", one_line(reason, SHOWN))),
        StepState::Asking(ask) => lines.push(format!("  asks       {}", question(&ask.question))),
        _ => {}
    }
    if let Some(value) = run.result(view.id.as_str()) {
        lines.push(format!("  result     {}", one_line(&value.to_string(), SHOWN)));
    }
    lines
}

/// Where a value comes from, in a few words.
fn origin_text(origin: &Provenance) -> String {
    match origin {
        Provenance::Literal => "from the plan".to_owned(),
        Provenance::Reference { step, path } => format!("from {step} at {path}"),
        Provenance::Wired { step, path } => format!("wired from {step} at {path}"),
        Provenance::Expression { text, inputs, .. } => {
            let inputs: Vec<String> = inputs
                .iter()
                .map(|input| match &input.source {
                    InputSource::Literal => input.value.to_string(),
                    InputSource::Reference { step, path } => format!("{} from {step} at {path}", input.value),
                })
                .collect();
            one_line(&format!("computed: {text}, with {}", inputs.join(" and ")), SHOWN)
        }
        Provenance::Text { .. } => "text with results in it".to_owned(),
        Provenance::Nested { .. } => "put together from results".to_owned(),
        Provenance::Resolved { by: Finder::Model, origin } => format!("{}, found by a model", origin_text(origin)),
        Provenance::Resolved { by: Finder::Learned, origin } => {
            format!("{}, as in an earlier run", origin_text(origin))
        }
        Provenance::Inferred => "given by a model".to_owned(),
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => format!("corrected by {rung}"),
            Backing::Explained { text } => one_line(&format!("corrected by {rung}; {text} gives the same"), SHOWN),
            Backing::Inferred => format!("inferred by {rung}: a model's word"),
        },
    }
}
