//! Slow servers. Each test shortens one timeout.

use std::time::Duration;

use reknit_model_api::{ErrorClass, ModelFailure};
use reknit_models::Timeouts;

use crate::failure;
use crate::server::{Server, ServerAction, chunk, delta, stream_head};

const SHORT: Duration = Duration::from_millis(50);

/// Long enough for a loaded machine to connect and to receive what was sent.
const ENOUGH: Duration = Duration::from_secs(2);

async fn timeout(actions: Vec<ServerAction>, change: impl FnOnce(&mut Timeouts)) -> ModelFailure {
    let mut server = Server::new(actions).await;
    let failure = failure(server.target_with_timeouts(change)).await;
    assert_eq!(failure.class, ErrorClass::Timeout, "{failure}");
    assert!(failure.usage.is_some(), "the provider may bill it");
    // The server sees that the client has closed the connection.
    server.closed_by_client().await;
    failure
}

#[tokio::test]
async fn a_missing_first_byte_times_out() {
    let failure = timeout(vec![ServerAction::Silence], |timeouts| timeouts.first_byte = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no first byte within 50ms");
}

#[tokio::test]
async fn a_missing_first_token_times_out_despite_keep_alives() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let actions = vec![stream_head(), chunk(": alive\n\n"), chunk(role), ServerAction::Silence];
    let failure = timeout(actions, |timeouts| timeouts.first_token = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no first token within 50ms");
}

#[tokio::test]
async fn a_stream_without_further_data_times_out() {
    let actions = vec![stream_head(), chunk(&delta("1234")), ServerAction::Silence];
    let failure = timeout(actions, |timeouts| timeouts.idle = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no data for 50ms after 4 characters of the answer");
}

#[tokio::test]
async fn a_whole_answer_without_further_data_times_out() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{".to_vec();
    let failure =
        timeout(vec![ServerAction::Send(head), ServerAction::Silence], |timeouts| timeouts.idle = SHORT).await;
    assert_eq!(failure.to_string(), "timed out: no data for 50ms");
}

#[tokio::test]
async fn keep_alives_do_not_restart_the_idle_timeout() {
    let actions = [stream_head(), chunk(&delta("1234")), ServerAction::Repeat(b"8\r\n: alive\n\r\n".to_vec())];
    let server = Server::new(actions).await;
    let failure = failure(server.target_with_timeouts(|timeouts| timeouts.idle = SHORT)).await;
    assert!(matches!(failure.class, ErrorClass::Timeout), "{failure}");
}

#[tokio::test]
async fn an_endless_answer_reaches_the_total_timeout() {
    let actions = [stream_head(), ServerAction::Repeat(chunk_bytes(&delta("x")))];
    let server = Server::new(actions).await;
    let failure = failure(server.target_with_timeouts(|timeouts| timeouts.total = ENOUGH)).await;
    assert!(failure.message.starts_with("not complete within 2s after "), "{failure}");
}

#[tokio::test]
async fn a_request_may_have_a_shorter_timeout_than_its_target() {
    for actions in [vec![ServerAction::Silence], vec![stream_head(), chunk(&delta("x")), ServerAction::Silence]] {
        let server = Server::new(actions).await;
        let request = reknit_model_api::ModelRequest { timeout_ms: Some(2_000), ..crate::request() };
        let models = reknit_models::Models::new(vec![server.target()]).unwrap();
        let failure = models.ask(&"a".into(), &request, &mut |_| {}).await.unwrap_err();
        assert!(failure.to_string().starts_with("timed out: not complete within 2s"), "{failure}");
    }
}

#[tokio::test]
async fn a_connection_that_is_not_accepted_times_out() {
    // A server that accepts no connection, because its queue is full.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queued.push(stream);
    }
    let mut target = reknit_models::Target::new("a", format!("http://{address}/v1"), "m");
    target.timeouts.connect = SHORT;
    let failure = failure(target).await;
    assert_eq!(failure.to_string(), format!("timed out: no connection to {address} within 50ms"));
    assert_eq!(failure.usage, None, "nothing was sent");
}

fn chunk_bytes(text: &str) -> Vec<u8> {
    match chunk(text) {
        ServerAction::Send(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}
