//! Tests of the run machine. Each test applies the events itself: there is no clock, no network and no fixed order.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod agent_steps;
mod approval_rules;
mod approvals;
mod attachments;
mod breakers;
mod business_keys;
mod cancellation_and_limits;
mod client_reads;
mod confirmation;
mod context_rung;
mod corrections;
mod cost_limit;
mod deadlines;
mod decision_tables;
mod doubtful_values;
mod dropped_filters;
mod errors_in_success;
mod facts_rung;
mod failed_calls;
mod feedback_rung;
mod gate;
mod history;
mod hostile_worlds;
mod invariants;
mod jobs;
mod learned_rules;
mod loop_approvals;
mod loops;
mod many_worlds;
mod metadata;
mod plan_checks;
mod plan_files;
mod plan_properties;
mod plan_regressions;
mod planner;
mod planner_controls;
mod polling;
mod prompts;
mod properties;
mod random_worlds;
mod replanning;
mod request_to_answer;
mod resolution_rung;
mod retry;
mod settled_outcomes;
mod step_controls;
mod structured_errors;
mod sub_plans;
mod tolerated_plans;
mod ungrounded_numbers;
mod untrusted_text;
mod world;
