//! Tools that work on a job after they have answered.

use reknit_engine::{Effect, EventKind, Outcome, Policy, Question, Run, Status, StepState};
use reknit_mend::{Fate, PeoplePolicy};
use reknit_protocol::{Delivery, JobRequest, SideEffect, ToolJob, ToolReply, TransportFailure, TransportKind};

use crate::world::{Play, effect_id, failure_reason, plan, policy, question, reply, started, step};

const STATUS_URL: &str = "http://t/jobs/7";

fn job_reply(job: ToolJob, retry_after_ms: Option<u64>) -> ToolReply {
    ToolReply { retry_after_ms, job: Some(job), ..reply(202, "{}") }
}

fn running(retry_after_ms: Option<u64>) -> ToolReply {
    job_reply(ToolJob::Ask { handle: STATUS_URL.to_owned() }, retry_after_ms)
}

fn answer(play: &mut Play, effect: &str, reply: ToolReply) {
    play.happen(EventKind::ToolAnswered { effect: effect_id(effect), reply });
}

fn fail(play: &mut Play, effect: &str) {
    let failure = TransportFailure {
        kind: TransportKind::Refused,
        delivery: Delivery::NotSent,
        message: "`t` cannot be reached".to_owned(),
    };
    play.happen(EventKind::ToolFailed { effect: effect_id(effect), failure });
}

/// A run whose call has started a job.
fn waiting(class: &str) -> Play {
    waiting_with(class, policy())
}

fn waiting_with(class: &str, policy: Policy) -> Play {
    let steps = vec![step("s", class, "{}"), step("after", "read", r#"{"id": "{{s.id}}"}"#)];
    let mut play = Play::begin(started(Some(plan(steps)), policy));
    answer(&mut play, "s/call/1", running(None));
    play
}

fn state(play: &Play) -> StepState {
    play.run.step("s").expect("the step").1.state
}

#[test]
fn the_state_of_a_job_is_asked_for_with_growing_waits_and_its_result_is_that_of_the_call() {
    let mut play = waiting("unsafe");
    let mut waits = Vec::new();
    for number in 1..=9 {
        let wait = format!("s/job-wait/{number}");
        assert_eq!(play.due(), [wait.as_str()]);
        let since_ms = play.now_ms;
        play.wake(&wait);
        waits.push((play.now_ms - since_ms) / 1_000);
        let ask = play.call(&format!("s/job/{number}"));
        assert_eq!(ask.job, Some(JobRequest::Ask(STATUS_URL.to_owned())));
        assert_eq!((ask.side_effect, ask.needs_claim(), ask.idempotency_key), (SideEffect::Read, false, None));
        if number < 9 {
            answer(&mut play, &format!("s/job/{number}"), running(None));
        }
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert!(matches!(state(&play), StepState::AwaitingJob { since_ms: 1_000, asked: 9, problem: None }));
    answer(&mut play, "s/job/9", reply(200, r#"{"id": 9}"#));
    assert_eq!(play.call("after/call/1").parameters.to_string(), r#"{"id":9}"#);
    play.answer_tool("after/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls, answer.spent.tool_calls), (Status::Complete, 1, 2));
}

#[test]
fn a_tool_says_when_to_ask_but_not_so_often_that_a_long_job_becomes_thousands_of_questions() {
    let mut play = waiting("read");
    play.wake("s/job-wait/1");
    answer(&mut play, "s/job/1", running(Some(300_000)));
    let since_ms = play.now_ms;
    play.wake("s/job-wait/2");
    assert_eq!(play.now_ms - since_ms, 300_000);
    answer(&mut play, "s/job/2", running(Some(0)));
    let since_ms = play.now_ms;
    play.wake("s/job-wait/3");
    assert_eq!(play.now_ms - since_ms, 301_000 / 60);
}

#[test]
fn the_time_of_a_job_is_neither_active_time_nor_time_of_the_step() {
    let mut policy = policy();
    policy.limits.active_ms = Some(5_000);
    policy.limits.step_ms = Some(5_000);
    let mut play = waiting_with("read", policy);
    assert!(play.run.is_idle() && !play.run.is_waiting_for_person());
    assert!(
        !play
            .run
            .pending()
            .iter()
            .any(|effect| matches!(effect, Effect::Sleep { id, .. } if id.to_string().contains("deadline")))
    );
    play.wake("s/job-wait/1");
    play.now_ms += 3_600_000;
    assert_eq!(play.call("s/job/1").timeout_ms, 30_000, "a question has the time of a call");
    // Another process takes over in between.
    play.happen(EventKind::Resumed);
    play.answer_tool("s/job/1", 503, "{}");
    play.wake("s/retry-wait/1");
    assert_eq!(play.due(), ["s/call/2"], "the step has time left");
}

#[test]
fn a_failed_job_is_treated_like_a_failed_call() {
    let mut play = waiting("unsafe");
    play.wake("s/job-wait/1");
    play.answer_tool("s/job/1", 500, r#"{"error": {"code": "OUT_OF_PAPER", "message": "no paper"}}"#);
    let Question::SendAgain { call, error, .. } = question(&play).question else { panic!("another question") };
    assert!(call.job.is_none() && call.id.to_string() == "s/call/1");
    assert_eq!(error, "500 OUT_OF_PAPER: no paper");

    let mut play = waiting("keyed");
    play.wake("s/job-wait/1");
    play.answer_tool("s/job/1", 422, r#"{"error": {"code": "BAD", "message": "amount must be positive"}}"#);
    assert_eq!(play.due(), ["s/feedback/1"], "a model may correct the call");
}

#[test]
fn a_state_that_cannot_be_asked_for_never_leads_to_another_call() {
    let mut play = waiting("keyed");
    for number in 1..=5 {
        play.wake(&format!("s/job-wait/{number}"));
        if number == 3 {
            answer(&mut play, "s/job/3", ToolReply { status: 503, ..running(Some(2_000)) });
        } else {
            fail(&mut play, &format!("s/job/{number}"));
        }
        let StepState::AwaitingJob { asked, problem, .. } = state(&play) else { panic!("it waits") };
        assert_eq!(asked, number);
        let expected = if number == 3 { "the tool answered with status 503" } else { "`t` cannot be reached" };
        assert_eq!(problem.as_deref(), Some(expected));
    }
    assert_eq!(play.due(), ["s/job-wait/6"]);
    play.wake("s/job-wait/6");
    let until_ms = play.now_ms + 20_000;
    play.happen(EventKind::BreakerOpen {
        effect: effect_id("s/job/6"),
        until_ms,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    play.wake("s/job-wait/7");
    assert_eq!(play.now_ms, until_ms);
}

#[test]
fn what_follows_from_a_job_that_the_tool_has_forgotten_depends_on_the_side_effect() {
    for (class, due) in [("read", "s/retry-wait/1"), ("keyed", "s/retry-wait/1"), ("unsafe", "s/approval/1")] {
        let mut play = waiting(class);
        play.wake("s/job-wait/1");
        answer(&mut play, "s/job/1", job_reply(ToolJob::Lost { reason: "no such job".to_owned() }, None));
        assert_eq!(play.due()[0], due, "{class}");
    }
    let mut play = waiting("keyed");
    let key = play.run.pending();
    drop(key);
    play.wake("s/job-wait/1");
    answer(&mut play, "s/job/1", job_reply(ToolJob::Lost { reason: "no such job".to_owned() }, None));
    play.wake("s/retry-wait/1");
    answer(&mut play, "s/call/2", running(None));
    assert_eq!(play.due(), ["s/job-wait/2"], "ids are not used twice");
}

#[test]
fn a_job_has_a_time_limit_after_which_a_person_decides_or_the_step_fails() {
    let mut limited = policy();
    limited.limits.job_ms = 10_000;
    for class in ["keyed", "unsafe"] {
        let mut play = waiting_with(class, limited.clone());
        for number in 1..=4 {
            play.wake(&format!("s/job-wait/{number}"));
            answer(&mut play, &format!("s/job/{number}"), running(None));
        }
        assert_eq!(play.now_ms, 11_000, "{class}: the tool is asked a last time when the time is over");
        let message = "202 JOB_UNFINISHED: its job did not end within 10 s (`job-time` in `[limits]`); the tool was asked 4 times";
        if class == "unsafe" {
            let Question::SendAgain { error, .. } = question(&play).question else { panic!("another question") };
            assert_eq!(error, message);
        } else {
            let outcome = &play.run.answer().expect("the run has ended").steps[0].outcome;
            let reason = format!("{message}; the job may still end, so the call is not sent again");
            assert_eq!(*outcome, Outcome::Failed { reason, fate: Fate::Unknown });
        }
    }
    let mut play = waiting_with("keyed", limited);
    for number in 1..=4 {
        play.wake(&format!("s/job-wait/{number}"));
        fail(&mut play, &format!("s/job/{number}"));
    }
    let Outcome::Failed { reason, .. } = &play.run.answer().expect("the run has ended").steps[0].outcome else {
        panic!("it failed")
    };
    assert!(reason.contains("at last in vain: `t` cannot be reached"), "{reason}");
}

#[test]
fn a_tool_that_calls_back_is_not_asked_and_its_message_ends_the_wait() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    answer(&mut play, "s/call/1", job_reply(ToolJob::CallsBack, None));
    assert_eq!(play.due(), ["s/job-wait/1"]);
    play.now_ms += 3_600_000;
    answer(&mut play, "s/call/1", reply(200, r#"{"id": 9}"#));
    let ended = play.run.answer().expect("the run has ended");
    assert_eq!((ended.status, ended.steps[0].calls), (Status::Complete, 1));
    answer(&mut play, "s/call/1", reply(200, r#"{"id": 10}"#));
    assert_eq!(play.run.late(), 1, "a second message changes nothing");

    let mut play = Play::of_steps(vec![step("s", "keyed", "{}")]);
    answer(&mut play, "s/call/1", job_reply(ToolJob::CallsBack, None));
    let since_ms = play.now_ms;
    play.wake("s/job-wait/1");
    assert_eq!((play.now_ms - since_ms).unsigned_abs(), policy().limits.job_ms);
    assert!(failure_reason(&play).contains("the tool did not call back"), "{}", failure_reason(&play));
}

#[test]
fn a_message_of_the_tool_ends_the_wait_early() {
    for asking in [false, true] {
        let mut play = waiting("unsafe");
        if asking {
            play.wake("s/job-wait/1");
        }
        answer(&mut play, "s/call/1", reply(200, r#"{"id": 9}"#));
        assert_eq!(play.due(), ["after/call/1"]);
    }
}

#[test]
fn a_job_that_must_not_be_followed_is_not_taken_for_a_result() {
    let reason = "its status URL is at another host".to_owned();
    let mut play = Play::of_steps(vec![step("s", "keyed", "{}")]);
    answer(&mut play, "s/call/1", job_reply(ToolJob::NotFollowed { reason }, None));
    assert!(failure_reason(&play).contains("its status URL is at another host"), "{}", failure_reason(&play));
    assert_eq!(play.run.answer().expect("the run has ended").steps[0].calls, 1);
}

#[test]
fn a_cancelled_run_says_that_its_job_may_still_finish() {
    let cancelled = |asking: bool| {
        let mut play = waiting("unsafe");
        if asking {
            play.wake("s/job-wait/1");
        }
        play.happen(EventKind::Cancelled);
        play
    };
    for asking in [false, true] {
        let mut play = cancelled(asking);
        let due = if asking { "s/job/2" } else { "s/job/1" };
        assert_eq!(play.due(), [due]);
        assert_eq!(play.call(due).job, Some(JobRequest::Cancel(STATUS_URL.to_owned())));
        fail(&mut play, due);
        let ended = play.run.answer().expect("the run has ended");
        let Outcome::Failed { reason, fate } = &ended.steps[0].outcome else { panic!("it failed") };
        assert_eq!((ended.status, *fate), (Status::Cancelled, Fate::Unknown));
        assert!(reason.contains("the job may still finish: `t` cannot be reached"), "{reason}");
        assert!(reason.ends_with("the run was cancelled"), "{reason}");
    }
    let mut play = cancelled(false);
    answer(&mut play, "s/job/1", reply(200, "{}"));
    let Outcome::Failed { reason, .. } = &play.run.answer().expect("the run has ended").steps[0].outcome else {
        panic!("it failed")
    };
    assert!(reason.contains("was told to cancel the job"), "{reason}");
}

#[test]
fn a_job_that_starts_while_the_run_stops_is_cancelled() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", "{}")]);
    play.happen(EventKind::Cancelled);
    answer(&mut play, "s/call/1", running(None));
    assert_eq!(play.call("s/job/1").job, Some(JobRequest::Cancel(STATUS_URL.to_owned())));
}

#[test]
fn nobody_who_can_be_asked_ends_the_step_of_a_lost_job() {
    let mut play = waiting_with("unsafe", Policy { people: PeoplePolicy::Nobody, ..policy() });
    play.wake("s/job-wait/1");
    answer(&mut play, "s/job/1", job_reply(ToolJob::Lost { reason: "no such job".to_owned() }, None));
    let outcome = &play.run.answer().expect("the run has ended").steps[0].outcome;
    assert!(matches!(outcome, Outcome::Failed { fate: Fate::Unknown, .. }), "{outcome:?}");
}

#[test]
fn a_run_that_waits_for_a_job_is_restored_from_its_snapshot() {
    let mut play = waiting("unsafe");
    play.wake("s/job-wait/1");
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it is restored");
    assert_eq!(restored.pending(), play.run.pending());
    assert!(restored.is_idle());
}
