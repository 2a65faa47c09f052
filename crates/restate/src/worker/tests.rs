use reknit_runtime::Runtime;
use tokio::net::TcpStream;

use super::*;
use crate::blobs::FileBlobs;

async fn worker(identity_keys: &[&str]) -> Result<Worker, IdentityKeyError> {
    let reknit = Runtime::from_builder(Runtime::builder()).await.unwrap();
    let blobs = FileBlobs::open(tempfile::tempdir().unwrap().path()).unwrap();
    let keys: Vec<String> = identity_keys.iter().map(|key| (*key).to_owned()).collect();
    Worker::new(reknit.effect_runner(), Arc::new(blobs), &keys)
}

/// What a worker answers to a server that asks for its services.
async fn discovery(worker: &Worker) -> (u16, String) {
    let request = http::Request::get("http://worker/discover");
    let request = request.header("accept", "application/vnd.restate.endpointmanifest.v4+json");
    let answer = worker.endpoint.handle(request.body(reqwest::Body::from("")).unwrap());
    let (status, mut body) = (answer.status().as_u16(), Box::pin(answer.into_body()));
    let mut text = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| http_body::Body::poll_frame(body.as_mut(), context)).await {
        text.extend_from_slice(frame.unwrap().data_ref().unwrap());
    }
    (status, String::from_utf8(text).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_api_sends_is_reachable_through_the_ingress() {
    let (status, text) = discovery(&worker(&[]).await.unwrap()).await;
    assert_eq!(status, 200, "{text}");
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut public = Vec::new();
    for service in manifest["services"].as_array().unwrap() {
        if service["ingressPrivate"] == true {
            continue;
        }
        let handlers = service["handlers"].as_array().unwrap().iter();
        let is_public = |handler: &&serde_json::Value| handler["ingressPrivate"] != true;
        public.extend(handlers.filter(is_public).map(|handler| handler["name"].as_str().unwrap().to_owned()));
    }
    public.sort();
    assert_eq!(public, ["begin", "events", "signal"], "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_an_identity_key_refuses_unsigned_requests() {
    let key = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";
    let (status, text) = discovery(&worker(&[key]).await.unwrap()).await;
    assert_eq!(status, 401, "{text}");
    let error = worker(&["publickey"]).await.unwrap_err();
    assert!(error.to_string().starts_with("`publickey` is not the public key of a Restate server"), "{error}");
}

#[tokio::test]
async fn connections_to_a_worker_send_small_messages_at_once() {
    let listener = Worker::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    assert!(listener.accept().await.unwrap().0.nodelay().unwrap());
}
