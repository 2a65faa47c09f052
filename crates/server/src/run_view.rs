//! Runs as the API shows them.

use reknit_engine::{AskPerson, Ending, Overview, Spent};
use reknit_journal::{Journal, RunSummary};
use reknit_model_api::Usage;
use reknit_protocol::{RunId, Value};
use reknit_runtime::{DriveError, Runtime, load_run, run_overview};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::api_error::ApiError;

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunLine {
    /// The id of the run.
    pub(crate) run: String,
    /// `running`, `waiting`, `stopped`, `parked`, or how it ended: `complete`, `partial`, `failed`, `impossible`,
    /// `budget_exhausted` or `cancelled`.
    #[schema(example = "complete")]
    pub(crate) status: String,
    /// What was asked.
    pub(crate) request: String,
    /// The name of the token that started it; missing if no token did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub(crate) created_ms: i64,
    /// When its last event happened, in milliseconds since 1970.
    pub(crate) updated_ms: i64,
    /// How many events it has.
    pub(crate) events: u64,
}

impl From<&RunSummary> for RunLine {
    fn from(summary: &RunSummary) -> Self {
        Self {
            run: summary.run.to_string(),
            status: summary.state().to_owned(),
            request: summary.title.clone(),
            owner: summary.owner.clone(),
            created_ms: summary.created_ms,
            updated_ms: summary.updated_ms,
            events: summary.len,
        }
    }
}

/// A run with its result or its questions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunView {
    #[serde(flatten)]
    pub(crate) line: RunLine,
    /// The answer of a run that has ended: its text, its outputs, each step with its result or why it failed, what was mended and
    /// what was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) answer: Option<Box<RawValue>>,
    /// The report of a session that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) report: Option<Box<RawValue>>,
    /// The questions to a person that the run waits for.
    pub(crate) questions: Vec<QuestionView>,
}

/// A question to a person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuestionView {
    /// The id, for `POST /v1/runs/{run}/decisions/{question}`.
    #[schema(example = "refund/approval/1")]
    pub(crate) question: String,
    /// The hash that a decision must state: it binds the decision to exactly what is shown here.
    pub(crate) hash: String,
    /// The step.
    pub(crate) step: String,
    /// What is asked: its `kind`, the `call` with its parameters or the `calls` of a plan, and why (`reason`, `error`, `change`, `check`).
    #[schema(value_type = Object)]
    pub(crate) about: Box<RawValue>,
    /// When the question counts as denied, in milliseconds since 1970.
    pub(crate) expires_ms: i64,
}

fn question_view(ask: &AskPerson) -> Result<QuestionView, serde_json::Error> {
    let mut about = ask.question.facts();
    about.extend(ask.question.call_facts().map(|call| ("call".to_owned(), Value::Object(call))));
    Ok(QuestionView {
        question: ask.id.to_string(),
        hash: ask.hash.clone(),
        step: ask.step.to_string(),
        about: RawValue::from_string(Value::Object(about).to_string())?,
        expires_ms: ask.expires_ms,
    })
}

pub(crate) async fn open_questions(journal: &Journal, run: &RunId) -> Result<Vec<AskPerson>, ApiError> {
    match load_run(journal, run).await {
        Ok(saved) => Ok(saved.machine.questions()),
        // A parked run asks nothing.
        Err(DriveError::Restore(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn view(runtime: &Runtime, run: &RunId) -> Result<RunView, ApiError> {
    let summary = runtime.summary(run).await?;
    let journal = &runtime.journal;
    let line = RunLine::from(&summary);
    if summary.status.is_none() {
        let asks = open_questions(journal, run).await?;
        let questions = asks.iter().map(question_view).collect::<Result<_, _>>().map_err(ApiError::unwritable)?;
        return Ok(RunView { line, answer: None, report: None, questions });
    }
    let overview: Overview = run_overview(journal, run).await?;
    let raw = |ending: &Ending<'_>| match ending {
        Ending::Answer(answer) => Ok((Some(serde_json::value::to_raw_value(answer)?), None)),
        Ending::Report(report) => Ok((None, Some(serde_json::value::to_raw_value(report)?))),
    };
    let (answer, report) = overview.ending().as_ref().map_or(Ok((None, None)), raw).map_err(ApiError::unwritable)?;
    Ok(RunView { line, answer, report, questions: Vec::new() })
}

/// What a client reads that sees nothing but text.
#[derive(Debug)]
pub(crate) struct RunText {
    /// `complete`, `partial`, `waiting` and so on.
    pub(crate) status: String,
    /// The answer or report with the line about its status, or which decision the run waits for.
    pub(crate) text: String,
    /// The tokens that were spent.
    pub(crate) usage: Usage,
}

pub(crate) async fn run_text(journal: &Journal, run: &RunId) -> Result<RunText, ApiError> {
    let summary = journal.summary(run).await?;
    let status = summary.state().to_owned();
    if summary.status.is_none() {
        let asks = open_questions(journal, run).await?;
        let asks: Vec<String> = asks.iter().map(|ask| format!("`{}`", ask.id)).collect();
        let text = format!("This waits for a person. The run `{run}` asks {}.", asks.join(", "));
        return Ok(RunText { status, text, usage: Usage::reported(0, 0) });
    }
    let usage = |spent: &Spent| Usage::reported(spent.input_tokens, spent.output_tokens);
    let overview: Overview = run_overview(journal, run).await?;
    let usage = match overview.ending() {
        Some(Ending::Answer(answer)) => usage(&answer.spent),
        Some(Ending::Report(report)) => usage(&report.spent),
        None => Usage::reported(0, 0),
    };
    let text = overview.ending().map(Ending::full_text).unwrap_or_default();
    Ok(RunText { status, text, usage })
}
