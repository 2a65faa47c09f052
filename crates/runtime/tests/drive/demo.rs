//! The request of the demo: sell 100 Tesla shares for a trip to Seoul.

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_demo::Demo;
use reknit_engine::{Outcome, Status};
use reknit_expressions::{InputSource, Provenance};
use reknit_mend::Rung;
use reknit_protocol::Value;
use reknit_runtime::DriveOutcome;

use crate::drive::fixture::Fixture;

async fn fixture(demo: &Demo) -> Fixture {
    let tools: Vec<(String, String)> = demo.tools.endpoints();
    Fixture::new(&tools, Some(&demo.model_base_url())).await
}

#[tokio::test]
async fn the_engine_computes_the_amount_from_the_quote_and_the_request() {
    let demo = Demo::start().await.expect("the demo starts");
    let fixture = fixture(&demo).await;
    let ended = fixture.driver().start(fixture.started("r", demo.request, None)).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
    assert_eq!(answer.status, Status::Partial, "{}", answer.text);

    let (run, _) = fixture.restore("r").await;
    let steps = run.steps();
    let convert =
        steps.iter().find(|step| step.capability.as_str() == "convert_currency").expect("the step is planned");
    assert_eq!(convert.parameters.get("amount"), Some(&Value::parse("46828.5").expect("a number")));
    let (_, origin) =
        convert.provenance.iter().find(|(name, _)| name == "amount").expect("the parameter has a provenance");
    let Provenance::Expression { inputs, .. } = origin else { panic!("the amount was not computed: {origin:?}") };
    let literal = inputs.iter().find(|input| matches!(input.source, InputSource::Literal)).expect("the shares");
    assert_eq!(literal.value, Value::from(100));
    let quote = inputs.iter().find(|input| matches!(input.source, InputSource::Reference { .. })).expect("the price");
    assert_eq!(quote.value, Value::parse("468.285").expect("a number"));
    assert!(matches!(run.result(convert.id.as_str()), Some(value) if value.to_string().contains("46828.5")));

    for request in demo.model.requests() {
        assert!(!request.text().contains("46828"), "a model saw the computed number: {}", request.text());
    }
    assert!(demo.model.unmatched().is_empty(), "{:?}", demo.model.unmatched());
}

#[tokio::test]
async fn the_answer_says_what_was_mended_and_what_is_missing() {
    let demo = Demo::start().await.expect("the demo starts");
    let fixture = fixture(&demo).await;
    let DriveOutcome::Finished(answer) =
        fixture.driver().start(fixture.started("r", demo.request, None)).await.expect("the run is driven")
    else {
        panic!("the run waits for a person")
    };
    let rungs: Vec<Rung> = answer.steps.iter().flat_map(|step| step.mends.iter().map(|mend| mend.rung)).collect();
    for rung in [Rung::Schema, Rung::Resend, Rung::Feedback, Rung::Context] {
        assert!(rungs.contains(&rung), "no mend on the rung {rung:?}: {}", answer.text);
    }
    let missing = answer.steps.iter().filter(|step| !matches!(step.outcome, Outcome::Done(_))).count();
    assert!(missing >= 1 && answer.text.contains("Missing:"), "{}", answer.text);
}

#[tokio::test]
async fn the_segmented_driver_returns_the_same_answer() {
    let (one, other) = (Demo::start().await.expect("the demo starts"), Demo::start().await.expect("the demo starts"));
    let (regular, segmented) = (fixture(&one).await, fixture(&other).await);
    let first = regular.driver().start(regular.started("r", one.request, None)).await.expect("the run is driven");
    let second = SegmentedDriver::new(segmented.driver()).start(segmented.started("r", other.request, None)).await;
    let (DriveOutcome::Finished(first), DriveOutcome::Finished(second)) = (first, second.expect("the run is driven"))
    else {
        panic!("the run waits for a person")
    };
    assert_eq!(first.status, second.status);
    assert_eq!(first.text, second.text);
    let (run, _) = segmented.restore("r").await;
    assert!(run.late() > 0, "the segmented driver delivers outcomes twice");
}
