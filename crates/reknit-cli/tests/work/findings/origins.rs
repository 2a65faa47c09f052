//! Finding 12: where the views of a run say that a value is from.

use reknit_fakes::Reply;
use reknit_protocol::SideEffect;
use serde_json::Value as Json;

use super::{bank, data, with};
use crate::serve::Serving;
use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn each_view_of_a_run_tells_origins_that_come_from_binding() {
    let schema = r#"{"required": ["copies"], "properties": {"copies": {"type": "integer"},
        "region": {"enum": ["north", "south"]}}}"#;
    let tool = bank("pages", SideEffect::Read, "", data(r#"{"page": 3, "text": "abc"}"#));
    let tool = with(tool, "print", SideEffect::Keyed, schema, Reply::data("printed"));
    let tool = tool.start().await.expect("the tool starts");
    let plan = r#"{"request": "Print it", "steps": [{"id": "pages", "tool": "bank/pages"}, {"id": "s", "tool": "bank/print",
        "with": {"copies": "{{len(pages.text)}}", "region": "North"}}], "outputs": {"letters": "len(pages.text)"}}"#;
    let world = World::with_tools(&[&tool]).file("plan.json", plan);
    world.reknit(&["run", "plan.json"]);
    assert_eq!(tool.calls_of("print")[0].parameters.to_string(), r#"{"copies":3,"region":"north"}"#);
    let shown = text(&world.output(&["runs", "show", "last"]).stdout);
    let document = text(&world.output(&["runs", "show", "last", "--json"]).stdout);
    let run = serde_json::from_str::<Json>(&document).expect("JSON")["run"].as_str().expect("an id").to_owned();
    let server = Serving::start(&world, &[]);
    let page = server.request("GET", &format!("/runs/{run}?step=s"), "accept: text/html\r\n", "");
    server.stop();
    assert!(shown.contains(r#"region = "north"   (from the plan, where it is "North")"#), "{shown}");
    for (view, told) in [("runs show", &shown), ("page", &page)] {
        let told = told.replace("&quot;", "\"").replace("&gt;", ">").replace(r#"<code class="value">"#, "");
        assert!(told.contains(r#"from the plan, where it is "North""#), "{view}: {told}");
        assert!(told.contains("len(pages.text)") && told.contains("$.data.text"), "{view}: {told}");
        assert!(told.contains(r#"$.region: "North" -> "north""#), "{view}: {told}");
        // The page number is 3, too.
        assert!(!told.contains("$.data.page"), "{view}: {told}");
    }
}
