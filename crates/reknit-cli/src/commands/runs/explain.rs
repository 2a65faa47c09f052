//! `reknit runs explain`: a run in plain words.

use std::process::ExitCode;

use clap::Args;

use reknit_engine::{ExplainedLine, Explanation};
use reknit_runtime::operations;

use super::open_run;
use crate::output::{
    Failure, duration, graph_lines, json_value, one_line, output_columns, padded, print_data, width, wrapped,
};
use crate::setup::{FileArguments, RunArgument};

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    run: RunArgument,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: FileArguments,
}

pub(super) async fn run(arguments: &ExplainArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.journal, &arguments.run).await?;
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    let explanation = operations::explain(&journal, &run).await?;
    let text = if arguments.json {
        format!("{}\n", json_value(&explanation)?)
    } else {
        page(&explanation, summary.created_ms, output_columns())
    };
    print_data(&text).map(|()| ExitCode::SUCCESS)
}

/// The page. Long sentences are broken to the width of the terminal; in a pipe each is one line.
fn page(explanation: &Explanation, started_ms: i64, columns: Option<usize>) -> String {
    let started = jiff::Timestamp::from_millisecond(started_ms)
        .map_or_else(|_| String::new(), |at| format!(" on {}", at.strftime("%Y-%m-%d at %H:%M:%S UTC")));
    let mut page = Page { lines: Vec::new(), columns };
    page.add("", &format!("Run {}, started{started}", explanation.run));
    page.section("Asked", [explanation.asked.as_str()]);
    page.section("Outcome", [explanation.outcome.as_str()]);
    let planning: Vec<String> = explanation.planning.iter().map(|line| timed(line, started_ms)).collect();
    page.section("Plan", planning.iter().map(String::as_str));
    let graph = graph_lines(&explanation.graph, columns.map(|columns| columns.saturating_sub(2)));
    if !graph.is_empty() {
        page.title("Steps");
        page.lines.extend(graph.into_iter().map(|line| format!("  {line}")));
    }
    for step in &explanation.steps {
        page.lines.push(String::new());
        let does = if step.does.is_empty() { String::new() } else { format!(" ({})", step.does) };
        page.add("", &format!("{}{does}: {}", step.step, step.outcome));
        for line in &step.lines {
            page.add("  ", &timed(line, started_ms));
        }
    }
    for (title, lines) in [
        ("Conversation", &explanation.conversation),
        ("Failed", &explanation.failed),
        ("Mended", &explanation.mended),
        ("Tried", &explanation.tried),
        ("Missing", &explanation.missing),
        ("Decided", &explanation.decided),
        ("Cost", &explanation.cost),
    ] {
        page.section(title, lines.iter().map(String::as_str));
    }
    page.lines.join("\n") + "\n"
}

/// A sentence with its time since the start of the run and how long it took.
fn timed(line: &ExplainedLine, started_ms: i64) -> String {
    let since = |at_ms: i64| duration(at_ms.saturating_sub(started_ms).max(0).unsigned_abs());
    let at = line.at_ms.map_or_else(String::new, |at_ms| padded(&format!("+{}", since(at_ms)), 8) + "  ");
    let took = line.took_ms.map_or_else(String::new, |ms| format!(" ({})", duration(ms)));
    format!("{at}{}{took}", line.text)
}

/// A text that grows line by line.
struct Page {
    lines: Vec<String>,
    columns: Option<usize>,
}

impl Page {
    fn title(&mut self, title: &str) {
        self.lines.extend([String::new(), format!("{title}:")]);
    }

    /// A title and its lines; nothing without lines.
    fn section<'a>(&mut self, title: &str, lines: impl IntoIterator<Item = &'a str>) {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            self.title(title);
        }
        for line in lines {
            self.add("  ", line);
        }
    }

    /// A sentence, on several lines if the terminal is too narrow.
    fn add(&mut self, indent: &str, text: &str) {
        let text = one_line(text, usize::MAX);
        let Some(columns) = self.columns else { return self.lines.push(format!("{indent}{text}")) };
        let left = columns.saturating_sub(width(indent) + 2).max(20);
        for (index, part) in wrapped(&text, left).into_iter().enumerate() {
            self.lines.push(if index == 0 { format!("{indent}{part}") } else { format!("{indent}  {part}") });
        }
    }
}
