//! Failed calls of programs with a loop of their own.
#![cfg(test)]

use std::time::Duration;

use reknit::mend::{MendingPolicy, Rung};
use reknit::protocol::SideEffect;
use reknit::{FailedCall, Mender, Mending, ModelScript, Object, Value};

const SCHEMA: &str = r#"{"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
    "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}}}"#;

fn call(parameters: &str, error: &str) -> FailedCall {
    let value = |text| Value::parse(text).expect("JSON");
    let parameters = value(parameters).as_object().expect("an object").clone();
    FailedCall::new("forecast", value(SCHEMA), parameters, error)
}

fn corrected(mending: Mending) -> (Object, Vec<Rung>, Option<String>) {
    let Mending::Corrected(correction) = mending else { panic!("{mending:?}") };
    (correction.parameters, correction.fixes.iter().map(|fix| fix.rung).collect(), correction.approval)
}

async fn mended(mender: &Mender, call: &FailedCall) -> Mending {
    mender.mend(call).await.expect("it can be looked at")
}

#[tokio::test]
async fn parameters_that_do_not_fit_the_schema_are_fitted_without_a_model() {
    let failed = call(r#"{"city": "Seoul", "days": "3"}"#, "bad request");
    let model = ModelScript::new();
    for mender in [Mender::new(), Mender::new().model_client(model.clone())] {
        let mending = mended(&mender, &failed).await;
        let expected = Object::from([("city", "Seoul".into()), ("days", 3.into())]);
        assert_eq!(corrected(mending), (expected, vec![Rung::Schema], None));
    }
    assert!(model.requests().is_empty(), "code is enough");
}

#[tokio::test]
async fn a_fact_in_the_error_corrects_the_call() {
    let failed = call(r#"{"city": "Seul"}"#, r#"{"error": "city must be one of Seoul, Busan"}"#);
    assert_eq!(
        corrected(mended(&Mender::new(), &failed).await),
        (Object::from([("city", "Seoul".into())]), vec![Rung::Facts], None)
    );
}

#[tokio::test]
async fn a_model_is_asked_only_within_the_rungs_and_budgets_that_are_allowed() {
    let failed = || call(r#"{"city": "SEL"}"#, r#"{"error": "unknown city SEL"}"#).context("the weather in Seoul");
    let advice = r#"{"should_retry": true, "suggested_changes": {"city": "Seoul"}, "reason": "SEL is Seoul"}"#;
    let model = ModelScript::new().answer(advice);
    let mender = Mender::new().model_client(model.clone());
    let mending = mended(&mender, &failed()).await;
    assert_eq!(corrected(mending).0, Object::from([("city", "Seoul".into())]));
    assert_eq!(model.requests().len(), 1);

    let rungs = MendingPolicy { feedback: 0, context: 0, ..MendingPolicy::default() };
    for mender in [mender.clone().rungs(rungs), mender.model_calls(0), Mender::new()] {
        let mending = mended(&mender, &failed()).await;
        assert!(matches!(mending, Mending::NotMended { ref reason } if !reason.is_empty()), "{mending:?}");
    }
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_busy_tool_is_called_again_and_a_denied_call_is_not_mended() {
    let busy = call(r#"{"city": "Seoul"}"#, "too many requests").status(429);
    let mending = mended(&Mender::new(), &busy).await;
    assert!(matches!(mending, Mending::SendAgain { after } if after < Duration::from_mins(1)), "{mending:?}");
    let denied = call(r#"{"city": "Seoul"}"#, "forbidden").status(403);
    let mending = mended(&Mender::new(), &denied).await;
    assert!(matches!(mending, Mending::NotMended { .. }), "{mending:?}");
}

#[tokio::test]
async fn an_unsafe_call_that_may_have_happened_is_not_sent_again() {
    let failed = call(r#"{"city": "Seoul"}"#, "bad gateway").status(502).side_effect(SideEffect::Unsafe);
    let mending = mended(&Mender::new(), &failed).await;
    assert!(matches!(mending, Mending::NotMended { ref reason } if reason.contains("may have")), "{mending:?}");
}
