//! How long the gateway waits after a rate limit.

use std::time::{Duration, Instant};

use reknit_models::Provider;

use super::upstream::{Answer, Upstream};
use super::{Gateway, question};

const ANSWER: &str =
    r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"21 degrees"}}]}"#;

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_counts_and_no_limit_that_resets_later() {
    let limited =
        Answer::json(429, r#"{"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}}"#)
            .header("retry-after", "1")
            .header("x-ratelimit-remaining-tokens", "0")
            .header("x-ratelimit-reset-tokens", "6m0s")
            .header("x-ratelimit-remaining-requests", "59")
            .header("x-ratelimit-reset-requests", "1h2m0s");
    let upstream = Upstream::start([limited, Answer::json(200, ANSWER)]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::Compatible).await;
    let begin = Instant::now();
    for _ in 0..2 {
        assert_eq!(gateway.chat(&question()).await.text().await.expect("a body"), ANSWER);
    }
    assert!(begin.elapsed() >= Duration::from_millis(900), "it waited {:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(20), "it waited {:?}", begin.elapsed());
    assert_eq!(upstream.received().len(), 3);
}
