//! Images and files beside the words of a request.

use reknit_engine::{Effect, Started, Synthesis};
use reknit_model_api::{Attachment, Message, ModelRequest};

use crate::world::{Play, policy, started};

fn photo() -> Attachment {
    Attachment::bytes("image/jpeg", b"photo")
}

/// The question that is asked now.
fn question(play: &Play) -> ModelRequest {
    let asked = play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some(ask.request.as_ref().clone()),
        _ => None,
    });
    asked.unwrap_or_else(|| panic!("no question is due: {:?}", play.due()))
}

fn attached(request: &ModelRequest) -> Vec<Attachment> {
    request.messages.iter().flat_map(Message::attachments).cloned().collect()
}

#[test]
fn every_question_of_a_run_has_what_is_attached_to_its_request() {
    let policy = reknit_engine::Policy { synthesis: Synthesis::Model, ..policy() };
    let mut play = Play::begin(Started { attachments: vec![photo()], ..started(None, policy) });
    assert_eq!(attached(&question(&play)), [photo()]);
    play.answer_model(
        "plan/ask/1",
        r#"{"steps": [{"step_id": "s", "agent_name": "t", "metadata": {"capability": "convert", "parameters": {"amount": 1}}}]}"#,
    );
    play.answer_tool("s/call/1", 400, r#"{"error": "the amount must be that of the receipt"}"#);
    let repair = question(&play);
    assert_eq!(attached(&repair), [photo()], "{:?}", play.due());
    let effect = play.due().into_iter().find(|id| id.starts_with("s/")).expect("a question about the step");
    play.answer_model(&effect, r#"{"amount": 2}"#);
    let call = play.due().into_iter().find(|id| id.starts_with("s/call")).expect("the corrected call");
    play.answer_tool(&call, 200, r#"{"converted": 3}"#);
    assert_eq!(play.due(), ["answer/ask/1"]);
    assert_eq!(attached(&question(&play)), [photo()]);
}

#[test]
fn another_attachment_is_another_request() {
    let with = |bytes: &[u8]| {
        started(None, policy()).with_attachments(vec![Attachment::bytes("image/png", bytes)]).request_digest()
    };
    assert_eq!(with(b"a"), with(b"a"));
    assert_ne!(with(b"a"), with(b"b"));
    assert_ne!(with(b"a"), started(None, policy()).request_digest());
}
