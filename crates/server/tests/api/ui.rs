//! The pages for people, asked for by a real HTTP client.

use std::time::Duration;

use reknit::{ConfigBuilder, Reknit};
use reknit_engine::ApprovalRule;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_models::Target;
use reknit_protocol::{SideEffect, Value};
use reknit_server::{Access, Scope, Server, Token};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::{refunds_are_approved, serve, token};

const REFUND: &str = "request: Give <b>5</b> back\nsteps: [{id: refund, tool: bank/refund, with: {amount: \"5\"}}]";

struct Site {
    url: String,
    client: reqwest::Client,
    tool: RunningTool,
}

impl Site {
    async fn open(access: Access, asks: bool) -> Self {
        let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}"#;
        let tool =
            ScriptedTool::new("bank").capability("refund", SideEffect::Keyed).schema(Value::parse(schema).unwrap());
        let reply = Reply::data(Value::parse(r#"{"refunded": 5, "note": "<script>alert(1)</script>"}"#).unwrap());
        let tool = tool.on("refund", CallMatcher::any(), reply).start().await.expect("the tool starts");
        let rules: Vec<ApprovalRule> = asks.then(refunds_are_approved).into_iter().collect();
        let builder = Reknit::builder().tool_service("bank", &tool.base_url());
        let builder = builder.configure(move |config| rules.into_iter().fold(config, ConfigBuilder::approve));
        let reknit = builder.start().await.expect("it starts");
        Self::of(reknit, access, tool).await
    }

    async fn of(reknit: Reknit, access: Access, tool: RunningTool) -> Self {
        let none = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().no_proxy().redirect(none).build().expect("a client");
        Self { url: serve(Server::new(reknit, access)).await, client, tool }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    /// A form as a page of this server sends it.
    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let encoded = |text: &str| reknit_protocol::percent_encoded(text);
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.client
            .post(format!("{}{path}", self.url))
            .header("origin", &self.url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.join("&"))
    }

    async fn start(&self, id: &str, token: Option<&str>) -> Json {
        let body = json!({"plan": REFUND, "run_id": id}).to_string();
        let request = self.client.post(format!("{}/v1/runs", self.url)).body(body);
        let request = token.into_iter().fold(request, RequestBuilder::bearer_auth);
        serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
    }
}

async fn page(request: RequestBuilder, expected: StatusCode) -> String {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.expect("a body");
    assert_eq!(status, expected, "{text}");
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    text
}

fn goes_to(response: &Response) -> &str {
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    response.headers()["location"].to_str().unwrap()
}

#[tokio::test]
async fn a_run_is_listed_and_shown_and_its_text_is_no_markup() {
    let site = Site::open(Access::OwnMachine, false).await;
    assert!(page(site.get("/"), StatusCode::OK).await.contains("No runs yet"));
    site.start("r-1", None).await;
    let list = page(site.get("/?status=complete&search=back"), StatusCode::OK).await;
    assert!(list.contains("href=\"/runs/r-1\"") && list.contains("Give &lt;b&gt;5&lt;/b&gt; back"), "{list}");
    assert!(!page(site.get("/?status=failed"), StatusCode::OK).await.contains("r-1"));
    let run = page(site.get("/runs/r-1?step=refund"), StatusCode::OK).await;
    for part in ["mended: schema", "Call 1", "&lt;script&gt;alert(1)&lt;/script&gt;", "Download events"] {
        assert!(run.contains(part), "{part}: {run}");
    }
    assert!(!run.contains("<b>5") && !run.contains("<script>"), "{run}");
    let panel = page(site.get("/runs/r-1?step=refund&part=panel"), StatusCode::OK).await;
    assert!(panel.starts_with("<section id=\"panel\"") && panel.contains("Call 1"), "{panel}");
    assert_eq!(goes_to(&site.get("/runs/r-").send().await.unwrap()), "/runs/r-1");
    let missing = page(site.get("/runs/x"), StatusCode::NOT_FOUND).await;
    assert!(missing.contains("there is no run `x`"), "{missing}");
    let events = site.get("/ui/runs/r-1/events.jsonl").send().await.unwrap().text().await.unwrap();
    assert!(events.lines().count() > 3, "{events}");
}

#[tokio::test]
async fn a_question_is_decided_with_a_form_and_only_for_what_it_shows() {
    let site = Site::open(Access::OwnMachine, true).await;
    let run = site.start("r", None).await;
    let list = page(site.get("/"), StatusCode::OK).await;
    assert!(list.contains("Send with amount 5"), "{list}");
    let path = "/runs/r/decisions/refund%2Fapproval%2F1";
    let stale = page(site.form(path, &[("hash", "0"), ("decision", "approve")]), StatusCode::CONFLICT).await;
    assert!(stale.contains("something else"), "{stale}");
    let not_json = [("hash", "0"), ("decision", "edit"), ("parameters", "{amount")];
    assert!(page(site.form(path, &not_json), StatusCode::BAD_REQUEST).await.contains("is not JSON"));
    let hash = run["questions"][0]["hash"].as_str().unwrap();
    let fields = [("hash", hash), ("decision", "edit"), ("parameters", "{\"amount\": 4}")];
    assert_eq!(goes_to(&site.form(path, &fields).send().await.unwrap()), "/runs/r");
    // The stream says that the run has ended.
    let changes = site.get("/ui/runs/r/changes").send().await.unwrap().text();
    let changes = tokio::time::timeout(Duration::from_mins(2), changes).await.expect("the stream ends").unwrap();
    assert!(changes.contains("data: change\n\n") && changes.contains("data: end\n\n"), "{changes}");
    assert_eq!(site.tool.calls().len(), 1);
    let shown = page(site.get("/runs/r?step=refund"), StatusCode::OK).await;
    assert!(shown.contains("Approved with other parameters") && shown.contains("written by a person"), "{shown}");
}

#[tokio::test]
async fn forms_of_other_sites_are_refused_and_so_are_forms_to_the_api() {
    let site = Site::open(Access::OwnMachine, true).await;
    site.start("r", None).await;
    let other = site.form("/runs/r/cancel", &[]).header("origin", "http://127.0.0.1:1");
    // The second header does not help either.
    page(other, StatusCode::FORBIDDEN).await;
    let foreign = site.client.post(format!("{}/runs/r/cancel", site.url)).header("origin", "https://evil.example");
    page(foreign, StatusCode::FORBIDDEN).await;
    let hidden = site.client.post(format!("{}/runs/r/cancel", site.url)).header("origin", "null");
    page(hidden, StatusCode::FORBIDDEN).await;
    let api = site.client.post(format!("{}/v1/runs/r/cancel", site.url)).header("origin", &site.url);
    assert_eq!(api.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let renamed = site.get("/").header("host", "evil.example");
    page(renamed, StatusCode::FORBIDDEN).await;
    assert_eq!(goes_to(&site.form("/runs/r/cancel", &[]).send().await.unwrap()), "/runs/r");
}

#[tokio::test]
async fn a_reader_signs_in_with_a_token_and_its_scopes_say_what_they_may_do() {
    let (reads, reader) = token("reader", &[Scope::Read]);
    let (runs, runner) = token("runner", &[Scope::Read, Scope::Run]);
    let (others, other) = token("other", &[Scope::Read, Scope::Run]);
    let reader = Token { sees_all_runs: true, ..reader };
    let site = Site::open(Access::Tokens(vec![reader, runner, other]), true).await;
    site.start("r", Some(&runs)).await;
    let of_others = format!("reknit-token={others}");
    for path in ["/runs/r", "/runs/", "/ui/runs/r/events.jsonl", "/ui/runs/r/changes"] {
        page(site.get(path).header("cookie", &of_others), StatusCode::NOT_FOUND).await;
    }
    assert!(!page(site.get("/").header("cookie", &of_others), StatusCode::OK).await.contains("/runs/r"));
    let refused = site.get("/runs/r?step=refund").send().await.unwrap();
    assert_eq!(goes_to(&refused), "/sign-in?back=%2Fruns%2Fr%3Fstep%3Drefund");
    page(site.get("/sign-in"), StatusCode::OK).await;
    let unknown = page(site.form("/sign-in", &[("token", "rk-0"), ("back", "/")]), StatusCode::FORBIDDEN).await;
    assert!(unknown.contains("not known"), "{unknown}");
    let signed_in = site.form("/sign-in", &[("token", &reads), ("back", "//evil.example")]).send().await.unwrap();
    assert_eq!(goes_to(&signed_in), "/");
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
    let secure = site.form("/sign-in", &[("token", &reads)]).header("sec-fetch-site", "same-origin");
    let secure = secure.header("host", "x").send().await.unwrap();
    assert!(secure.headers().contains_key("set-cookie"));
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let run = page(site.get("/runs/r").header("cookie", &cookie), StatusCode::OK).await;
    assert!(run.contains("Sign out reader") && run.contains("may not decide") && !run.contains(">Cancel<"), "{run}");
    let forbidden = site.form("/runs/r/cancel", &[]).header("cookie", &cookie);
    assert!(page(forbidden, StatusCode::FORBIDDEN).await.contains("scope `run`"));
    let decides = site.form("/runs/r/decisions/x", &[]).header("cookie", format!("reknit-token={runs}"));
    assert!(page(decides, StatusCode::FORBIDDEN).await.contains("scope `approve`"));
    // The cookie is for pages only.
    let api = site.get("/v1/runs").header("cookie", &cookie).send().await.unwrap();
    assert_eq!(api.status(), StatusCode::UNAUTHORIZED);
    let out = site.form("/sign-out", &[]).header("cookie", &cookie).send().await.unwrap();
    assert!(goes_to(&out).starts_with("/sign-in"));
    assert!(out.headers().get_all("set-cookie").iter().all(|cookie| cookie.to_str().unwrap().contains("Max-Age=0")));
}

#[tokio::test]
async fn style_and_script_are_kept_by_browsers_and_colours_are_a_choice() {
    let site = Site::open(Access::OwnMachine, false).await;
    for path in ["/ui/style.css", "/ui/script.js"] {
        let response = site.get(path).send().await.unwrap();
        assert!(response.headers()["cache-control"].to_str().unwrap().contains("immutable"), "{path}");
    }
    let chosen = site.form("/ui/theme", &[("to", "dark"), ("back", "/?status=failed")]).send().await.unwrap();
    assert_eq!(goes_to(&chosen), "/?status=failed");
    let cookie = chosen.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(page(site.get("/").header("cookie", cookie), StatusCode::OK).await.contains("data-theme=\"dark\""));
}

#[tokio::test]
async fn a_plan_is_checked_and_started_once_however_often_its_form_is_sent() {
    let site = Site::open(Access::OwnMachine, false).await;
    assert!(page(site.get("/new?kind=plan"), StatusCode::OK).await.contains("as in a plan file"));
    assert!(page(site.get("/new"), StatusCode::OK).await.contains("No model is configured"));
    let wrong = "steps: [{id: a, tool: bank/nothing}]";
    let checked = page(site.form("/ui/plan-check", &[("text", wrong)]), StatusCode::OK).await;
    assert!(checked.starts_with("<div id=\"findings\"") && checked.contains("nothing"), "{checked}");
    let unreadable = page(site.form("/ui/plan-check", &[("text", "steps: [")]), StatusCode::OK).await;
    assert!(unreadable.contains("problem"), "{unreadable}");
    let refused = page(site.form("/new", &[("kind", "plan"), ("text", wrong), ("do", "run")]), StatusCode::OK).await;
    assert!(refused.contains("1 problem") && refused.contains("bank/nothing"), "{refused}");
    let fields = [("kind", "plan"), ("text", REFUND), ("do", "run"), ("run_id", "once")];
    for _ in 0..2 {
        assert_eq!(goes_to(&site.form("/new", &fields).send().await.unwrap()), "/runs/once");
    }
    let good = page(site.form("/new", &[("kind", "plan"), ("text", REFUND), ("do", "check")]), StatusCode::OK).await;
    assert!(good.contains("The plan can be run: 1 step"), "{good}");
    let changes = site.get("/ui/runs/once/changes").send().await.unwrap().text();
    tokio::time::timeout(Duration::from_mins(2), changes).await.expect("the run ends").unwrap();
    assert_eq!(site.tool.calls().len(), 1);
}

#[tokio::test]
async fn a_tool_is_called_with_a_form_made_from_its_schema() {
    let site = Site::open(Access::OwnMachine, false).await;
    let tools = page(site.get("/tools"), StatusCode::OK).await;
    assert!(tools.contains("href=\"/tools/bank/refund\"") && tools.contains("keyed"), "{tools}");
    let form = page(site.get("/tools/bank/refund"), StatusCode::OK).await;
    assert!(form.contains("name=\"p.amount\"") && form.contains("it may change something"), "{form}");
    page(site.get("/tools/bank/nothing"), StatusCode::NOT_FOUND).await;
    for (path, fields) in [
        ("/new", [("kind", "plan"), ("text", REFUND), ("do", "run"), ("run_id", "mcp-0123-1")].as_slice()),
        ("/tools/bank/refund", &[("p.amount", "7"), ("run_id", "key-0123")]),
    ] {
        let refused = site.form(path, fields).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "an id that Reknit derives itself: {path}");
    }
    let called = site.form("/tools/bank/refund", &[("p.amount", "7"), ("run_id", "call-1")]).send().await.unwrap();
    assert_eq!(goes_to(&called), "/runs/call-1");
    let changes = site.get("/ui/runs/call-1/changes").send().await.unwrap().text();
    tokio::time::timeout(Duration::from_mins(2), changes).await.expect("the run ends").unwrap();
    assert!(page(site.get("/runs/call-1?step=call"), StatusCode::OK).await.contains("Call bank/refund"));
    let stats = page(site.get("/stats"), StatusCode::OK).await;
    assert!(stats.contains("bank/refund") && stats.contains("complete"), "{stats}");
    assert!(page(site.get("/tools"), StatusCode::OK).await.contains("<td class=\"number\">1</td>"));
}

#[tokio::test]
async fn two_runs_are_compared_and_those_of_others_are_not() {
    let (runs, runner) = token("runner", &[Scope::Read, Scope::Run]);
    let (others, other) = token("other", &[Scope::Read, Scope::Run]);
    let site = Site::open(Access::Tokens(vec![runner, other]), false).await;
    for id in ["first", "second"] {
        site.start(id, Some(&runs)).await;
    }
    site.start("foreign", Some(&others)).await;
    let own = |path: &str| site.get(path).header("cookie", format!("reknit-token={runs}"));
    let run = page(own("/runs/first"), StatusCode::OK).await;
    assert!(run.contains("href=\"/runs/first/compare\""), "{run}");
    let choice = page(own("/runs/first/compare"), StatusCode::OK).await;
    assert!(
        choice.contains("with=second") && !choice.contains("foreign") && !choice.contains("with=first"),
        "{choice}"
    );
    let compared = page(own("/runs/first/compare?with=sec"), StatusCode::OK).await;
    assert!(compared.contains("href=\"/runs/first\"") && compared.contains("href=\"/runs/second\""), "{compared}");
    assert!(compared.contains("No step differs, of 1 step that both have"), "{compared}");
    for path in ["/runs/first/compare?with=foreign", "/runs/foreign/compare?with=first", "/runs/first/compare?with=no"]
    {
        page(own(path), StatusCode::NOT_FOUND).await;
    }
}

#[tokio::test]
async fn a_list_says_how_many_runs_have_started_that_it_does_not_show() {
    let site = Site::open(Access::OwnMachine, false).await;
    site.start("old", None).await;
    let list = page(site.get("/"), StatusCode::OK).await;
    let (_, newest) = list.split_once("data-newest=\"").expect("the time of the newest run");
    let newest: i64 = newest.split('"').next().expect("a number").parse().expect("a number");
    tokio::time::sleep(Duration::from_millis(2)).await;
    site.start("new", None).await;
    let filtered = page(site.get(&format!("/?status=failed&seen={newest}")), StatusCode::OK).await;
    assert!(filtered.contains("data-hidden=\"1\"") && filtered.contains(">1 new<"), "{filtered}");
    let all = page(site.get(&format!("/?seen={newest}")), StatusCode::OK).await;
    assert!(all.contains("data-hidden=\"0\"") && !all.contains("1 new"), "{all}");
}

#[tokio::test]
async fn a_tool_that_is_down_is_shown_so_with_its_address_for_the_owner_only() {
    let (reads, reader) = token("reader", &[Scope::Read]);
    let (admins, admin) = token("admin", &[Scope::Admin]);
    let site = Site::open(Access::Tokens(vec![reader, admin]), false).await;
    let tools = |token: &str| site.get("/tools").header("cookie", format!("reknit-token={token}"));
    let address = site.tool.base_url();
    let shown = page(tools(&admins), StatusCode::OK).await;
    assert!(shown.contains("ready") && shown.contains("answers") && shown.contains(&address), "{shown}");
    let shown = page(tools(&reads), StatusCode::OK).await;
    assert!(shown.contains("instance 1") && !shown.contains(&address), "{shown}");
}

#[tokio::test]
async fn questions_and_models_have_pages_that_say_what_to_do_while_they_are_empty() {
    let site = Site::open(Access::OwnMachine, true).await;
    assert!(page(site.get("/questions"), StatusCode::OK).await.contains("Nothing waits for you"));
    assert!(page(site.get("/models"), StatusCode::OK).await.contains("No model is configured"));
    assert!(page(site.get("/stats"), StatusCode::OK).await.contains("Nothing to count yet"));
    site.start("r", None).await;
    let asked = page(site.get("/questions"), StatusCode::OK).await;
    assert!(asked.contains("Send with amount 5") && asked.contains("<span class=\"count\">1</span>"), "{asked}");
}

/// A server with a file for rules, and a bank that knows currencies by their codes.
struct RuleSite {
    site: Site,
    model: ScriptedModel,
    folder: tempfile::TempDir,
}

impl RuleSite {
    async fn open(access: Access) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let names = Value::parse(r#"["JPY", "<b>"]"#).expect("JSON");
        let error = reknit_protocol::ToolError::new("NO_RATE", "no <i>rate</i>", reknit_protocol::Category::NotFound)
            .retryable(reknit_protocol::Retryable::Yes)
            .detail("names", names);
        let is_code = |call: &reknit_fakes::tool::RecordedCall| {
            call.parameters.get("from").and_then(Value::as_str) == Some("JPY")
        };
        let tool = ScriptedTool::new("bank")
            .capability("convert", SideEffect::Read)
            .on("convert", CallMatcher::any().passes(is_code), Reply::data(Value::parse(r#"{"rate": 9}"#).unwrap()))
            .on("convert", CallMatcher::any(), Reply::error(error));
        let tool = tool.start().await.expect("the tool starts");
        let advice = r#"{"should_retry": true, "reason": "a code", "suggested_changes": {"from": "JPY"}}"#;
        let script = Script::new().on(RequestMatcher::any(), Reply::text(advice));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let file = folder.path().join("rules.yaml").display().to_string();
        let reknit = Reknit::builder()
            .tool_service("bank", &tool.base_url())
            .model(Target::new("main", model.base_url(), "m-1"))
            .configure(move |config| config.rules_file(&file));
        let reknit = reknit.start().await.expect("it starts");
        Self { site: Site::of(reknit, access, tool).await, model, folder }
    }

    async fn convert(&self, id: &str) {
        let plan = "request: convert\nsteps: [{id: convert, tool: bank/convert, with: {from: Yen}}]";
        let body = json!({"plan": plan, "run_id": id}).to_string();
        let run = self.site.client.post(format!("{}/v1/runs", self.site.url)).body(body).send().await.unwrap();
        let run: Json = serde_json::from_str(&run.text().await.unwrap()).unwrap();
        assert_eq!(run["status"], "complete", "{run}");
    }

    /// The path of the only rule, and which version of it the page shows.
    async fn only_rule(&self) -> (String, String) {
        let shown = page(self.site.get("/rules"), StatusCode::OK).await;
        let between = |start: &str, end: char| {
            let (_, rest) = shown.split_once(start).unwrap_or_else(|| panic!("{start}: {shown}"));
            rest.split(end).next().unwrap_or_default().to_owned()
        };
        (format!("/rules/{}", between("action=\"/rules/", '/')), between("name=\"seen\" value=\"", '"'))
    }
}

#[tokio::test]
async fn a_rule_is_shown_with_its_evidence_and_accepted_rejected_and_accepted_again_with_forms() {
    let rules = RuleSite::open(Access::OwnMachine).await;
    let site = &rules.site;
    assert!(page(site.get("/rules"), StatusCode::OK).await.contains("No rules yet"));
    rules.convert("r-1").await;
    let shown = page(site.get("/rules"), StatusCode::OK).await;
    for part in [
        "<h1>Rules</h1>",
        "bank/convert after 404 NO_RATE “no &lt;i&gt;rate&lt;/i&gt;”",
        "parameters.from by Yen -&gt; &quot;JPY&quot;",
        "would have helped 1 time",
        "would have harmed 0 times",
        "learned from 1 model call",
        "href=\"/runs/r-1?step=convert\"",
        "Accept this rule",
        "aria-current=\"page\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (path, seen) = rules.only_rule().await;
    let accept = format!("{path}/accept");
    let stale = page(site.form(&accept, &[("seen", "0")]), StatusCode::CONFLICT).await;
    assert!(stale.contains("the rule has changed"), "{stale}");
    let foreign = site.form(&accept, &[("seen", &seen)]).header("origin", "https://evil.example");
    page(foreign, StatusCode::FORBIDDEN).await;
    page(site.form("/rules/0/accept", &[("seen", "0")]), StatusCode::NOT_FOUND).await;
    assert_eq!(goes_to(&site.form(&accept, &[("seen", &seen)]).send().await.unwrap()), "/rules");
    let file = std::fs::read_to_string(rules.folder.path().join("rules.yaml")).expect("the file");
    assert!(file.contains("state: accepted"), "{file}");
    rules.convert("r-2").await;
    assert_eq!(rules.model.requests().len(), 1, "the second occurrence costs no model call");
    let shown = page(site.get("/rules"), StatusCode::OK).await;
    assert!(shown.contains("used 1 time, which saved about 1 model call"), "{shown}");

    let reject = format!("{path}/reject");
    let stale = page(site.form(&reject, &[("seen", &seen)]), StatusCode::CONFLICT).await;
    assert!(stale.contains("the rule has changed"), "it was a proposal: {stale}");
    let (_, seen) = rules.only_rule().await;
    assert_eq!(goes_to(&site.form(&reject, &[("seen", &seen)]).send().await.unwrap()), "/rules");
    rules.convert("r-3").await;
    assert_eq!(rules.model.requests().len(), 2, "a rejected rule is not used");
    assert!(page(site.get("/rules"), StatusCode::OK).await.contains("Retired: rejected by a person"));
    let (_, seen) = rules.only_rule().await;
    assert_eq!(goes_to(&site.form(&accept, &[("seen", &seen)]).send().await.unwrap()), "/rules");
    rules.convert("r-4").await;
    assert_eq!(rules.model.requests().len(), 2, "it is used again at once");
}

#[tokio::test]
async fn rules_are_for_those_who_see_all_runs() {
    let (secret, reader) = token("reader", &[Scope::Read, Scope::Run, Scope::Approve]);
    let rules = RuleSite::open(Access::Tokens(vec![reader])).await;
    let refused = page(rules.site.get("/rules").bearer_auth(&secret), StatusCode::FORBIDDEN).await;
    assert!(refused.contains("does not have the scope `admin`"), "{refused}");
    page(rules.site.form("/rules/0/accept", &[]).bearer_auth(&secret), StatusCode::FORBIDDEN).await;
    let runs = page(rules.site.get("/").bearer_auth(&secret), StatusCode::OK).await;
    assert!(!runs.contains("href=\"/rules\""), "{runs}");
}
