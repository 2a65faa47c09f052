//! What one run found out, the next one knows.

use reknit_bind::{Finder, Provenance};
use reknit_engine::Status;
use reknit_journal::Lesson;
use reknit_protocol::{Effect, Plan, Value};
use reknit_runtime::{Ended, Segments};
use reknit_testing::model::{self, Script};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Reply, ScriptedModel, ScriptedTool};

use crate::world::{World, plan, step};

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

async fn tools() -> RunningTool {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    ScriptedTool::new("money")
        .capability("quote", Effect::Read)
        .capability("convert", Effect::Read)
        .schema(json(schema))
        .on("quote", When::any(), Reply::data(json(r#"{"current_price": 468.285}"#)))
        .on("convert", When::any(), Reply::data(json(r#"{"converted": 1}"#)))
        .start()
        .await
        .expect("the tool starts")
}

fn steps() -> Plan {
    plan(vec![step("quote", "money", "quote", "{}"), step("convert", "money", "convert", "{}").after("quote")])
}

#[tokio::test]
async fn the_second_run_asks_no_model_where_the_first_one_did() {
    let tool = tools().await;
    let found = Reply::text(r#"{"amount": "{{quote.data.current_price}}"}"#);
    let script = Script::new().once(model::When::any().purpose("micro_resolution"), found);
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = World::new(&[("money".to_owned(), tool.base_url())], Some(&model.base_url())).await;

    for run in ["first", "second"] {
        let ended = world.driver().start(world.started(run, "convert", Some(steps()))).await.expect("it is driven");
        let Ended::Finished(answer) = ended else { panic!("nobody is to be asked") };
        assert_eq!((answer.status, model.requests().len()), (Status::Complete, 1), "{run}: {}", answer.text);
    }
    let lesson = Lesson {
        producer: "money/quote".to_owned(),
        consumer: "money/convert".to_owned(),
        parameter: "amount".to_owned(),
        expression: "it.data.current_price".to_owned(),
    };
    assert_eq!(world.journal.lessons(9).await.expect("they can be read"), [lesson]);
    let (second, _) = world.read_back("second").await;
    let origin = &second.steps()[1].provenance[0].1;
    assert!(matches!(origin, Provenance::Resolved { by: Finder::Learned, .. }), "{origin:?}");

    // A driver that keeps nothing in memory knows it too, and has it from the first event.
    let third = Segments::new(world.driver()).start(world.started("third", "convert", Some(steps()))).await;
    assert!(matches!(third.expect("it is driven"), Ended::Finished(answer) if answer.status == Status::Complete));
    assert_eq!(model.requests().len(), 1);
}
