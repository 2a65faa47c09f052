//! The end of a session: the report on standard output, the rest beside it, and the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_engine::{Exit, Report, ReportSource};
use reknit_protocol::{Object, RunId, Value};

use crate::failure::Failure;
use crate::finish::{count, seconds, spending, with_amounts};
use crate::show::harmless;

/// The exit status for the end of a session.
///
/// | status | exits |
/// |---|---|
/// | 0 | a model wrote the report: `EXIT-FINAL-ANSWER`, `EXIT-MAX-TURNS-WITH-RESPONSE`, `EXIT-TOKEN-LIMIT`, `EXIT-USER-STOP` |
/// | 1 | no report after all turns or attempts: `EXIT-MAX-TURNS-NO-RESPONSE`, `EXIT-MAX-RETRIES`, and `EXIT-USER-STOP` |
/// | 5 | a limit: `EXIT-BUDGET-EXHAUSTED`, `EXIT-TIME-LIMIT`, and `EXIT-TOKEN-LIMIT` |
/// | 7 | `EXIT-AUTH-FAILURE` |
/// | 8 | `EXIT-QUOTA-EXCEEDED` |
/// | 9 | `EXIT-NO-PROVIDERS` |
/// | 130 | `EXIT-SIGNAL-RECEIVED` |
pub(crate) fn exit_code(report: &Report) -> u8 {
    match report.exit {
        Exit::SignalReceived => 130,
        _ if report.is_answer() => 0,
        Exit::BudgetExhausted | Exit::TimeLimit | Exit::TokenLimit => 5,
        Exit::AuthFailure => 7,
        Exit::QuotaExceeded => 8,
        Exit::NoProviders => 9,
        Exit::FinalAnswer
        | Exit::MaxTurnsWithResponse
        | Exit::UserStop
        | Exit::MaxRetries
        | Exit::MaxTurnsNoResponse => 1,
    }
}

/// Prints the report.
pub(crate) fn finish_report(run: &RunId, report: &Report, json: bool) -> Result<ExitCode, Failure> {
    let text = if json { document(run, report)?.to_string() } else { harmless(&report.content) };
    match writeln!(io::stdout(), "{text}") {
        // Whoever reads has seen enough; how the session ended is still in the status.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.map_err(Failure::Write)?,
    }
    // The report is out; who cannot be told the rest has missed only what `runs show` says too.
    let _ = write!(io::stderr(), "{}", harmless(&footer(run, report)));
    Ok(ExitCode::from(exit_code(report)))
}

/// The whole report as JSON, digits as they are.
pub(crate) fn document(run: &RunId, report: &Report) -> Result<Value, Failure> {
    let unwritable = |error: serde_json::Error| Failure::Write(io::Error::other(error));
    let text = serde_json::to_string(report).map_err(unwritable)?;
    let mut object = Object::from([("run", Value::from(run.as_str()))]);
    if let Ok(Value::Object(fields)) = Value::parse(&text) {
        for (name, value) in fields {
            let value = match name.as_str() {
                "exit" => Value::from(report.exit.as_str()),
                "spent" => with_amounts(value),
                _ => value,
            };
            object.insert(name, value);
        }
    }
    Ok(Value::Object(object))
}

fn footer(run: &RunId, report: &Report) -> String {
    let spent = &report.spent;
    let source = match report.source {
        ReportSource::ToolCall => String::new(),
        ReportSource::TextFallback => "note: the report was found in the words of a model\n".to_owned(),
        ReportSource::ToolMessage => {
            "note: the report was found in a call that could not be used as it was\n".to_owned()
        }
        ReportSource::Synthetic => "note: no model wrote this report\n".to_owned(),
    };
    format!(
        "\n{source}{}: {}, {}, {}\n\nhint: see each attempt with `reknit runs show {run}`\n",
        report.exit,
        count(report.turn, "turn"),
        spending(spent),
        seconds(spent.active_ms),
    )
}

#[cfg(test)]
mod tests {
    use reknit_engine::{ReportFormat, ReportStatus, Spent, SyntheticReason, Totals};

    use super::*;

    fn report(exit: Exit, source: ReportSource) -> Report {
        Report {
            format: ReportFormat::Text,
            content: String::new(),
            content_json: None,
            metadata: Object::new(),
            status: ReportStatus::Success,
            source,
            forced_final_reason: None,
            synthetic_reason: (source == ReportSource::Synthetic).then_some(SyntheticReason::UserStop),
            exit,
            turn: 1,
            final_report_attempts: 0,
            spent: Spent::default(),
            totals: Totals::default(),
            children: Vec::new(),
        }
    }

    #[test]
    fn the_page_about_agents_and_the_help_list_every_exit_under_its_status() {
        let page = include_str!("../../../docs/agents.md");
        let row =
            |status: u8| page.lines().find(|line| line.starts_with(&format!("| {status} | "))).unwrap_or_default();
        let help = include_str!("cli/agent.rs");
        for exit in Exit::ALL {
            let answered =
                matches!(exit, Exit::FinalAnswer | Exit::MaxTurnsWithResponse | Exit::TokenLimit | Exit::UserStop);
            let synthetic = !matches!(exit, Exit::FinalAnswer | Exit::MaxTurnsWithResponse);
            for (possible, source) in [(answered, ReportSource::ToolCall), (synthetic, ReportSource::Synthetic)] {
                let status = exit_code(&report(exit, source));
                assert!(!possible || row(status).contains(exit.as_str()), "{exit} from {source:?} is {status}");
            }
            assert!(!synthetic || help.contains(exit.as_str()), "{exit}");
        }
    }
}
