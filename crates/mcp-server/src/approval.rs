//! Asks the user of the client about a call, if the client can.

use reknit_engine::{AskPerson, Decision, QuestionLine};
use reknit_protocol::is_hidden;
use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema};
use rmcp::service::{ElicitationMode, Peer};
use rmcp::{RoleServer, ServiceError};

pub(crate) fn can_ask(peer: &Peer<RoleServer>) -> bool {
    peer.supported_elicitation_modes().contains(&ElicitationMode::Form)
}

/// Asks the user of the client about one question; `None` if the question stays open. The call is approved if the form is accepted
/// with `approve` set; declined, or without it, the call is denied.
pub(crate) async fn ask(peer: &Peer<RoleServer>, question: &AskPerson) -> Result<Option<Decision>, ServiceError> {
    let reason = "Why not, for the model that made the call";
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Approve this call?\n{}", description(question)),
        requested_schema: ElicitationSchema::builder()
            .required_bool_with("approve", |field| field.title("Send the call").with_default(false))
            .optional_string_with("reason", |field| field.description(reason))
            .build_unchecked(),
    };
    let answer = peer.create_elicitation(params).await?;
    let field = |name: &str| answer.content.as_ref().and_then(|content| content.get(name)).cloned();
    let approved = field("approve").and_then(|value| value.as_bool()).unwrap_or(false);
    let reason = field("reason").and_then(|value| value.as_str().map(str::to_owned)).filter(|text| !text.is_empty());
    Ok(match answer.action {
        ElicitationAction::Accept if approved => Some(Decision::Approve),
        ElicitationAction::Accept | ElicitationAction::Decline => Some(Decision::Deny { reason }),
        _ => None,
    })
}

/// What is asked, one line for each fact.
pub(crate) fn description(question: &AskPerson) -> String {
    let text = |line: &QuestionLine| one_visible_line(&format!("{}: {}", line.label, line.text));
    question.lines().iter().map(text).collect::<Vec<String>>().join("\n")
}

/// On one line, so that a tool cannot add lines of its own, with characters that do not show as escapes.
fn one_visible_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_control() => line.push(' '),
            _ if is_hidden(c) => line.extend(c.escape_unicode()),
            _ => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_characters_that_hide_and_has_no_lines_of_a_tool() {
        assert_eq!(
            one_visible_line("pay \u{200b}mallory\u{202e}\nApproved: yes"),
            r"pay \u{200b}mallory\u{202e} Approved: yes"
        );
    }
}
