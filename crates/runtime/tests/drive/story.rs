//! The story: sell 100 Tesla shares for a trip to Seoul. What counts is what the journal says.

use reknit_bind::{InputSource, Provenance};
use reknit_demo::Demo;
use reknit_engine::{Outcome, Status};
use reknit_mend::Rung;
use reknit_protocol::Value;
use reknit_runtime::{Ended, Segments};

use crate::world::World;

async fn world(demo: &Demo) -> World {
    let tools: Vec<(String, String)> = demo.tools.endpoints();
    World::new(&tools, Some(&demo.model_base_url())).await
}

#[tokio::test]
async fn the_amount_is_computed_by_us_from_the_quote_and_the_request() {
    let demo = Demo::start().await.expect("the demo starts");
    let world = world(&demo).await;
    let ended = world.driver().start(world.started("r", demo.request, None)).await.expect("it is driven");
    let Ended::Finished(answer) = ended else { panic!("nobody is to be asked") };
    assert_eq!(answer.status, Status::Partial, "{}", answer.text);

    let (run, _) = world.read_back("r").await;
    let steps = run.steps();
    let convert = steps.iter().find(|step| step.capability.as_str() == "convert_currency").expect("it is planned");
    assert_eq!(convert.parameters.get("amount"), Some(&Value::parse("46828.5").expect("a number")));
    let (_, origin) = convert.provenance.iter().find(|(name, _)| name == "amount").expect("it comes from somewhere");
    let Provenance::Expression { inputs, .. } = origin else { panic!("it was not computed: {origin:?}") };
    let literal = inputs.iter().find(|input| matches!(input.source, InputSource::Literal)).expect("the shares");
    assert_eq!(literal.value, Value::from(100));
    let quote = inputs.iter().find(|input| matches!(input.source, InputSource::Reference { .. })).expect("the price");
    assert_eq!(quote.value, Value::parse("468.285").expect("a number"));
    assert!(matches!(run.result(convert.id.as_str()), Some(value) if value.to_string().contains("46828.5")));

    for request in demo.model.requests() {
        assert!(!request.text().contains("46828"), "a model was told the number: {}", request.text());
    }
    assert!(demo.model.unmatched().is_empty(), "{:?}", demo.model.unmatched());
}

#[tokio::test]
async fn the_answer_says_what_was_mended_and_what_is_missing() {
    let demo = Demo::start().await.expect("the demo starts");
    let world = world(&demo).await;
    let Ended::Finished(answer) =
        world.driver().start(world.started("r", demo.request, None)).await.expect("it is driven")
    else {
        panic!("nobody is to be asked")
    };
    let rungs: Vec<Rung> = answer.steps.iter().flat_map(|step| step.mends.iter().map(|mend| mend.rung)).collect();
    for rung in [Rung::Schema, Rung::Resend, Rung::Feedback, Rung::Context] {
        assert!(rungs.contains(&rung), "nothing was mended by {rung:?}: {}", answer.text);
    }
    let missing = answer.steps.iter().filter(|step| !matches!(step.outcome, Outcome::Done(_))).count();
    assert!(missing >= 1 && answer.text.contains("Missing:"), "{}", answer.text);
}

#[tokio::test]
async fn a_driver_that_keeps_nothing_comes_to_the_same_end() {
    let (one, other) = (Demo::start().await.expect("the demo starts"), Demo::start().await.expect("the demo starts"));
    let (steady, segmented) = (world(&one).await, world(&other).await);
    let first = steady.driver().start(steady.started("r", one.request, None)).await.expect("it is driven");
    let second = Segments::new(segmented.driver()).start(segmented.started("r", other.request, None)).await;
    let (Ended::Finished(first), Ended::Finished(second)) = (first, second.expect("it is driven")) else {
        panic!("nobody is to be asked")
    };
    assert_eq!(first.status, second.status);
    assert_eq!(first.text, second.text);
    let (run, _) = segmented.read_back("r").await;
    assert!(run.late() > 0, "every outcome was delivered twice");
}
