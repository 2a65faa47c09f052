//! Images and files beside the words of a question and of a result.

use reknit_engine::SessionStarted;
use reknit_model_api::{Attachment, Message};

use crate::driver::{TestDriver, calling, started};

#[test]
fn a_question_and_a_result_keep_their_attachments_beside_their_text() {
    let photo = Attachment::bytes("image/jpeg", b"photo");
    let mut driver = TestDriver::begin(SessionStarted { attachments: vec![photo.clone()], ..started() });
    let (_, _, request) = driver.asked();
    assert_eq!(request.messages[1].attachments(), [photo]);

    driver.answer(calling(&[("shop__look_up", "{}")]));
    let result =
        r#"{"content":[{"type":"text","text":"a chart"},{"type":"image","mimeType":"image/png","data":"YWJj"}]}"#;
    driver.reply("turn-1/call-1/call/1", 200, result);
    let (_, _, request) = driver.asked();
    let Some(Message::Tool { text, attachments, .. }) = request.messages.last() else { panic!("{request:?}") };
    assert!(text.contains("a chart") && !text.contains("YWJj"), "{text}");
    assert_eq!(attachments[..], [Attachment::base64("image/png", "YWJj")]);
}

#[test]
fn another_attachment_is_another_request() {
    let with = |bytes: &[u8]| SessionStarted { attachments: vec![Attachment::bytes("image/png", bytes)], ..started() };
    assert_eq!(with(b"a").request_digest(), with(b"a").request_digest());
    assert_ne!(with(b"a").request_digest(), with(b"b").request_digest());
    assert_ne!(with(b"a").request_digest(), started().request_digest());
}
