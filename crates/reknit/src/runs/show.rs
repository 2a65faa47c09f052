//! `reknit runs show`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use reknit_bind::{Backing, Finder, InputSource, Provenance};
use reknit_engine::{Decision, Machine, Moment, Run, Shown, StepState, StepView};
use reknit_journal::Record;
use reknit_protocol::{Object, RunId, Value};

use super::moments;
use super::saved::{History, find, read_back};
use super::standing::standing;
use super::{llm, session};
use crate::cli::JournalArguments;
use crate::failure::Failure;
use crate::finish::{count, document, spending};
use crate::progress::run_lines;
use crate::questions::{Asked, asked, inbox};
use crate::show::{harmless, one_line};
use crate::work;

/// How much of a value is shown, in columns.
pub(super) const SHOWN: usize = 160;

pub(super) struct Wanted<'a> {
    pub(super) step: Option<&'a str>,
    pub(super) events: bool,
    pub(super) llm: bool,
    pub(super) json: bool,
}

/// What the events of a run do not tell.
pub(super) struct Now<'a> {
    /// In the word of the list.
    pub(super) standing: &'a str,
    pub(super) asked: Vec<Asked>,
}

impl Now<'_> {
    /// How it stands, and what is to be typed for it to go on.
    pub(super) fn words(&self, run: &RunId) -> String {
        let go_on = format!("goes on with `reknit runs resume {run}`");
        let decided: Vec<&str> = self.asked.iter().filter_map(|asked| asked.decided).map(Decision::as_str).collect();
        match (self.standing, decided.as_slice()) {
            ("waiting", []) => "waiting for a person".to_owned(),
            ("waiting", decided) => format!("waiting for a person, {}, {go_on}", decided.join(" and ")),
            ("stopped", _) => format!("stopped, {go_on}"),
            (standing, _) => standing.to_owned(),
        }
    }

    fn about(&self, step: &StepView) -> Option<&Asked> {
        let StepState::Asking(ask) = &step.state else { return None };
        self.asked.iter().find(|asked| asked.ask.id == ask.id)
    }
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
            hint: Some(match ids.as_slice() {
                [] => format!("it has no steps; see how it stands with `reknit runs show {run}`"),
                ids => format!("it has: {}", ids.join(", ")),
            }),
        });
    }
    let summary = journal.summary(&run).await.map_err(|error| Failure::Journal(Box::new(error)))?;
    let asked = asked(&saved.run, &inbox(&journal, &run).await?);
    let standing = match standing(&summary) {
        "waiting" if asked.is_empty() => "stopped",
        word => word,
    };
    let now = Now { standing, asked };
    let text = match (wanted.events, wanted.json, &saved.run) {
        (_, json, _) if wanted.llm => llm::text(&run, &saved, json)?,
        (true, json, _) => events(&saved.records, json),
        (false, true, Machine::Run(run)) => as_json(run, &saved.history()?, &now)?.to_string() + "\n",
        (false, true, Machine::Session(session)) => session::as_json(session, &now)?.to_string() + "\n",
        (false, false, Machine::Run(run)) => page(run, &saved.history()?, &now, wanted.step),
        (false, false, Machine::Session(session)) => session::page(session, &now),
    };
    io::stdout().write_all(text.as_bytes()).map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(run: &Run, history: &History, now: &Now<'_>) -> Result<Value, Failure> {
    let mut shown = state_as_json(run, now)?;
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

fn state_as_json(run: &Run, now: &Now<'_>) -> Result<Value, Failure> {
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
        if let Some(asked) = now.about(view) {
            object.insert("asks", asked.to_value());
        }
        Value::Object(object)
    });
    Ok(Value::Object(Object::from([
        ("run", run.started().run.as_str().into()),
        ("status", now.standing.into()),
        ("steps", steps.collect()),
    ])))
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

fn page(run: &Run, history: &History, now: &Now<'_>, only: Option<&str>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{}", harmless(&text));
    };
    line(format!("run      {}", run.started().run));
    line(format!("request  {}", one_line(&run.started().request, SHOWN)));
    line(format!("status   {}", status(run, now)));
    let spent = run.spent();
    line(format!("spent    {}, {}", spending(&spent), count(run.event_count(), "event")));
    if let Some(shown) = run.shown() {
        line(tools_shown(run, &shown));
    }
    if !run.plan_repairs().is_empty() {
        line(format!("plan     repaired: {}", run.plan_repairs().join("; ")));
    }
    for (index, refused) in run.refused_plans().iter().enumerate() {
        line(format!("plan     try {} was not used; it said {}", index + 1, one_line(&refused.words, SHOWN)));
        refused.problems.iter().for_each(|problem| line(format!("           {}", one_line(problem, SHOWN))));
    }
    line(String::new());
    for shown in run_lines(run, run.now_ms(), SHOWN) {
        line(shown.text);
    }
    for view in run.steps().iter().filter(|view| only.is_none_or(|only| only == view.id.as_str())) {
        line(String::new());
        let moments = history.get(&view.id).map(Vec::as_slice).unwrap_or_default();
        step(view, run, moments, now).into_iter().for_each(&mut line);
    }
    if let Some(answer) = run.answer().filter(|_| only.is_none()) {
        line(String::new());
        line(answer.full_text());
    }
    page
}

fn status(run: &Run, now: &Now<'_>) -> String {
    match run.answer() {
        Some(answer) => match &answer.reason {
            Some(reason) => format!("{} ({})", answer.status, one_line(reason, SHOWN)),
            None => answer.status.to_string(),
        },
        None => now.words(&run.started().run),
    }
}

/// Everything about one step.
fn step(view: &StepView, run: &Run, moments: &[Moment], now: &Now<'_>) -> Vec<String> {
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
        _ => {}
    }
    if let Some(asked) = now.about(view) {
        lines.push(format!("  asks       {}", asked.words()));
        lines.extend(asked.decided.map(|decision| format!("  {:<9}  not sent yet", decision.as_str())));
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
