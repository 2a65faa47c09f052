//! Servers that break off, or send something that is no answer.

use reknit_dialogue::{ErrorClass, UsageSource};
use tokio::net::TcpListener;

use crate::server::{Act, Server, chunk, delta, stream_head};
use crate::{ask, failure};

#[tokio::test]
async fn nobody_listens() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let target = reknit_models::Target::new("a", format!("http://{address}/v1"), "m");
    let failure = failure(target).await;
    let expected = format!("network error: no connection to {address}: Connection refused");
    assert!(failure.to_string().starts_with(&expected), "{failure}");
    assert_eq!(failure.usage, None, "nothing was sent");
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_is_a_network_error_that_may_have_cost_something() {
    for acts in [
        vec![Act::Reset],
        vec![],
        vec![Act::Send(b"HTTP/1.1 200".to_vec())],
        vec![Act::Send(b"garbage\r\n\r\n".to_vec())],
    ] {
        let server = Server::new(acts.clone()).await;
        let failure = failure(server.target()).await;
        assert_eq!(failure.class, ErrorClass::NetworkError, "{acts:?}");
        assert!(failure.message.contains("broke the connection before it answered: "), "{failure}");
        assert_eq!(failure.usage.map(|usage| usage.source), Some(UsageSource::Estimated));
    }
}

#[tokio::test]
async fn a_cut_stream_is_a_failure_that_says_how_far_it_came() {
    let begun = [stream_head(), chunk(&delta("1234")), chunk(&delta("5678"))];
    for (last, class, words) in [
        (Act::Reset, ErrorClass::NetworkError, "the connection broke: "),
        (Act::Send(vec![]), ErrorClass::NetworkError, "the connection broke: "),
        (chunk(""), ErrorClass::InvalidResponse, "the stream ended without a finish reason"),
    ] {
        let server = Server::new([&begun[..], &[last]].concat()).await;
        let (result, pieces) = ask(server.target()).await;
        let failure = result.unwrap_err();
        assert_eq!(failure.class, class);
        assert!(failure.message.starts_with(words), "{failure}");
        assert!(failure.message.ends_with(" after 8 characters of the answer"), "{failure}");
        assert_eq!(pieces, ["1234", "5678"], "what had arrived was shown");
        assert_eq!(failure.partial, "12345678");
        assert_eq!(failure.usage.map(|usage| (usage.output_tokens, usage.source)), Some((2, UsageSource::Estimated)));
    }
}

#[tokio::test]
async fn a_cut_body_is_a_network_error() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"choices\":".to_vec();
    let server = Server::new([Act::Send(head)]).await;
    let failure = failure(server.target_in_one_piece()).await;
    assert_eq!(failure.class, ErrorClass::NetworkError);
    assert!(failure.usage.is_some());
}

#[tokio::test]
async fn what_is_no_answer_is_shown_by_its_beginning() {
    let html = "content-type: text/html\r\n";
    let json = "content-type: application/json\r\n";
    for (head, body, streamed, in_one_piece) in [
        (
            html,
            "<html>\n Log in",
            "a stream without an answer, which begins with `<html> Log in`",
            "not JSON, but something that begins with `<html> Log in`",
        ),
        (html, "", "an empty stream", "an empty body"),
        (json, "{\"note\":7}", "no answer in `{\"note\":7}`", "no answer in `{\"note\":7}`"),
        (json, "[7]", "no answer in `[7]`", "no answer in `[7]`"),
    ] {
        let server = Server::responding("200 OK", head, body).await;
        for (target, message) in [(server.target(), streamed), (server.target_in_one_piece(), in_one_piece)] {
            let failure = failure(target).await;
            assert_eq!((failure.class, failure.message.as_str()), (ErrorClass::InvalidResponse, message), "{body}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_end_is_given_up_at_a_length() {
    let event = delta(&"x".repeat(100_000));
    for (media_type, piece) in [("application/json", " ".repeat(100_000)), ("text/event-stream", event)] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n\r\n").into_bytes();
        let server = Server::new([Act::Send(head), Act::Repeat(piece.into_bytes())]).await;
        let failure = failure(server.target()).await;
        assert_eq!(failure.class, ErrorClass::InvalidResponse);
        assert!(failure.message.starts_with("more than 16 MiB"), "{failure}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_at_a_length() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ".to_vec();
    let server = Server::new([Act::Send(head), Act::Repeat(vec![b'x'; 1000])]).await;
    assert_eq!(failure(server.target()).await.message, "more than 16 MiB");
}
