//! Servers that take their time. The limit in question is short, the others do not matter.

use std::time::Duration;

use reknit_dialogue::{ErrorClass, Failure};
use reknit_models::Limits;

use crate::failure;
use crate::server::{Act, Server, chunk, delta, stream_head};

const SHORT: Duration = Duration::from_millis(50);

async fn timeout(acts: Vec<Act>, change: impl FnOnce(&mut Limits)) -> Failure {
    let mut server = Server::new(acts).await;
    let failure = failure(server.target_within(change)).await;
    assert_eq!(failure.class, ErrorClass::Timeout, "{failure}");
    assert!(failure.usage.is_some(), "the server may have worked for it");
    // Nobody listens any more, and the server can know.
    server.client_gone().await;
    failure
}

#[tokio::test]
async fn no_first_byte() {
    let failure = timeout(vec![Act::Silence], |limits| limits.first_byte = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no first byte within 50ms");
}

#[tokio::test]
async fn no_first_token_though_there_are_signs_of_life() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let acts = vec![stream_head(), chunk(": alive\n\n"), chunk(role), Act::Silence];
    let failure = timeout(acts, |limits| limits.first_token = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no first token within 50ms");
}

#[tokio::test]
async fn silence_in_the_middle() {
    let acts = vec![stream_head(), chunk(&delta("1234")), Act::Silence];
    let failure = timeout(acts, |limits| limits.idle = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: silent for 50ms after 4 characters of the answer");
}

#[tokio::test]
async fn silence_within_an_answer_in_one_piece() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{".to_vec();
    let failure = timeout(vec![Act::Send(head), Act::Silence], |limits| limits.idle = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: silent for 50ms");
}

#[tokio::test]
async fn signs_of_life_without_an_answer_are_silence() {
    let acts = [stream_head(), chunk(&delta("1234")), Act::Repeat(b"8\r\n: alive\n\r\n".to_vec())];
    let server = Server::new(acts).await;
    let failure = failure(server.target_within(|limits| limits.idle = SHORT)).await;
    assert!(matches!(failure.class, ErrorClass::Timeout), "{failure}");
}

#[tokio::test]
async fn an_answer_that_takes_for_ever() {
    let acts = [stream_head(), Act::Repeat(chunk_bytes(&delta("x")))];
    let server = Server::new(acts).await;
    let failure = failure(server.target_within(|limits| limits.total = SHORT)).await;
    assert!(failure.message.starts_with("not complete within 50ms after "), "{failure}");
}

#[tokio::test]
async fn a_question_may_have_less_time_than_its_target() {
    for acts in [vec![Act::Silence], vec![stream_head(), chunk(&delta("x")), Act::Silence]] {
        let server = Server::new(acts).await;
        let request = reknit_dialogue::Request { max_ms: Some(50), ..crate::question() };
        let models = reknit_models::Models::new(vec![server.target()]).unwrap();
        let failure = models.ask(&"a".into(), &request, &mut |_| {}).await.unwrap_err();
        assert!(failure.to_string().starts_with("timed out: not complete within 50ms"), "{failure}");
    }
}

#[tokio::test]
async fn no_connection() {
    // A server that accepts nobody: its queue is full of those who came before.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queued.push(stream);
    }
    let mut target = reknit_models::Target::new("a", format!("http://{address}/v1"), "m");
    target.limits.connect = SHORT;
    let failure = failure(target).await;
    assert_eq!(failure.to_string(), format!("timed out: no connection to {address} within 50ms"));
    assert_eq!(failure.usage, None, "nothing was sent");
}

fn chunk_bytes(text: &str) -> Vec<u8> {
    match chunk(text) {
        Act::Send(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}
