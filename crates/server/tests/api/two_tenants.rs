//! Two tokens of one server send random requests about their own runs and those of the other: nothing crosses, nothing is revealed.

use std::collections::{BTreeMap, BTreeSet};

use reknit::Reknit;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_models::Target;
use reknit_protocol::{KeyRule, SideEffect, Value};
use reknit_server::{Access, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::{Api, bank, mcp_session, token};

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

#[derive(Debug)]
struct Tenant {
    name: &'static str,
    token: String,
    /// Its sessions of MCP, of which it may end some.
    sessions: Vec<String>,
    /// The ids of its runs.
    runs: BTreeSet<String>,
    /// The deeds that it has done.
    deeds: BTreeSet<usize>,
}

impl Tenant {
    /// What only its own requests and answers have.
    fn secret(&self) -> String {
        format!("secret-of-{}", self.name)
    }
}

struct World {
    api: Api,
    model: ScriptedModel,
    _folder: tempfile::TempDir,
    random: Random,
    tenants: [Tenant; 2],
    /// How many values were found for each by what its model or an earlier run of it said.
    conversions: [usize; 2],
    /// Who has the runs whose ids anybody can choose.
    chosen: BTreeMap<String, usize>,
    /// Answers about runs that do not exist and about those of others, without their ids.
    unknown: BTreeSet<(String, String)>,
}

/// A request and what is known about it.
struct Sent {
    method: Method,
    path: String,
    body: Json,
    headers: Vec<(&'static str, String)>,
}

impl Sent {
    fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: Json::Null, headers: Vec::new() }
    }

    fn post(path: String, body: Json) -> Self {
        Self { method: Method::POST, path, body, headers: Vec::new() }
    }
}

fn plan(deed: usize, secret: &str) -> String {
    format!("steps: [{{id: s, tool: bank/refund, with: {{amount: {deed}, note: {secret}}}}}]")
}

/// Each tenant's model finds the amount in another field, and its later runs learn that from it.
const CONVERT: &str = "steps: [{id: quote, tool: bank/quote}, {id: convert, tool: bank/convert, after: quote}]";
const QUOTED: [u64; 2] = [101, 202];

fn tools() -> ScriptedTool {
    let value = |text: &str| Value::parse(text).expect("JSON");
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    bank()
        .capability("quote", SideEffect::Read)
        .on("quote", CallMatcher::any(), Reply::data(value(r#"{"price_ann": 101, "price_bob": 202}"#)))
        .capability("convert", SideEffect::Read)
        .schema(value(schema))
        .on("convert", CallMatcher::any(), Reply::data(value("1")))
}

fn script() -> Script {
    let finds = |name: &str| {
        let matcher = RequestMatcher::any().purpose("micro_resolution").says(format!("secret-of-{name}"));
        (matcher, Reply::text(format!(r#"{{"amount": "{{{{quote.data.price_{name}}}}}"}}"#)))
    };
    let (ann, bob) = (finds("ann"), finds("bob"));
    Script::new().on(ann.0, ann.1).on(bob.0, bob.1).on(RequestMatcher::any(), Reply::text("Nothing."))
}

impl World {
    async fn open() -> Self {
        let scopes = [Scope::Read, Scope::Run, Scope::Approve];
        let ((ann, of_ann), (bob, of_bob)) = (token("ann", &scopes), token("bob", &scopes));
        let tool = tools().start().await.expect("the tool starts");
        let model = ScriptedModel::start(script()).await.expect("the model starts");
        let rule = KeyRule::new(["amount"]);
        let builder = Reknit::builder().tool_service("bank", &tool.base_url());
        let folder = tempfile::tempdir().expect("a folder");
        // A journal in memory forgets runs after the first thousand.
        let journal = folder.path().join("journal.db");
        let builder = builder.model(Target::new("m", model.base_url(), "m")).journal(&journal);
        let builder = builder.configure(|config| config.business_key("bank/refund", rule));
        let reknit = builder.start().await.expect("it starts");
        let api = Api::of(reknit, tool, Access::Tokens(vec![of_ann, of_bob]), 100).await;
        let mut tenants = Vec::new();
        for (name, token) in [("ann", ann), ("bob", bob)] {
            let sessions = vec![mcp_session(&api, &token).await];
            tenants.push(Tenant { name, token, sessions, runs: BTreeSet::new(), deeds: BTreeSet::new() });
        }
        let tenants = tenants.try_into().expect("two");
        Self {
            api,
            model,
            _folder: folder,
            random: Random(7),
            tenants,
            conversions: [0; 2],
            chosen: BTreeMap::new(),
            unknown: BTreeSet::new(),
        }
    }

    /// An id of a run: of the sender, of the other, or of nobody.
    fn some_id(&mut self) -> String {
        let known: Vec<String> = self.tenants.iter().flat_map(|tenant| tenant.runs.iter().cloned()).collect();
        match self.random.below(4) {
            0 => format!("chosen-{}", self.random.below(60)),
            _ if known.is_empty() => "none".to_owned(),
            _ => self.random.one_of(&known),
        }
    }

    fn request(&mut self, sender: usize) -> Sent {
        let deed = self.random.below(30);
        let secret = self.tenants[sender].secret();
        match self.random.below(22) {
            kind @ (0..=2 | 15) => self.start(kind, sender, deed),
            3..=6 => {
                let parts = ["", "/explain", "/events", "/graph.svg", "/interactions"];
                let sent = Sent::get(format!("/v1/runs/{}{}", self.some_id(), self.random.one_of(&parts)));
                let cursor = ("last-event-id", self.random.below(9).to_string());
                Sent { headers: vec![cursor], ..sent }
            }
            7 => {
                let (id, other) = (self.some_id(), self.some_id());
                Sent::get(self.random.one_of(&[
                    format!("/runs/{id}"),
                    format!("/runs/{id}/compare?with={other}"),
                    format!("/ui/runs/{id}/events.jsonl"),
                ]))
            }
            8 | 9 => {
                let (verb, body) = self.random.one_of(&[
                    ("cancel", json!({})),
                    ("resume", json!({})),
                    ("retry", json!({})),
                    ("messages", json!({"input": "more"})),
                    ("decisions/s%2Fapproval", json!({"hash": "", "decision": "approve"})),
                ]);
                Sent::post(format!("/v1/runs/{}/{verb}", self.some_id()), body)
            }
            10 | 11 => {
                let other = self.tenants[1 - sender].secret();
                let queries = [
                    String::new(),
                    format!("after={}", self.some_id()),
                    format!("search={other}"),
                    "limit=1000".to_owned(),
                    "status=failed".to_owned(),
                    "since_ms=0&limit=3".to_owned(),
                ];
                Sent::get(format!("/v1/runs?{}", self.random.one_of(&queries)))
            }
            12 => Sent::get(self.random.one_of(&["/v1/tools", "/v1/token", "/v1/targets", "/metrics"]).to_owned()),
            13 => Sent::get(self.random.one_of(&["/", "/questions", "/tools", "/models", "/rules"]).to_owned()),
            // They read every run of the token.
            14 if self.random.below(20) == 0 => Sent::get(self.random.one_of(&["/v1/stats", "/stats"]).to_owned()),
            16 if self.random.below(4) == 0 => {
                let path = format!("/rules/{}/{}", self.some_id(), self.random.one_of(&["accept", "reject"]));
                Sent::post(path, json!({}))
            }
            16 => {
                let stored = format!("resp_{}", self.random.below(9));
                let body = json!({"model": "auto", "input": secret, "previous_response_id": stored});
                Sent::post("/v1/responses".to_owned(), body)
            }
            _ => self.mcp(sender, deed),
        }
    }

    /// Starts a run: under an id that somebody may have, or with a key.
    fn start(&mut self, kind: usize, sender: usize, deed: usize) -> Sent {
        let secret = self.tenants[sender].secret();
        match kind {
            0 | 1 => {
                let id = self.some_id();
                let mut body = json!({"plan": plan(deed, &secret), "run_id": id, "metadata": {"from": secret}});
                if self.random.below(8) == 0 {
                    body["request"] = json!(self.long_text(sender));
                }
                Sent::post("/v1/runs".to_owned(), body)
            }
            2 => {
                let key = format!("order-{}", self.random.below(20));
                let sent = Sent::post("/v1/runs".to_owned(), json!({"plan": plan(deed, &secret)}));
                Sent { headers: vec![("idempotency-key", key)], ..sent }
            }
            _ => {
                let key = format!("convert-{}", self.random.below(30));
                let sent = Sent::post("/v1/runs".to_owned(), json!({"plan": CONVERT, "request": secret}));
                Sent { headers: vec![("idempotency-key", key)], ..sent }
            }
        }
    }

    /// A text that the journal stores apart, under its digest: of the sender alone, or the same of both.
    fn long_text(&mut self, sender: usize) -> String {
        let secret = self.tenants[sender].secret();
        self.random.one_of(&["the same text ".to_owned(), format!("{secret} ")]).repeat(3_000)
    }

    fn mcp(&mut self, sender: usize, deed: usize) -> Sent {
        let owner = self.random.below(2);
        let session = self.random.one_of(&self.tenants[owner].sessions.clone());
        let id = self.some_id();
        let calls = [
            json!({"name": "bank__refund", "arguments": {"amount": deed, "note": self.tenants[sender].secret()}}),
            json!({"name": "explain_run", "arguments": {"run": id}}),
            json!({"name": "continue_run", "arguments": {"run": id}}),
            json!({"name": "search_tools", "arguments": {"query": "refund"}}),
            json!({"name": "run_plan", "arguments": {"steps": [{"id": "s", "tool": "bank/refund",
                "with": {"amount": deed, "note": self.tenants[sender].secret()}}]}}),
        ];
        let params = self.random.one_of(&calls);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("mcp-session-id", session),
            ("mcp-protocol-version", "2025-11-25".to_owned()),
        ];
        let is_end = self.random.below(50) == 0 && owner != sender;
        let method = if is_end { Method::DELETE } else { Method::POST };
        Sent { method, path: "/mcp".to_owned(), body, headers }
    }

    async fn step(&mut self) {
        let sender = self.random.below(2);
        let sent = self.request(sender);
        let calls = self.api.tool.call_count();
        let url = format!("{}{}", self.api.url, sent.path);
        let mut request = self.api.client.request(sent.method.clone(), url).bearer_auth(&self.tenants[sender].token);
        for (name, value) in &sent.headers {
            request = request.header(*name, value);
        }
        let response = request.body(sent.body.to_string()).send().await.expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a body");
        let about = format!("{} {} {}: {status} {text}", self.tenants[sender].name, sent.method, sent.path);
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{about}");
        self.check_secrets(sender, &sent, &text, &about);
        self.check_session(sender, &sent, status, &about);
        self.check_id(sender, &sent, status, &text, &about);
        check_refused(&sent, status, &about);
        self.learn(sender, &sent, status, &text);
        self.check_deed(sender, &sent, &text, calls, &about);
    }

    /// Nothing that only the other one has said or got is in an answer.
    fn check_secrets(&self, sender: usize, sent: &Sent, text: &str, about: &str) {
        let other = &self.tenants[1 - sender];
        let asked = format!("{} {}", sent.path, sent.body);
        let is_secret = |word: &str| other.runs.contains(word) || word == other.secret();
        let told = words(text).find(|word| is_secret(word) && !asked.contains(word));
        assert_eq!(told, None, "{about}");
    }

    fn check_session(&self, sender: usize, sent: &Sent, status: StatusCode, about: &str) {
        let Some((_, session)) = sent.headers.iter().find(|(name, _)| *name == "mcp-session-id") else { return };
        let is_own = self.tenants[sender].sessions.contains(session);
        if sent.method == Method::POST {
            assert_eq!(status, if is_own { StatusCode::OK } else { StatusCode::NOT_FOUND }, "{about}");
        }
    }

    /// A run of another one is as one that does not exist, in the same words.
    fn check_id(&mut self, sender: usize, sent: &Sent, status: StatusCode, text: &str, about: &str) {
        let chosen = sent.body["run_id"].as_str().map(str::to_owned);
        if let Some(id) = chosen {
            let derived = ["mcp-", "key-"].into_iter().any(|prefix| id.starts_with(prefix));
            match self.chosen.get(&id) {
                _ if derived => assert_eq!(status, StatusCode::BAD_REQUEST, "{about}"),
                Some(owner) if *owner != sender => {
                    assert_eq!(status, StatusCode::CONFLICT, "{about}");
                    assert!(text.contains(&format!("\"the id `{id}` is in use\"")), "{about}");
                }
                _ if status == StatusCode::OK => _ = self.chosen.insert(id, sender),
                _ => assert_eq!(status, StatusCode::CONFLICT, "{about}"),
            }
            return;
        }
        let Some(rest) = sent.path.strip_prefix("/v1/runs/") else { return };
        let (id, part) = rest.split_once('/').unwrap_or((rest, ""));
        if self.tenants[sender].runs.contains(id) {
            if part.starts_with("decisions") {
                return;
            }
            assert_ne!(status, StatusCode::NOT_FOUND, "its own run: {about}");
            return;
        }
        assert_eq!(status, StatusCode::NOT_FOUND, "{about}");
        let key = format!("{} {part}", sent.method);
        self.unknown.insert((key.clone(), text.replace(id, "ID")));
        let answers = self.unknown.iter().filter(|(known, _)| *known == key).count();
        assert_eq!(answers, 1, "one answer, whoever has the run: {about}");
    }

    fn learn(&mut self, sender: usize, sent: &Sent, status: StatusCode, text: &str) {
        let tenant = &mut self.tenants[sender];
        if sent.path == "/v1/runs" && sent.method == Method::POST && status == StatusCode::OK {
            let run: Json = serde_json::from_str(text).expect("JSON");
            let id = run["run"].as_str().expect("an id");
            tenant.runs.insert(id.to_owned());
            self.chosen.entry(id.to_owned()).or_insert(sender);
        }
        if let Some((_, id)) = text.split_once("\"reknit/run\":\"") {
            let id = id.split('"').next().unwrap_or_default();
            tenant.runs.insert(id.to_owned());
        }
    }

    /// A deed is done once by each, whatever the other one has done.
    fn check_deed(&mut self, sender: usize, sent: &Sent, text: &str, calls: usize, about: &str) {
        let made: Vec<_> = self.api.tool.calls().into_iter().skip(calls).collect();
        let (reads, made): (Vec<_>, Vec<_>) = made.into_iter().partition(|call| call.capability.as_str() != "refund");
        assert!(made.len() <= 1, "{about}");
        for call in reads.iter().filter(|call| call.capability.as_str() == "convert") {
            let amount = call.parameters.get("amount").map(ToString::to_string);
            assert_eq!(amount, Some(QUOTED[sender].to_string()), "the other one's mapping: {about}");
            self.conversions[sender] += 1;
        }
        for call in made {
            let note = call.parameters.get("note").and_then(reknit_protocol::Value::as_str).unwrap_or_default();
            assert_eq!(note, self.tenants[sender].secret(), "{about}");
            let deed = call.parameters.get("amount").expect("an amount").to_string().parse().expect("a number");
            assert!(self.tenants[sender].deeds.insert(deed), "done twice: {about}");
        }
        let amount = match sent.body["plan"].as_str() {
            Some(plan) => plan.split("amount: ").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok()),
            None => sent.body["params"]["arguments"]["amount"].as_u64().and_then(|amount| usize::try_from(amount).ok()),
        };
        if let Some(deed) = amount.filter(|_| text.contains("\"status\":\"complete\"") || text.contains("refunded")) {
            assert!(self.tenants[sender].deeds.contains(&deed), "the deed of another is none: {about}");
        }
    }
}

/// What belongs to all tokens together is for none of them.
fn check_refused(sent: &Sent, status: StatusCode, about: &str) {
    if sent.path.starts_with("/rules") || ["/v1/responses", "/metrics"].contains(&sent.path.as_str()) {
        assert_eq!(status, StatusCode::FORBIDDEN, "{about}");
    }
}

/// What a text consists of. An id is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '-')
}

async fn play(operations: usize) {
    let mut world = World::open().await;
    for _ in 0..operations {
        world.step().await;
    }
    assert!(world.tenants.iter().all(|tenant| tenant.deeds.len() > 5), "they did something");
    assert!(world.conversions.iter().all(|conversions| *conversions > 5), "they converted something");
    assert_eq!(world.model.requests().len(), 2, "each learned its mapping once, and only its own");
}

#[tokio::test]
async fn two_tokens_neither_see_nor_change_what_the_other_one_does() {
    play(1_500).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo test --release -p reknit-server --test api two_tokens -- --ignored"]
async fn two_tokens_neither_see_nor_change_what_the_other_one_does_in_a_hundred_thousand_requests() {
    play(100_000).await;
}
