//! What people and programs see: texts, tables, progress, questions and errors.

mod approvals;
mod event_output;
mod excerpt;
mod failure;
mod failure_message;
mod input;
mod line_diff;
mod print;
mod print_answer;
mod print_report;
mod progress;
mod questions;
mod read_input;
pub(crate) mod style;
mod table;
mod terminal_text;
mod usage;
mod word_wrap;

pub(crate) use approvals::{ApprovalRequest, decision_detail, inbox, pending_approvals};
pub(crate) use event_output::EventOutput;
pub(crate) use excerpt::Excerpt;
pub(crate) use failure::{BadSchema, Failure, NotUtf8};
pub(crate) use failure_message::{failure_causes, failure_hint, failure_json, failure_message, parked_hint};
pub(crate) use input::Input;
pub(crate) use line_diff::{DiffLines, line_diff};
pub(crate) use print::{
    Queued, are_messages_hidden, hide_messages, json_value, print_data, print_failure, print_message, print_progress,
    print_text, print_warning,
};
pub(crate) use print_answer::{
    ResultFormat, ResultText, doubt_notes, exit_code_of, print_answer, print_waiting, print_with_summary, result_json,
    result_line,
};
pub(crate) use print_report::{exit_words, print_report, report_exit_code, report_json, report_notes, report_warnings};
pub(crate) use progress::display::{ProgressDisplay, SharedDisplay, lock};
pub(crate) use progress::{run_lines, session_lines};
pub(crate) use questions::Questions;
pub(crate) use table::{graph_lines, table};
pub(crate) use terminal_text::{
    columns_and_rows, cut, error_columns, escape_controls, one_line, one_line_end, output_columns, padded, shell_word,
    visible_char, width, wrapped,
};
pub(crate) use usage::{count, duration, seconds, usage_summary, with_decimal_costs};
pub(crate) use word_wrap::{fill, fill_help};
