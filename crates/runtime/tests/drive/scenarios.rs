//! Sessions as files: what models do on the wire, and what must come of it. Each file is a test that is named here.

mod stage;

use stage::play;

/// One test for each file, under the name of what must hold.
macro_rules! scenarios {
    ($($name:ident: $file:literal,)*) => {
        $(#[tokio::test]
        async fn $name() {
            play($file).await;
        })*

        #[test]
        fn every_file_is_played_and_there_is_one_for_every_test() {
            let mut played = vec![$($file.to_owned()),*];
            played.sort();
            assert_eq!(stage::files(), played);
        }
    };
}

scenarios! {
    // What must always hold.
    a_turn_never_has_more_attempts_than_allowed: "retry-cap",
    targets_are_asked_round_and_round: "provider-cycling",
    a_wait_that_is_asked_for_is_kept: "backoff-respected",
    a_refused_key_ends_it_at_once_though_others_are_left: "fatal-auth",
    an_empty_account_ends_it_at_once_though_others_are_left: "fatal-quota",
    failed_attempts_leave_no_trace_in_the_conversation: "conversation-integrity",
    in_the_last_turn_there_is_only_the_report: "final-turn",
    // What it does about failures.
    nobody_waits_while_one_path_is_left: "cycle-scoped-waits",
    every_failure_has_its_directive_without_a_word_from_the_provider: "fallback-directives",
    who_stops_it_during_a_wait_waits_no_longer: "wait-stopped",
    who_stops_it_during_a_wait_of_the_last_turn_waits_no_longer: "wait-stopped-in-the-last-turn",
    who_cancels_it_during_a_wait_waits_no_longer: "wait-cancelled",
    the_same_notice_is_given_once: "notices-once",
    the_longest_wait_of_a_round_counts_for_all: "retry-after-harmonized",
    a_connection_that_breaks_is_an_attempt: "network-errors",
    a_model_that_says_nothing_for_too_long_is_an_attempt: "timeout",
    // What an answer can be.
    an_empty_answer_is_not_an_answer_in_words: "empty-and-content-only",
    an_answer_of_reasoning_alone_is_neither: "reasoning-only",
    an_answer_that_is_cut_may_be_longer_once: "truncated",
    a_call_that_cannot_be_read_is_dropped_and_its_siblings_are_made: "malformed-call-with-siblings",
    calls_that_cannot_be_read_at_all_are_asked_for_again: "malformed-calls-alone",
    a_tool_that_there_is_not_is_answered_with_the_nearest: "unknown-tool",
    a_refusal_goes_to_the_next_and_the_one_that_refused_is_left_out: "refusal",
    a_report_that_fails_does_not_hurt_the_calls_that_follow: "error-reset",
    // How it ends.
    a_last_turn_without_a_report_ends_with_one_that_says_why: "final-turn-exhausted",
    words_that_were_kept_are_accepted_in_the_last_turn: "pending-report-from-text",
    a_report_in_a_broken_call_is_accepted_in_the_last_turn: "pending-report-from-tool-message",
    a_report_that_is_tried_shortens_what_is_left: "collapse",
    a_report_without_content_shortens_what_is_left: "collapse-incomplete",
    a_report_must_fit_its_schema_before_it_counts: "report-schema",
    // What models can read.
    a_question_goes_to_the_model_that_can_read_it: "window-larger",
    a_model_that_says_that_it_is_too_long_is_asked_less: "window-learned",
    a_result_that_is_too_long_is_stored_searched_and_read: "result-stored",
    a_window_without_room_for_another_turn_makes_it_the_last: "window-last-turn",
    // What is easily forgotten.
    rounds_of_limits_wait_each_for_themselves: "multi-cycle-limits",
    rounds_of_limits_without_a_word_wait_longer_each_time: "multi-cycle-limits-without-a-word",
    a_round_with_one_that_is_gone_and_one_that_is_limited_goes_on_with_the_third: "partial-availability",
    who_is_gone_does_not_keep_the_others_from_waiting: "partial-availability-wait",
    notices_add_up_within_a_turn_and_are_gone_behind_it: "notices-accumulate",
}
