//! What clients of other APIs are told about a run that did not do everything.

use reknit::{ConfigBuilder, Reknit};
use reknit_engine::ApprovalRule;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_models::Target;
use reknit_protocol::SideEffect;
use reknit_runtime::NamedAgent;
use reknit_runtime::agent::Agent;
use reknit_server::{Access, Server};
use reqwest::Response;
use serde_json::{Value as Json, json};

const REPORT: &str = r#"{"report_content": "Paid ann 5 dollars."}"#;
const REFUND: &str = r#"{"to": "ann", "amount": 5}"#;
/// A plan of a model that refunds and then reads.
const PLAN: &str = r#"{"plan_id": "p", "original_request": "r", "steps": [
    {"step_id": "refund", "agent_name": "bank", "instruction": "refund", "depends_on": [],
     "metadata": {"capability": "refund", "parameters": {"to": "ann", "amount": 5}}},
    {"step_id": "read", "agent_name": "bank", "instruction": "read", "depends_on": [],
     "metadata": {"capability": "read", "parameters": {}}}]}"#;

/// A server with the agent `clerk`, a model with these answers, and a bank whose refunds get this reply.
struct Bank {
    url: String,
    model: ScriptedModel,
    tool: RunningTool,
}

impl Bank {
    async fn open(answers: impl IntoIterator<Item = Reply>, refund: Reply, rules: Vec<ApprovalRule>) -> Self {
        let script = answers.into_iter().fold(Script::new(), |script, reply| script.once(RequestMatcher::any(), reply));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let tool = ScriptedTool::new("bank")
            .capability("refund", SideEffect::Keyed)
            .capability("read", SideEffect::Read)
            .on("refund", CallMatcher::any(), refund)
            .on("read", CallMatcher::any(), Reply::data("open"));
        let tool = tool.start().await.expect("the tool starts");
        let builder = Reknit::builder().tool_service("bank", &tool.base_url());
        let builder = builder.model(Target::new("m", model.base_url(), "m"));
        let builder = builder.configure(move |config| rules.into_iter().fold(config, ConfigBuilder::approve));
        let reknit = builder.start().await.expect("it starts");
        let agent = Agent::read("---\ndescription: Pays.\ntools: [bank]\n---\nPay.", &reknit.runtime().session);
        let named = NamedAgent { name: "clerk".to_owned(), agent: agent.expect("an agent"), agents: Vec::new() };
        let url = crate::serve(Server::new(reknit, Access::OwnMachine).with_agents([named])).await;
        Self { url, model, tool }
    }

    /// A bank whose agent calls a refund and then claims that it was made.
    async fn claiming(refund: Reply) -> Self {
        Self::open([refund_call(), Reply::tool_call("agent__final_report", REPORT)], refund, Vec::new()).await
    }

    async fn post(&self, path: &str, body: &Json, key: Option<&str>) -> Response {
        let request = crate::client().post(format!("{}{path}", self.url)).body(body.to_string());
        let request = key.into_iter().fold(request, |request, key| request.header("Idempotency-Key", key));
        request.send().await.expect("an answer")
    }

    async fn natural(&self, body: &Json) -> (u16, Json) {
        let response = self.post("/orchestrate/natural", body, None).await;
        (response.status().as_u16(), body_of(response).await)
    }
}

fn refund_call() -> Reply {
    Reply::tool_call("bank__refund", REFUND)
}

fn refused() -> Reply {
    Reply::status(400).body(r#"{"error": "the account is closed"}"#)
}

fn paid() -> Reply {
    Reply::data("paid")
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).map(|value| value.to_str().expect("text").to_owned()).unwrap_or_default()
}

async fn body_of(response: Response) -> Json {
    let text = response.text().await.expect("a body");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn asking(stream: bool) -> Json {
    json!({"model": "agent/clerk", "max_tokens": 100, "stream": stream, "input": "Refund ann 5.",
        "messages": [{"role": "user", "content": "Refund ann 5."}]})
}

#[tokio::test]
async fn an_answer_that_is_not_whole_says_so_in_each_api_of_models() {
    for (path, place, reason) in [
        ("/v1/chat/completions", "/choices/0/finish_reason", "length"),
        ("/v1/messages", "/stop_reason", "max_tokens"),
        ("/v1/responses", "/status", "incomplete"),
    ] {
        for stream in [false, true] {
            let response = Bank::claiming(refused()).await.post(path, &asking(stream), None).await;
            assert_eq!((response.status().as_u16(), header(&response, "x-reknit-status").as_str()), (200, "partial"));
            let text = response.text().await.expect("a body");
            let status = "Paid ann 5 dollars.\\n\\nStatus: partial: `refund` of `bank` with";
            assert!(text.contains(status) && text.contains("the account is closed"), "{path}: {text}");
            assert!(text.contains(&format!("\"{reason}\"")), "{path}: {text}");
            if !stream {
                let body: Json = serde_json::from_str(&text).expect("JSON");
                assert_eq!(body.pointer(place), Some(&json!(reason)), "{body}");
            }
        }
    }
}

#[tokio::test]
async fn an_agent_whose_tools_cannot_be_reached_has_no_success_with_figures_of_its_own() {
    let report = Reply::tool_call("agent__final_report", r#"{"report_content": "It costs 4711."}"#);
    let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), report)).await.expect("the model starts");
    let builder =
        Reknit::builder().tool_service("gone", "http://127.0.0.1:9").model(Target::new("m", model.base_url(), "m"));
    let reknit = builder.start().await.expect("it starts");
    let agent = Agent::read("---\ndescription: Knows.\n---\nAnswer.", &reknit.runtime().session).expect("an agent");
    let named = NamedAgent { name: "clerk".to_owned(), agent, agents: Vec::new() };
    let url = crate::serve(Server::new(reknit, Access::OwnMachine).with_agents([named])).await;
    let body = json!({"model": "agent/clerk", "messages": [{"role": "user", "content": "What does it cost?"}]});
    let request = crate::client().post(format!("{url}/v1/chat/completions")).body(body.to_string());
    let response = request.send().await.expect("an answer");
    assert_eq!(header(&response, "x-reknit-status"), "partial");
    let text = response.text().await.expect("a body");
    assert!(text.contains("Status: partial: the report says 4711, which no result states."), "{text}");
}

#[tokio::test]
async fn an_answer_that_is_whole_has_no_line_about_its_status() {
    let response = Bank::claiming(paid()).await.post("/v1/chat/completions", &asking(false), None).await;
    assert_eq!(header(&response, "x-reknit-status"), "complete");
    let choice = body_of(response).await["choices"][0].clone();
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("stop"), &json!("Paid ann 5 dollars."))
    );
}

#[tokio::test]
async fn a_client_that_asks_an_agent_again_with_the_same_key_does_not_pay_twice() {
    let bank = Bank::claiming(paid()).await;
    let first = bank.post("/v1/chat/completions", &asking(false), Some("order 7")).await;
    let second = bank.post("/v1/chat/completions", &asking(false), Some("order 7")).await;
    assert_eq!(header(&first, "x-reknit-run"), header(&second, "x-reknit-run"));
    assert_eq!(body_of(second).await["choices"][0]["message"]["content"], "Paid ann 5 dollars.");
    assert_eq!(bank.tool.call_count(), 1);
    let mut other = asking(false);
    other["messages"][0]["content"] = json!("Refund bob 9.");
    assert_eq!(bank.post("/v1/chat/completions", &other, Some("order 7")).await.status().as_u16(), 409);
}

#[tokio::test]
async fn an_agent_is_asked_with_the_system_message_and_what_was_said_before() {
    let bank = Bank::claiming(paid()).await;
    let messages = json!([
        {"role": "system", "content": "Pay in euros only."},
        {"role": "user", "content": "Who has an open refund?"},
        {"role": "assistant", "content": "Ann has one."},
        {"role": "user", "content": "Pay her 5."},
    ]);
    bank.post("/v1/chat/completions", &json!({"model": "agent/clerk", "messages": messages}), None).await;
    let asked = bank.model.requests()[0].text();
    for text in
        ["Pay her 5.", "[system] Pay in euros only.", "[user] Who has an open refund?", "[assistant] Ann has one."]
    {
        assert!(asked.contains(text), "{text} is missing in {asked}");
    }
}

#[tokio::test]
async fn a_natural_answer_has_what_failed_and_no_confidence_in_it() {
    let answers = [Reply::text(PLAN), Reply::text("It is open, and 77 were paid.")];
    let bank = Bank::open(answers, Reply::status(403), Vec::new()).await;
    let (status, body) = bank.natural(&json!({"request": "Refund ann 5.", "metadata": {"n": 7, "vip": true}})).await;
    assert_eq!((status, &body["status"], &body["missing"]), (200, &json!("partial"), &json!(["refund"])), "{body}");
    assert_eq!(body["confidence"], json!(0.25), "{body}");
    assert!(body["errors"][0].as_str().is_some_and(|error| error.starts_with("refund: 403")), "{body}");
    assert!(body["doubts"][0].as_str().is_some_and(|doubt| doubt.contains("77")), "{body}");
    assert!(body["response"].as_str().is_some_and(|text| text.contains("\n\nStatus: partial")), "{body}");
}

#[tokio::test]
async fn a_natural_answer_with_a_doubt_has_less_than_full_confidence() {
    let answers = || [Reply::text(PLAN), Reply::text("It is open, and 77 were paid.")];
    let (_, doubtful) =
        Bank::open(answers(), paid(), Vec::new()).await.natural(&json!({"request": "Refund ann 5."})).await;
    assert_eq!((&doubtful["status"], &doubtful["confidence"]), (&json!("complete"), &json!(0.5)), "{doubtful}");
    let bank = Bank::open(answers(), paid(), Vec::new()).await;
    let (_, by_code) = bank.natural(&json!({"request": "Refund ann 5.", "ai_synthesis": false})).await;
    assert_eq!((&by_code["doubts"], &by_code["confidence"]), (&json!([]), &json!(1.0)), "{by_code}");
    assert_eq!(bank.model.requests().len(), 1, "only for the plan");
}

#[tokio::test]
async fn a_natural_request_that_waits_for_a_person_is_accepted_with_its_questions() {
    let rule = ApprovalRule { capability: Some("bank/refund".to_owned()), ..ApprovalRule::default() };
    let bank = Bank::open([Reply::text(PLAN)], paid(), vec![rule]).await;
    let (status, body) = bank.natural(&json!({"request": "Refund ann 5."})).await;
    assert_eq!((status, &body["status"], &body["run"]), (202, &json!("waiting"), &body["request_id"]), "{body}");
    assert_eq!(body["questions"].as_array().map(Vec::len), Some(1), "{body}");
    assert_eq!(bank.tool.calls_of("refund").len(), 0);
}
