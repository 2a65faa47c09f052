//! Sessions in files: the replies of the models, and the expected outcome. Each file is a test, which is named here.

mod player;

use player::play;

/// Defines a test for each file.
macro_rules! session_files {
    ($($name:ident: $file:literal,)*) => {
        $(#[tokio::test]
        async fn $name() {
            play($file).await;
        })*

        #[test]
        fn every_file_has_a_test() {
            let mut played = vec![$($file.to_owned()),*];
            played.sort();
            assert_eq!(player::files(), played);
        }
    };
}

session_files! {
    // Invariants.
    a_turn_never_has_more_attempts_than_allowed: "retry-cap",
    targets_are_asked_in_turn: "provider-cycling",
    a_requested_wait_is_respected: "backoff-respected",
    a_rejected_api_key_ends_the_session_although_other_targets_are_left: "fatal-auth",
    an_exceeded_quota_ends_the_session_although_other_targets_are_left: "fatal-quota",
    failed_attempts_leave_no_trace_in_the_conversation: "conversation-integrity",
    the_last_turn_offers_only_the_report: "final-turn",
    // Failures, retries and waits.
    the_session_does_not_wait_while_one_target_is_not_rate_limited: "cycle-scoped-waits",
    every_failure_has_a_directive_without_advice_from_the_provider: "fallback-directives",
    a_stop_ends_a_wait: "wait-stopped",
    a_stop_ends_a_wait_in_the_last_turn: "wait-stopped-in-the-last-turn",
    a_cancellation_ends_a_wait: "wait-cancelled",
    the_same_notice_is_given_once: "notices-once",
    the_session_waits_as_long_as_the_longest_wait_of_a_round: "retry-after-harmonized",
    a_session_waits_for_a_model_that_cools_down_beside_one_that_fails: "wait-beside-a-broken-model",
    a_session_waits_once_for_a_rate_limit_after_an_exhausted_turn: "one-wait-after-an-exhausted-turn",
    a_model_is_asked_after_the_longest_wait_although_it_cools_down: "longest-wait-below-retry-after",
    a_session_waits_as_long_as_unavailable_models_ask: "unavailable-with-retry-after",
    a_broken_connection_counts_as_an_attempt: "network-errors",
    a_timeout_counts_as_an_attempt: "timeout",
    // Kinds of answers.
    an_empty_answer_and_a_text_answer_get_different_notices: "empty-and-content-only",
    an_answer_with_only_reasoning_is_asked_for_again: "reasoning-only",
    a_truncated_answer_raises_the_token_limit_once: "truncated",
    a_malformed_call_is_dropped_and_the_other_calls_are_made: "malformed-call-with-siblings",
    malformed_calls_alone_are_asked_for_again: "malformed-calls-alone",
    an_unknown_tool_gets_the_nearest_name_as_a_hint: "unknown-tool",
    a_target_that_refuses_is_skipped_for_the_rest_of_the_turn: "refusal",
    a_rejected_report_does_not_affect_later_calls: "error-reset",
    // Endings.
    a_last_turn_without_a_report_ends_with_a_report_that_says_why: "final-turn-exhausted",
    the_text_of_an_answer_is_accepted_as_report_in_the_last_turn: "pending-report-from-text",
    the_text_of_a_malformed_report_call_is_accepted_in_the_last_turn: "pending-report-from-tool-message",
    a_rejected_report_collapses_the_remaining_turns: "collapse",
    a_report_without_content_collapses_the_remaining_turns: "collapse-incomplete",
    a_report_is_accepted_only_if_it_fits_its_schema: "report-schema",
    // Context windows.
    a_request_goes_to_a_model_with_a_large_enough_window: "window-larger",
    a_request_that_is_too_long_for_the_model_is_shortened: "window-learned",
    a_result_that_is_too_long_is_stored_and_can_be_searched_and_read: "result-stored",
    a_call_that_an_answer_has_twice_is_made_once: "call-made-twice",
    a_window_without_room_for_another_turn_makes_the_turn_the_last: "window-last-turn",
    // Combinations.
    each_round_of_rate_limits_waits_for_its_own_longest_wait: "multi-cycle-limits",
    rounds_of_rate_limits_without_retry_after_wait_longer_each_time: "multi-cycle-limits-without-retry-after",
    an_unknown_model_and_a_rate_limited_one_leave_the_third_target: "partial-availability",
    an_unknown_model_does_not_prevent_a_wait_for_the_rate_limited_ones: "partial-availability-wait",
    notices_accumulate_within_a_turn_and_are_dropped_after_it: "notices-accumulate",
}
