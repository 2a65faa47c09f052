//! Reports that claim more than was done: what each face of an agent tells about them. Faces are the command with its exit status,
//! the chat, the views of runs, the API, the page, the gateway and MCP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{SideEffect, Value};
use serde_json::{Value as Json, json};

use crate::serve::Serving;
use crate::world::{World, text};

const CLERK: &str = "---\ndescription: Works for a bank.\ntools: [bank]\nmaxTurns: 4\n---\nYou work for a bank.\n";
const PAY: &str = r#"{"to": "ann", "amount": 5}"#;
const READ: &str = r#"{"id": 7}"#;
/// A report about something that has a status itself.
const OWN_STATUS: &str = r#"{"content_json": {"status": "failed"}}"#;
const REQUEST: &str = "Pay ann 5 dollars.";

/// A session, and what every face has to tell about it.
struct Claim {
    answers: Vec<Reply>,
    pay: Reply,
    read: Reply,
    agent: String,
    /// Text of the configuration after its tools and models.
    config: &'static str,
    status: &'static str,
    /// What the person who asked is told.
    told: Vec<&'static str>,
    not_told: &'static str,
    has_tools: bool,
}

impl Claim {
    fn new(answers: Vec<Reply>, status: &'static str, told: &[&'static str]) -> Self {
        let (pay, read) = (Reply::data("paid"), Reply::data(json_value(r#"{"state": "shipped"}"#)));
        let (told, agent) = (told.to_vec(), CLERK.to_owned());
        Self { answers, pay, read, agent, config: "", status, told, not_told: "nothing of this", has_tools: true }
    }

    fn pay(self, pay: Reply) -> Self {
        Self { pay, ..self }
    }

    fn read(self, read: Reply) -> Self {
        Self { read, ..self }
    }

    fn agent(self, keys: &str) -> Self {
        Self { agent: self.agent.replace("maxTurns", &format!("{keys}\nmaxTurns")), ..self }
    }

    /// The only tool is one that cannot be reached.
    fn without_tools(self) -> Self {
        let config = "[[tools]]\nname = \"gone\"\nurl = \"http://127.0.0.1:9\"\n";
        Self { agent: self.agent.replace("tools: [bank]\n", ""), config, has_tools: false, ..self }
    }

    fn config(self, config: &'static str) -> Self {
        Self { config, ..self }
    }

    fn never(self, not_told: &'static str) -> Self {
        Self { not_told, ..self }
    }

    async fn open(&self) -> Bank {
        let script =
            self.answers.iter().fold(Script::new(), |script, reply| script.once(RequestMatcher::any(), reply.clone()));
        // A model that is asked again says the same.
        let last = self.answers.last().expect("an answer").clone();
        let model = ScriptedModel::start(script.on(RequestMatcher::any(), last)).await.expect("the model starts");
        let bank = ScriptedTool::new("bank")
            .capability("pay", SideEffect::Keyed)
            .capability("read", SideEffect::Read)
            .on("pay", CallMatcher::any(), self.pay.clone())
            .on("read", CallMatcher::any(), self.read.clone());
        let bank = bank.start().await.expect("the bank opens");
        let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
        let tools = [&bank];
        let world = World::new()
            .configured(if self.has_tools { &tools } else { &[] }, &(models + self.config))
            .file("clerk.md", &self.agent)
            .file("teller.md", &CLERK.replace("You work", "You are a teller and work"))
            .file(
                "state.json",
                r#"{"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}"#,
            );
        Bank { world, _tool: bank, _model: model }
    }

    /// What a face does not tell, or tells though it is not so.
    fn missing(&self, name: &str, face: &str, shown: &str) -> Vec<String> {
        // `failure` of a report is `failed` of a run, and for commands an exit status.
        let is_failure = self.status == "failure" && shown.starts_with("exit status 1");
        let status = Some(self.status.trim_end_matches("ure")).filter(|status| *status != "success" && !is_failure);
        let missing = self.told.iter().copied().chain(status).filter(|part| !shown.contains(part));
        missing.map(|part| format!("{name}, {face}: `{part}` is missing in {shown}\n")).collect()
    }

    /// An answer, which has nothing of what was taken back. Views show all that was said.
    fn answer(&self, name: &str, face: &str, shown: &str) -> Vec<String> {
        let told = shown.contains(self.not_told).then(|| format!("{name}, {face}: `{}` is told\n", self.not_told));
        self.missing(name, face, shown).into_iter().chain(told).collect()
    }
}

struct Bank {
    world: World,
    _tool: RunningTool,
    _model: ScriptedModel,
}

fn json_value(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

fn pays() -> Reply {
    Reply::tool_call("bank__pay", PAY)
}

fn reads() -> Reply {
    Reply::tool_call("bank__read", READ)
}

fn reports(content: &str) -> Reply {
    Reply::tool_call("agent__final_report", json!({ "report_content": content }).to_string())
}

fn claims() -> Vec<(&'static str, Claim)> {
    [claims_about_calls(), claims_about_reports()].into_iter().flatten().collect()
}

fn claims_about_calls() -> Vec<(&'static str, Claim)> {
    let closed = || Reply::status(400).body(r#"{"error": "the account is closed"}"#);
    let paid = || vec![pays(), reports("Paid ann 5 dollars.")];
    let not_paid = ["Paid ann 5 dollars.", "the account is closed"];
    let confirm = "[[confirm]]\ncapability = \"bank/pay\"\nexpect = \"result == 'booked'\"\n";
    vec![
        ("a payment was refused", Claim::new(paid(), "partial", &not_paid).pay(closed())),
        (
            "a read failed",
            Claim::new(vec![reads(), reports("It was sent.")], "partial", &["It was sent.", "the tool answered 404"])
                .read(Reply::status(404)),
        ),
        (
            "a called agent did not do its work",
            Claim::new(
                vec![
                    Reply::tool_call("agent__teller", r#"{"input": "Pay ann."}"#),
                    pays(),
                    reports("Paid ann 5 dollars."),
                    reports("All is paid."),
                ],
                "partial",
                &["All is paid.", "the account is closed"],
            )
            .agent("agents: [teller.md]")
            .pay(closed()),
        ),
        (
            "no tool can be reached",
            Claim::new(vec![reports("It costs 4711.")], "partial", &["It costs 4711.", "the report says 4711"])
                .without_tools(),
        ),
        (
            "a read was sent again in vain",
            Claim::new(vec![reads(), reports("It was sent.")], "partial", &["It was sent.", "the tool answered 503"])
                .read(Reply::status(503).retry_after(0))
                .never("mended"),
        ),
        (
            "a payment is not confirmed",
            Claim::new(paid(), "partial", &["Paid ann 5 dollars.", "is not confirmed"]).config(confirm),
        ),
        (
            "a refusal is spelt as text",
            Claim::new(paid(), "partial", &not_paid)
                .pay(Reply::status(200).body(r#"{"success": "FAILED", "error": "the account is closed"}"#)),
        ),
    ]
}

fn claims_about_reports() -> Vec<(&'static str, Claim)> {
    let cut = Reply::text("The order was sent on Monday, and").finish_reason("length");
    let both = Reply::tool_call("bank__read", READ)
        .with_tool_call("agent__final_report", json!({"report_content": "It was lost at sea."}).to_string());
    vec![
        (
            "a report was written before its result",
            Claim::new(vec![both, reports("It was shipped.")], "success", &["It was shipped."]).never("lost at sea"),
        ),
        (
            "every answer is cut",
            Claim::new(vec![cut], "failure", &["nothing confirms", "The order was sent on Monday, and"]),
        ),
        (
            "the report has a status of its own",
            Claim::new(vec![Reply::tool_call("agent__final_report", OWN_STATUS)], "success", &["failed"])
                .agent("output: {format: json, schema: state.json}"),
        ),
        (
            "a figure is invented",
            Claim::new(
                vec![reads(), reports("It costs 4711.")],
                "success",
                &["It costs 4711.", "the report says 4711"],
            ),
        ),
    ]
}

/// A status that is not the expected one.
fn unlike(name: &str, face: &str, found: &str, expected: &str) -> Option<String> {
    (found != expected).then(|| format!("{name}, {face}: `{expected}` is missing, found `{found}`\n"))
}

/// Sends lines to a process, and returns the line that answers the last one.
fn mcp(world: &World, arguments: &[&str], lines: &[Json]) -> Json {
    let mut child = world.command(arguments).stdin(Stdio::piped()).spawn().expect("the command can be run");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut answer = Json::Null;
    for line in lines {
        writeln!(input, "{line}").expect("it reads");
        while !line["id"].is_null() && answer["id"] != line["id"] {
            let text = output.next().expect("an answer").expect("text");
            answer = serde_json::from_str(&text).expect("JSON");
        }
    }
    drop(input);
    child.wait().expect("it ends");
    answer
}

const INITIALIZE: &str =
    r#"{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}"#;

/// Calls a tool of a server that is started with these arguments, and returns the result, or the error.
pub(crate) fn call_over_mcp(world: &World, server: &[&str], tool: &str, arguments: &Json) -> Json {
    let initialize: Json = serde_json::from_str(INITIALIZE).expect("JSON");
    let call = json!({"name": tool, "arguments": arguments});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let answer = mcp(world, server, &lines);
    answer.get("result").unwrap_or(&answer["error"]).clone()
}

fn chat(world: &World, lines: &str) -> String {
    let mut child = world.command(&["chat", "clerk.md"]).stdin(Stdio::piped()).spawn().expect("the command can be run");
    child.stdin.take().expect("it is piped").write_all(lines.as_bytes()).expect("it reads");
    world.show(&child.wait_with_output().expect("it ends"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_tells_what_a_report_of_an_agent_hides() {
    let mut missing = Vec::new();
    for (name, claim) in claims() {
        let bank = claim.open().await;
        let output = bank.world.output(&["agent", "--json", "clerk.md", REQUEST]);
        let printed = text(&output.stdout);
        let report = Value::parse(&printed).unwrap_or_else(|error| panic!("{name}: {error}: {printed}"));
        let status = report.get("status").and_then(Value::as_str).unwrap_or_default();
        missing.extend(unlike(name, "--json", status, claim.status));
        let exit_status = match claim.status {
            "success" => 0,
            "partial" => 3,
            _ => 1,
        };
        let code = output.status.code().unwrap_or_default();
        missing.extend(unlike(name, "exit status", &code.to_string(), &exit_status.to_string()));
        missing.extend(claim.missing(name, "--json", &printed));
        missing.extend(claim.missing(name, "runs show", &text(&bank.world.output(&["runs", "show", "last"]).stdout)));
    }
    assert!(missing.is_empty(), "{}", missing.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_and_chat_tell_what_a_report_of_an_agent_hides() {
    let mut missing = Vec::new();
    for (name, claim) in claims() {
        let quiet = claim.open().await.world.reknit(&["agent", "--quiet", "clerk.md", REQUEST]);
        missing.extend(claim.answer(name, "--quiet", &quiet));
        missing.extend(claim.answer(name, "chat", &chat(&claim.open().await.world, &format!("{REQUEST}\n"))));
    }
    assert!(missing.is_empty(), "{}", missing.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_tell_what_a_report_of_an_agent_hides() {
    let mut missing = Vec::new();
    for (name, claim) in claims() {
        let bank = claim.open().await;
        let server = Serving::start(&bank.world, &["--agent", "clerk.md"]);
        let body = json!({"model": "agent/clerk", "messages": [{"role": "user", "content": REQUEST}]}).to_string();
        let answer = server.request("POST", "/v1/chat/completions", "content-type: application/json\r\n", &body);
        let header = |wanted: &str| {
            let lines = answer.lines().take_while(|line| !line.is_empty());
            let mut found = lines.filter_map(|line| line.split_once(": ")).filter(|(name, _)| *name == wanted);
            found.next().map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        let status = match claim.status {
            "success" => "complete",
            "failure" => "failed",
            other => other,
        };
        missing.extend(unlike(name, "x-reknit-status", &header("x-reknit-status"), status));
        missing.extend(claim.answer(name, "gateway", &answer));
        let run = header("x-reknit-run");
        missing.extend(claim.missing(name, "API", &server.request("GET", &format!("/v1/runs/{run}"), "", "")));
        missing.extend(claim.missing(
            name,
            "page",
            &server.request("GET", &format!("/runs/{run}"), "accept: text/html\r\n", ""),
        ));
        server.stop();
    }
    assert!(missing.is_empty(), "{}", missing.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_tells_what_a_report_of_an_agent_hides() {
    let mut missing = Vec::new();
    for (name, claim) in claims() {
        let arguments = json!({"task": REQUEST});
        let server = ["mcp", "--plans-only", "--agent", "clerk.md"];
        let result = call_over_mcp(&claim.open().await.world, &server, "agent__clerk", &arguments);
        let is_error = result["isError"].as_bool().unwrap_or_default();
        missing.extend(unlike(name, "isError", &is_error.to_string(), &(claim.status != "success").to_string()));
        missing.extend(claim.answer(name, "MCP", &result.to_string()));
    }
    assert!(missing.is_empty(), "{}", missing.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_again_in_vain_is_tried_and_not_mended_in_each_view() {
    let claims = claims();
    let (_, claim) = claims.iter().find(|(name, _)| *name == "a read was sent again in vain").expect("it is there");
    let bank = claim.open().await;
    let report = text(&bank.world.output(&["agent", "--json", "clerk.md", REQUEST]).stdout);
    let report: Json = serde_json::from_str(&report).expect("JSON");
    assert!(report["tried"][0]["change"].as_str().is_some_and(|change| change.contains("again")), "{report}");
    assert!(report["mended"].as_array().is_none_or(Vec::is_empty), "{report}");
    let page = {
        let server = Serving::start(&bank.world, &[]);
        let run = report["run"].as_str().expect("an id");
        server.request("GET", &format!("/runs/{run}"), "accept: text/html\r\n", "")
    };
    assert!(page.contains("Tried, and failed") && !page.contains("<h2>Mended"), "{page}");
    let statistics = text(&bank.world.output(&["runs", "stats", "--json"]).stdout);
    let statistics: Json = serde_json::from_str(&statistics).expect("JSON");
    let resend = statistics
        .pointer("/tools/bank~1read/failures/in_session/rungs/resend")
        .unwrap_or_else(|| panic!("{statistics}"));
    assert_eq!((&resend["mended"], resend["tried"].as_u64() > Some(0)), (&json!(0), true), "{statistics}");
    for command in ["show", "explain"] {
        let shown = text(&bank.world.output(&["runs", command, "last"]).stdout);
        assert!(shown.to_lowercase().contains("tried") && !shown.contains("mended  "), "{command}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_tells_what_was_not_done_for_one_message_only_with_that_message() {
    let closed = Reply::status(400).body(r#"{"error": "the account is closed"}"#);
    let answers = vec![pays(), reports("Paid ann 5 dollars."), reports("You are welcome.")];
    let bank = Claim::new(answers, "partial", &[]).pay(closed).open().await;
    let shown = chat(&bank.world, "Pay ann 5 dollars.\nThank you.\n");
    assert_eq!(shown.matches("not done: ").count(), 1, "{shown}");
    assert!(shown.starts_with("exit status 0") && shown.contains("You are welcome."), "{shown}");
}
