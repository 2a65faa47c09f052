//! The scripted model: the same 60 words to every request of the chat completions API, whole or as a stream.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::Result;

/// How many words an answer has.
pub(crate) const WORDS: usize = 60;

pub(crate) async fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let (whole, stream) = (Bytes::from(whole()), Bytes::from(stream()));
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        let (whole, stream) = (whole.clone(), stream.clone());
        let service = service_fn(move |request| answer(request, whole.clone(), stream.clone()));
        tokio::task::spawn_local(async move {
            // A client that leaves is no error of the server.
            let _ =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    whole: Bytes,
    stream: Bytes,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let text: String = String::from_utf8_lossy(&body).split_whitespace().collect();
    let (form, body) =
        if text.contains("\"stream\":true") { ("text/event-stream", stream) } else { ("application/json", whole) };
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(form));
    Ok(response)
}

fn whole() -> String {
    let text = "word ".repeat(WORDS);
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"scripted","choices":[{{"index":0,"message":{{"role":"assistant","content":"{}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":20,"completion_tokens":{WORDS},"total_tokens":{}}}}}"#,
        text.trim_end(),
        20 + WORDS
    )
}

fn stream() -> String {
    let chunk = |delta: &str, reason: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"scripted\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let words = chunk(r#"{"content":"word "}"#, "null").repeat(WORDS);
    let start = chunk(r#"{"role":"assistant","content":""}"#, "null");
    format!("{start}{words}{}data: [DONE]\n\n", chunk("{}", "\"stop\""))
}
