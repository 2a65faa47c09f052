//! Servers that break off, or send something other than an answer.

use reknit_model_api::{ErrorClass, UsageSource};
use tokio::net::TcpListener;

use crate::server::{Server, ServerAction, chunk, delta, stream_head};
use crate::{ask, failure};

#[tokio::test]
async fn a_refused_connection_is_a_network_error() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let target = reknit_models::Target::new("a", format!("http://{address}/v1"), "m");
    let failure = failure(target).await;
    let expected = format!("network error: cannot connect to {address}: Connection refused");
    assert!(failure.to_string().starts_with(&expected), "{failure}");
    assert_eq!(failure.usage, None, "nothing was sent");
}

#[tokio::test]
async fn a_connection_that_closes_before_the_answer_is_a_network_error_that_may_be_billed() {
    for actions in [
        vec![ServerAction::Reset],
        vec![],
        vec![ServerAction::Send(b"HTTP/1.1 200".to_vec())],
        vec![ServerAction::Send(b"garbage\r\n\r\n".to_vec())],
    ] {
        let server = Server::new(actions.clone()).await;
        let failure = failure(server.target()).await;
        assert_eq!(failure.class, ErrorClass::NetworkError, "{actions:?}");
        assert!(failure.message.contains("closed the connection before it answered: "), "{failure}");
        assert_eq!(failure.usage.map(|usage| usage.source), Some(UsageSource::Estimated));
    }
}

#[tokio::test]
async fn a_truncated_stream_is_a_failure_that_says_how_much_arrived() {
    let begun = [stream_head(), chunk(&delta("1234")), chunk(&delta("5678"))];
    for (last, class, message) in [
        (ServerAction::Reset, ErrorClass::NetworkError, "the connection broke: "),
        (ServerAction::Send(vec![]), ErrorClass::NetworkError, "the connection broke: "),
        (chunk(""), ErrorClass::InvalidResponse, "the stream ended without a finish reason"),
    ] {
        let server = Server::new([&begun[..], &[last]].concat()).await;
        let (result, pieces) = ask(server.target()).await;
        let failure = result.unwrap_err();
        assert_eq!(failure.class, class);
        assert!(failure.message.starts_with(message), "{failure}");
        assert!(failure.message.ends_with(" after 8 characters of the answer"), "{failure}");
        assert_eq!(pieces, ["1234", "5678"], "deltas of what had arrived");
        assert_eq!(failure.partial, "12345678");
        assert_eq!(failure.usage.map(|usage| (usage.output_tokens, usage.source)), Some((2, UsageSource::Estimated)));
    }
}

#[tokio::test]
async fn a_truncated_body_is_a_network_error() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"choices\":".to_vec();
    let server = Server::new([ServerAction::Send(head)]).await;
    let failure = failure(server.whole_target()).await;
    assert_eq!(failure.class, ErrorClass::NetworkError);
    assert!(failure.usage.is_some());
}

#[tokio::test]
async fn a_response_that_is_not_an_answer_is_quoted_by_its_start() {
    let html = "content-type: text/html\r\n";
    let json = "content-type: application/json\r\n";
    for (head, body, streamed, whole) in [
        (
            html,
            "<html>\n Log in",
            "the stream contains no answer; it starts with `<html> Log in`",
            "the body is not JSON; it starts with `<html> Log in`",
        ),
        (html, "", "the stream is empty", "the body is empty"),
        (
            json,
            "{\"note\":7}",
            "the body contains no answer: `{\"note\":7}`",
            "the body contains no answer: `{\"note\":7}`",
        ),
        (json, "[7]", "the body contains no answer: `[7]`", "the body contains no answer: `[7]`"),
    ] {
        let server = Server::responding("200 OK", head, body).await;
        for (target, message) in [(server.target(), streamed), (server.whole_target(), whole)] {
            let failure = failure(target).await;
            assert_eq!((failure.class, failure.message.as_str()), (ErrorClass::InvalidResponse, message), "{body}");
        }
    }
}

#[tokio::test]
async fn an_endless_answer_fails_at_the_largest_size() {
    let event = delta(&"x".repeat(100_000));
    for (media_type, piece) in [("application/json", " ".repeat(100_000)), ("text/event-stream", event)] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n\r\n").into_bytes();
        let server = Server::new([ServerAction::Send(head), ServerAction::Repeat(piece.into_bytes())]).await;
        let failure = failure(server.target()).await;
        assert_eq!(failure.class, ErrorClass::InvalidResponse);
        assert!(failure.message.starts_with("the body has more than 16 MiB"), "{failure}");
    }
}

#[tokio::test]
async fn an_endless_line_fails_at_the_largest_size() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ".to_vec();
    let server = Server::new([ServerAction::Send(head), ServerAction::Repeat(vec![b'x'; 1000])]).await;
    assert_eq!(failure(server.target()).await.message, "the body has more than 16 MiB");
}
