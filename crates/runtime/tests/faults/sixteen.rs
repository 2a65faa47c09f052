//! The sixteen faults: whoever asks gets the whole answer, or a clean error, whatever the first model does.

use std::time::Duration;

use reknit_dialogue::{ErrorClass, GiveUp, UsageSource};
use reknit_models::Provider;
use tokio::time::Instant;

use crate::pace::paced;
use crate::scene::{Mode, Scene, Seen, Way};

const SECOND: Duration = Duration::from_secs(1);
/// One provider in every way, the others in the usual one.
const ALL: [Way; 6] = [
    (Provider::Compatible, Mode::Whole),
    (Provider::Compatible, Mode::Hold),
    (Provider::Compatible, Mode::Live),
    (Provider::OpenAiResponses, Mode::Live),
    (Provider::Anthropic, Mode::Live),
    (Provider::Gemini, Mode::Live),
];
/// Those in which an answer comes in pieces.
const STREAMS: &[Way] = ALL.split_at(1).1;

/// Asks once, in every way, and looks at what came of it and at how often each model was asked.
fn once(name: &str, ways: &[Way], look: impl Fn(&Scene, &Seen)) {
    for way in ways {
        paced(async {
            let scene = Scene::fault(name, *way).await;
            let seen = scene.ask().await;
            if way.1 != Mode::Live {
                assert!(seen.starts.len() == 1 && seen.pieces <= 1, "{seen:?}");
            }
            look(&scene, &seen);
        });
    }
}

fn within(times: &[Duration], time: Duration) -> usize {
    times.iter().filter(|at| **at <= times[0] + time).count()
}

/// The answer begins again, and what came before is marked as void.
fn restarted_if_live(mode_seen: &Seen) {
    if mode_seen.pieces > 1 {
        assert_eq!(mode_seen.starts.len(), 2, "{mode_seen:?}");
        assert!(mode_seen.starts[0].starts_with("p01..."), "{mode_seen:?}");
    }
}

#[test]
fn fault_1_a_rate_limit_with_a_short_wait_is_waited_out() {
    once("rate-limited-once", &ALL, |scene, seen| {
        assert_eq!((seen.by(), scene.count("fallback")), ("primary", 0));
        let times = scene.times("primary");
        assert_eq!((times.len(), within(&times, SECOND * 3 / 2)), (2, 1));
        assert!(times[1] >= times[0] + Duration::from_millis(1_800), "{times:?}");
    });
}

#[test]
fn fault_2_a_rate_limit_without_end_hands_over() {
    once("rate-limited-for-ever", &ALL, |scene, seen| {
        let times = scene.times("primary");
        assert!(within(&times, SECOND * 3) <= 4 && times.len() <= 6, "{times:?}");
        assert_eq!((seen.by(), scene.count("fallback")), ("fallback", 1));
    });
}

#[test]
fn fault_3_a_server_that_breaks_once_is_asked_again() {
    once("broken-once", &ALL, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("primary", 2, 0));
    });
}

#[test]
fn fault_4_a_server_that_is_down_hands_over() {
    once("unavailable", &ALL, |scene, seen| {
        assert!(scene.count("primary") <= 6);
        assert_eq!((seen.by(), scene.count("fallback")), ("fallback", 1));
    });
}

#[test]
fn fault_5_a_reset_before_the_head_is_answered() {
    once("reset-once", &ALL, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary")), ("primary", 2));
    });
}

#[test]
fn fault_6_a_silent_server_is_asked_once_and_no_longer_waited_for_than_its_limit() {
    // An answer that comes in one piece is silent until it is there, and so it is waited for much longer.
    for (ways, limit) in [(STREAMS, SECOND * 12), (&ALL[..1], SECOND * 120)] {
        once("silent", ways, |scene, seen| {
            assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
            assert!(seen.took >= limit && seen.took <= limit + SECOND * 2, "{:?}", seen.took);
        });
    }
}

#[test]
fn fault_7_a_late_first_token_hands_over() {
    once("slow-first-token", STREAMS, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary")), ("fallback", 1));
        assert!(seen.took <= SECOND * 15, "{:?}", seen.took);
    });
}

#[test]
fn fault_8_a_stream_that_breaks_is_answered_in_full_by_the_fallback() {
    once("cut-stream", STREAMS, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
        restarted_if_live(seen);
        assert!(!seen.asked().failed[0].failure.partial.is_empty(), "what had come is kept");
    });
}

#[test]
fn fault_9_a_stalled_stream_is_noticed_and_the_next_question_is_answered_by_the_first() {
    for way in STREAMS {
        paced(async {
            let scene = Scene::fault("stalled-stream", *way).await;
            let seen = scene.ask().await;
            assert!(seen.took <= SECOND * 45, "{:?}", seen.took);
            assert_eq!((seen.by(), scene.count("primary")), ("fallback", 1));
            restarted_if_live(&seen);
            assert_eq!(scene.ask().await.by(), "primary");
        });
    }
}

#[test]
fn fault_10_an_event_that_cannot_be_read_is_skipped_and_counted() {
    once("malformed-event", STREAMS, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("primary", 1, 0));
        assert_eq!(seen.asked().answer.skipped_events, 1);
    });
}

#[test]
fn fault_11_a_stream_without_a_terminator_is_whole_and_its_usage_is_reported() {
    once("no-terminator", STREAMS, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("primary", 1, 0));
        assert!(seen.took <= SECOND * 8, "{:?}", seen.took);
        let usage = seen.asked().answer.usage;
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.source), (11, 60, UsageSource::Reported));
    });
}

#[test]
fn fault_12_a_question_that_is_too_long_goes_on_to_a_larger_model() {
    once("context-length", &ALL, |scene, seen| {
        assert_eq!((seen.by(), scene.count("primary"), scene.count("fallback")), ("fallback", 1, 1));
    });
}

#[test]
fn fault_13_a_refusal_for_the_content_ends_with_the_reason_of_the_provider() {
    once("content-filter", &ALL, |scene, seen| {
        assert_eq!((scene.count("primary"), scene.count("fallback"), seen.pieces), (1, 0, 0));
        let error = seen.unanswered();
        assert_eq!(error.reason, GiveUp::Fatal(ErrorClass::ContentFilter));
        let words = error.to_string();
        assert!(words.starts_with("refused for its content"), "{words}");
        let reason = "Your request was rejected by our safety system.; no further attempt after content_filter";
        assert!(words.ends_with(reason), "{words}");
    });
}

#[test]
fn fault_14_a_broken_stream_is_begun_anew_and_not_continued() {
    once("cut-stream-without-prefill", STREAMS, |scene, seen| {
        // That no question ends with words of the assistant is checked with every count.
        assert_eq!((seen.by(), scene.count("fallback")), ("fallback", 1));
        restarted_if_live(seen);
    });
}

#[test]
fn fault_15_a_server_that_was_down_is_soon_the_first_again_and_was_hardly_asked_meanwhile() {
    // On the wall this takes more than a minute for each.
    for way in [ALL[0], ALL[2], ALL[4]] {
        paced(async {
            let scene = Scene::fault("down-for-a-minute", way).await;
            let began = Instant::now();
            let mut back = None;
            for number in 0..20 {
                tokio::time::sleep_until(began + SECOND * 4 * number).await;
                let seen = scene.ask().await;
                if seen.by() == "primary" {
                    back.get_or_insert(began.elapsed());
                } else {
                    assert_eq!(back, None, "once it is back it stays");
                }
                assert!(seen.took < SECOND * 3, "{:?}", seen.took);
            }
            let back = back.expect("the first is asked again");
            assert!(back >= SECOND * 60 && back <= SECOND * 90, "{back:?}");
            let probes = scene.times("primary").iter().filter(|at| **at < SECOND * 60).count();
            assert!(probes <= 6, "{:?}", scene.times("primary"));
        });
    }
}

#[test]
fn fault_16_the_reported_model_and_usage_are_those_of_the_served_attempt() {
    once("unavailable-and-billed", &ALL, |_, seen| {
        let (answer, failed) = (&seen.asked().answer, &seen.asked().failed);
        assert_eq!((seen.by(), answer.model.as_str()), ("fallback", "fallback-model"));
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (12, 61));
        assert!(!failed.is_empty() && failed.iter().all(|attempt| attempt.failure.usage.is_none()), "{failed:?}");
    });
}
