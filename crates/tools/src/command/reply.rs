//! What the end of a process means, as a reply.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use reknit_protocol::{Category, ReplyBody, SideEffect, ToolError, ToolReply, ToolResponse, Value};

use crate::option_words::CommandOutput;
use crate::reply_body::{parse_body, to_text, with_fix};

// Exit statuses of `sysexits.h`.
const USAGE: i32 = 64;
const DATA_ERROR: i32 = 65;
const NO_INPUT: i32 = 66;
const TEMPORARY_FAILURE: i32 = 75;
const NO_PERMISSION: i32 = 77;

/// The reply of a process that succeeded. Fails if its output is not what the configuration says.
pub(super) fn of_success(stdout: &[u8], output: Option<CommandOutput>) -> Result<ToolReply, String> {
    let text = |body: fn(&str) -> ReplyBody| {
        let (text, invalid) = to_text(stdout);
        with_fix(body(&text), invalid)
    };
    let body = match output {
        Some(CommandOutput::Text) => text(|text| ReplyBody::Text(text.to_owned())),
        Some(CommandOutput::Lines) => text(|text| ReplyBody::Json(text.lines().map(Value::from).collect())),
        Some(CommandOutput::Json) => match parse_body(stdout, true).map_err(|error| error.to_string())? {
            ReplyBody::Empty => return Err("it wrote nothing instead of JSON".to_owned()),
            body => body,
        },
        None => parse_body(stdout, false).map_err(|error| error.to_string())?,
    };
    Ok(ToolReply { status: 200, retry_after_ms: None, body, job: None })
}

/// The reply of a process that failed. The status says whether the call can have taken effect, and whether it may be sent again.
pub(super) fn of_failure(
    program: &str,
    effect: SideEffect,
    status: ExitStatus,
    stdout: &[u8],
    stderr: &[u8],
) -> ToolReply {
    let reason = if stderr.trim_ascii().is_empty() { stdout } else { stderr };
    let reason = match end_of_text(reason) {
        text if text.is_empty() => String::new(),
        text => format!(": {text}"),
    };
    let Some(exit) = status.code() else {
        let signal = status.signal().map_or_else(String::new, |signal| format!(" by signal {signal}"));
        // It is unknown how far the process came, so this is no structured error.
        let body = ReplyBody::Text(format!("`{program}` was ended{signal}{reason}"));
        return ToolReply { status: 500, retry_after_ms: None, body, job: None };
    };
    let changes_nothing_known = effect == SideEffect::Read || effect.is_undeclared();
    let (status, category) = match exit {
        USAGE | DATA_ERROR | NO_INPUT => (400, Category::InputError),
        NO_PERMISSION => (403, Category::AuthError),
        TEMPORARY_FAILURE => (503, Category::ServiceError),
        _ if changes_nothing_known => (400, Category::InputError),
        _ => (500, Category::ServiceError),
    };
    let message = format!("`{program}` ended with exit status {exit}{reason}");
    let error = ToolError::new("COMMAND_FAILED", message, category).detail("exit_status", exit);
    ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(ToolResponse::fail(error).to_value()), job: None }
}

/// The most of an error text that is shown, in bytes.
const MAX_REASON: usize = 2000;

/// The end of a text, in which control characters are escaped.
fn end_of_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.trim_ascii());
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_REASON));
    let mut shown = if from > 0 { "…".to_owned() } else { String::new() };
    for letter in text.get(from..).unwrap_or_default().chars() {
        if letter.is_control() && letter != '\n' {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(exit: i32, effect: SideEffect, stderr: &[u8]) -> ToolReply {
        of_failure("p", effect, ExitStatus::from_raw(exit << 8), b"", stderr)
    }

    #[test]
    fn the_exit_status_and_the_class_decide_the_status_of_the_reply() {
        for (exit, effect, status) in [
            (1, SideEffect::Read, 400),
            (1, SideEffect::Undeclared, 400),
            (1, SideEffect::Idempotent, 500),
            (1, SideEffect::Keyed, 500),
            (1, SideEffect::Unsafe, 500),
            (65, SideEffect::Unsafe, 400),
            (75, SideEffect::Read, 503),
            (77, SideEffect::Read, 403),
        ] {
            assert_eq!(failed(exit, effect, b"").status, status, "exit {exit}, {effect:?}");
        }
        let killed = of_failure("p", SideEffect::Read, ExitStatus::from_raw(9), b"", b"");
        assert_eq!((killed.status, killed.body), (500, ReplyBody::Text("`p` was ended by signal 9".to_owned())));
    }

    #[test]
    fn an_error_has_the_end_of_standard_error_without_control_characters() {
        let long = [b"x".repeat(5000).as_slice(), b"\x1b[31mno such file\n"].concat();
        let body = failed(2, SideEffect::Read, &long).body.to_value();
        let message = body.get("error").and_then(|error| error.get("message")?.as_str()).unwrap();
        assert!(message.starts_with("`p` ended with exit status 2: …xxx"), "{message}");
        assert!(message.ends_with(r"\u{1b}[31mno such file") && message.len() < 2100, "{message}");
    }
}
