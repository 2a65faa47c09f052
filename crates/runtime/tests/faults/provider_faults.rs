//! Sixteen faults of a provider. In each case the client returns a complete answer or a clear error.

use std::time::Duration;

use reknit_model_api::{ErrorClass, GiveUpReason, UsageSource};
use reknit_models::Provider;
use tokio::time::Instant;

use crate::scene::{Mode, Observed, Scene, Transfer};
use reknit_fakes::paced;

const SECOND: Duration = Duration::from_secs(1);
/// One provider in every mode, the others in the default one.
const ALL: [Transfer; 6] = [
    (Provider::Compatible, Mode::NotStreamed),
    (Provider::Compatible, Mode::Buffered),
    (Provider::Compatible, Mode::Live),
    (Provider::OpenAiResponses, Mode::Live),
    (Provider::Anthropic, Mode::Live),
    (Provider::Gemini, Mode::Live),
];
/// Those with streaming.
const STREAMED: &[Transfer] = ALL.split_at(1).1;

/// Plays a fault with one request for each transfer, and checks the outcome.
fn play(name: &str, transfers: &[Transfer], check: impl Fn(&Scene, &Observed)) {
    for transfer in transfers {
        paced(async {
            let scene = Scene::fault(name, *transfer).await;
            let observed = scene.ask().await;
            if transfer.1 != Mode::Live {
                assert!(observed.starts.len() == 1 && observed.text_items <= 1, "{observed:?}");
            }
            check(&scene, &observed);
        });
    }
}

fn count_within(times: &[Duration], time: Duration) -> usize {
    times.iter().filter(|at| **at <= times[0] + time).count()
}

/// Checks that a streamed answer started over.
fn assert_restarted(observed: &Observed) {
    if observed.text_items > 1 {
        assert_eq!(observed.starts.len(), 2, "{observed:?}");
        assert!(observed.starts[0].starts_with("p01..."), "{observed:?}");
    }
}

#[test]
fn fault_1_a_short_rate_limit_is_waited_for() {
    play("rate-limited-once", &ALL, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("fallback")), ("primary", 0));
        let times = scene.times("primary");
        assert_eq!((times.len(), count_within(&times, SECOND * 3 / 2)), (2, 1));
        assert!(times[1] >= times[0] + Duration::from_millis(1_800), "{times:?}");
    });
}

#[test]
fn fault_2_an_endless_rate_limit_fails_over() {
    play("rate-limited-for-ever", &ALL, |scene, observed| {
        let times = scene.times("primary");
        assert!(count_within(&times, SECOND * 3) <= 4 && times.len() <= 6, "{times:?}");
        assert_eq!((observed.answered_by(), scene.count("fallback")), ("fallback", 1));
    });
}

#[test]
fn fault_3_a_server_error_is_retried() {
    play("broken-once", &ALL, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("primary", 2, 0));
    });
}

#[test]
fn fault_4_an_unavailable_server_fails_over() {
    play("unavailable", &ALL, |scene, observed| {
        assert!(scene.count("primary") <= 6);
        assert_eq!((observed.answered_by(), scene.count("fallback")), ("fallback", 1));
    });
}

#[test]
fn fault_5_a_connection_reset_before_the_response_is_retried() {
    play("reset-once", &ALL, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary")), ("primary", 2));
    });
}

#[test]
fn fault_6_a_silent_server_fails_over_after_its_timeout() {
    // The timeout of an answer that is not streamed is much longer, because its first byte comes last.
    for (transfers, limit) in [(STREAMED, SECOND * 12), (&ALL[..1], SECOND * 120)] {
        play("silent", transfers, |scene, observed| {
            assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
            assert!(observed.took >= limit && observed.took <= limit + SECOND * 2, "{:?}", observed.took);
        });
    }
}

#[test]
fn fault_7_a_late_first_token_fails_over() {
    play("slow-first-token", STREAMED, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary")), ("fallback", 1));
        assert!(observed.took <= SECOND * 15, "{:?}", observed.took);
    });
}

#[test]
fn fault_8_the_fallback_answers_in_full_after_a_cut_stream() {
    play("cut-stream", STREAMED, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
        assert_restarted(observed);
        assert!(!observed.served().failed[0].failure.partial.is_empty(), "the partial answer is kept");
    });
}

#[test]
fn fault_9_a_stalled_stream_fails_over_and_the_primary_answers_the_next_request() {
    for transfer in STREAMED {
        paced(async {
            let scene = Scene::fault("stalled-stream", *transfer).await;
            let observed = scene.ask().await;
            assert!(observed.took <= SECOND * 45, "{:?}", observed.took);
            assert_eq!((observed.answered_by(), scene.count("primary")), ("fallback", 1));
            assert_restarted(&observed);
            assert_eq!(scene.ask().await.answered_by(), "primary");
        });
    }
}

#[test]
fn fault_10_a_malformed_event_is_skipped_and_counted() {
    play("malformed-event", STREAMED, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("primary", 1, 0));
        assert_eq!(observed.served().answer.skipped_events, 1);
    });
}

#[test]
fn fault_11_a_stream_without_a_terminator_is_complete_and_its_usage_is_reported() {
    play("no-terminator", STREAMED, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("primary", 1, 0));
        assert!(observed.took <= SECOND * 8, "{:?}", observed.took);
        let usage = observed.served().answer.usage;
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.source), (11, 60, UsageSource::Reported));
    });
}

#[test]
fn fault_12_a_request_that_exceeds_the_context_window_fails_over() {
    play("context-length", &ALL, |scene, observed| {
        assert_eq!((observed.answered_by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
    });
}

#[test]
fn fault_13_a_content_filter_ends_the_request_with_the_reason_of_the_provider() {
    play("content-filter", &ALL, |scene, observed| {
        assert_eq!((scene.count("primary"), scene.count("fallback"), observed.text_items), (1, 0, 0));
        let error = observed.error();
        assert_eq!(error.reason, GiveUpReason::Fatal(ErrorClass::ContentFilter));
        let message = error.to_string();
        assert!(message.starts_with("refused by a content filter"), "{message}");
        let reason = "Your request was rejected by our safety system.; no further attempt after content_filter";
        assert!(message.ends_with(reason), "{message}");
    });
}

#[test]
fn fault_14_a_cut_stream_is_started_over_and_not_continued() {
    play("cut-stream-without-prefill", STREAMED, |scene, observed| {
        // `count` checks that no request ends with a message of the assistant.
        assert_eq!((observed.answered_by(), scene.count("fallback")), ("fallback", 1));
        assert_restarted(observed);
    });
}

#[test]
fn fault_15_a_recovered_server_is_used_again_soon_and_was_probed_rarely() {
    // In real time each of these takes more than a minute.
    for transfer in [ALL[0], ALL[2], ALL[4]] {
        paced(async {
            let scene = Scene::fault("down-for-a-minute", transfer).await;
            let started = Instant::now();
            let mut back = None;
            for number in 0..20 {
                tokio::time::sleep_until(started + SECOND * 4 * number).await;
                let observed = scene.ask().await;
                if observed.answered_by() == "primary" {
                    back.get_or_insert(started.elapsed());
                } else {
                    assert_eq!(back, None, "the primary stays in use");
                }
                assert!(observed.took < SECOND * 3, "{:?}", observed.took);
            }
            let back = back.expect("the primary is asked again");
            assert!(back >= SECOND * 60 && back <= SECOND * 90, "{back:?}");
            let probes = scene.times("primary").iter().filter(|at| **at < SECOND * 60).count();
            assert!(probes <= 6, "{:?}", scene.times("primary"));
        });
    }
}

#[test]
fn fault_16_the_reported_model_and_usage_are_those_of_the_served_attempt() {
    play("unavailable-and-billed", &ALL, |_, observed| {
        let (answer, failed) = (&observed.served().answer, &observed.served().failed);
        assert_eq!((observed.answered_by(), answer.model.as_str()), ("fallback", "fallback-model"));
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (12, 61));
        assert!(!failed.is_empty() && failed.iter().all(|attempt| attempt.failure.usage.is_none()), "{failed:?}");
    });
}
