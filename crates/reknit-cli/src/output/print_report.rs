//! Prints the report of a session: the report on standard output, a summary on standard error.

use std::process::ExitCode;

use reknit_engine::{Report, ReportSource, ReportStatus, SessionExit};
use reknit_protocol::{Object, RunId};

use crate::output::{
    Failure, ResultFormat, ResultText, count, doubt_notes, escape_controls, one_line, print_with_summary, result_json,
    result_line, seconds, usage_summary,
};

/// The exit status of an ended session: the status of the report if a model wrote it. docs/agents.md lists all of them.
pub(crate) fn report_exit_code(report: &Report) -> u8 {
    match report.exit {
        SessionExit::SignalReceived => 130,
        _ if report.is_answer() => match report.status {
            ReportStatus::Success => 0,
            ReportStatus::Partial => 3,
            ReportStatus::Failure => 1,
        },
        SessionExit::BudgetExhausted | SessionExit::TimeLimit | SessionExit::TokenLimit => 5,
        SessionExit::AuthFailure => 7,
        SessionExit::QuotaExceeded => 8,
        SessionExit::NoProviders => 9,
        SessionExit::FinalAnswer
        | SessionExit::MaxTurnsWithResponse
        | SessionExit::UserStop
        | SessionExit::MaxRetries
        | SessionExit::MaxTurnsNoResponse
        | SessionExit::InternalError => 1,
    }
}

pub(crate) fn print_report(run: &RunId, report: &Report, format: ResultFormat) -> Result<ExitCode, Failure> {
    let text = match format {
        ResultFormat::Text if report.content_json.is_some() => ResultText::Data(escape_controls(&report.content)),
        ResultFormat::Text => ResultText::Prose(escape_controls(&report.content)),
        ResultFormat::Json | ResultFormat::Event => {
            ResultText::Data(result_line(report_json(run, report)?, "report", format))
        }
    };
    print_with_summary(&text, &summary(run, report), &report_warnings(report))?;
    Ok(ExitCode::from(report_exit_code(report)))
}

pub(crate) fn report_json(run: &RunId, report: &Report) -> Result<Object, Failure> {
    let mut object = result_json(run, report)?;
    object.insert("exit", report.exit.as_str());
    Ok(object)
}

/// Why a session ended, for people: `final answer` for `EXIT-FINAL-ANSWER`.
pub(crate) fn exit_words(exit: &str) -> String {
    exit.strip_prefix("EXIT-").map_or_else(|| exit.to_owned(), |words| words.replace('-', " ").to_lowercase())
}

fn summary(run: &RunId, report: &Report) -> String {
    let spent = &report.spent;
    let source_note = match report.source {
        ReportSource::ToolCall => "",
        ReportSource::TextFallback => "note: the report is the text of a model, which did not call the report tool\n",
        ReportSource::ToolMessage => "note: the report was taken from a call of the report tool that was not valid\n",
        ReportSource::Synthetic => "note: no model wrote this report\n",
    };
    let in_doubt = report.shortcomings.in_doubt.iter().map(|call| format!("warning: {}\n", one_line(call, usize::MAX)));
    let in_doubt = in_doubt.collect::<Vec<_>>().concat();
    let notes = report_notes(report);
    format!(
        "\n{in_doubt}{source_note}{notes}{}: {}, {}, {}\n\nhint: see each attempt with `reknit runs show {run}`\n",
        exit_words(report.exit.as_str()),
        count(report.turn, "turn"),
        usage_summary(spent),
        seconds(spent.active_ms),
    )
}

fn warning(text: &str) -> String {
    format!("warning: {}\n", one_line(text, usize::MAX))
}

/// What is printed about a report also with `--quiet`: calls in doubt, what was not done, and figures that nothing states.
pub(crate) fn report_warnings(report: &Report) -> String {
    report.shortcomings.in_doubt.iter().map(|call| warning(call)).chain([report_notes(report)]).collect()
}

/// What a person should know about a report: figures that nothing states, and that it is no success.
pub(crate) fn report_notes(report: &Report) -> String {
    let not_done: String =
        report.shortcomings.not_done.iter().map(|line| warning(&format!("not done: {line}"))).collect();
    let doubts = doubt_notes(&report.shortcomings.doubts);
    let status_note = match report.status {
        _ if !report.is_answer() => String::new(),
        ReportStatus::Success => String::new(),
        ReportStatus::Partial if report.is_doubtful() => {
            "note: the report is partial: no tool call succeeded\n".to_owned()
        }
        status => format!("note: the status of the report is `{status}`\n"),
    };
    not_done + &doubts + &status_note
}

#[cfg(test)]
mod tests {
    use reknit_engine::{ReportFormat, Shortcomings, Spent, SyntheticReason, Totals};

    use super::*;

    fn report(exit: SessionExit, source: ReportSource) -> Report {
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
            successful_calls: 1,
            shortcomings: Shortcomings::default(),
            mended: Vec::new(),
            tried: Vec::new(),
            approved: Vec::new(),
            repeated: Vec::new(),
            children: Vec::new(),
        }
    }

    #[test]
    fn the_page_about_agents_and_the_help_list_every_exit_under_its_status() {
        let page = include_str!("../../../../docs/agents.md");
        let row =
            |status: u8| page.lines().find(|line| line.starts_with(&format!("| {status} | "))).unwrap_or_default();
        let help = include_str!("../commands/agent.rs");
        for &exit in SessionExit::ALL {
            let answered = matches!(
                exit,
                SessionExit::FinalAnswer
                    | SessionExit::MaxTurnsWithResponse
                    | SessionExit::TokenLimit
                    | SessionExit::UserStop
            );
            let synthetic = !matches!(exit, SessionExit::FinalAnswer | SessionExit::MaxTurnsWithResponse);
            for (possible, source) in [(answered, ReportSource::ToolCall), (synthetic, ReportSource::Synthetic)] {
                let status = report_exit_code(&report(exit, source));
                assert!(!possible || row(status).contains(exit.as_str()), "{exit} from {source:?} is {status}");
            }
            assert!(!synthetic || help.contains(&exit_words(exit.as_str())), "{exit}");
        }
    }
}
