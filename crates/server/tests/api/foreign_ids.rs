//! Ids under which somebody else has a run: what one caller starts is never what another one gets.

use reknit::Reknit;
use reknit_journal::{Deletion, RunFilter};
use reknit_plan::read_plan_file;
use reknit_protocol::{RunId, Sha256, hex};
use reknit_runtime::RunOwner;
use reknit_server::{Access, Scope, Token};
use reqwest::StatusCode;
use serde_json::{Value as Json, json};

use crate::{Api, REFUND, bank, error_of, json_of, mcp, mcp_session, token};

/// A server with the tokens `ann` and `bob`, and the runtime behind it.
struct Shared {
    api: Api,
    reknit: Reknit,
    ann: String,
    bob: String,
}

impl Shared {
    async fn open() -> Self {
        let (ann, ann_token) = token("ann", &[Scope::Read, Scope::Run]);
        let (bob, bob_token) = token("bob", &[Scope::Read, Scope::Run]);
        let tool = bank().start().await.expect("the tool starts");
        let reknit = Reknit::builder().tool_service("bank", &tool.base_url()).start().await.expect("it starts");
        let access = Access::Tokens(vec![ann_token, bob_token]);
        Self { api: Api::of(reknit.clone(), tool, access, 100).await, reknit, ann, bob }
    }

    /// A run of bob under an id that the API lets nobody choose: one that an older version let him choose.
    async fn plant(&self, id: &str) {
        let name = "bob".to_owned();
        let bob = RunOwner { name, tools: None, monthly_budget: None, sees_all_runs: false };
        let reknit = self.reknit.clone().owned_by(bob);
        let (plan, _) = read_plan_file(&REFUND.replace("refund, tool", "call, tool")).expect("a plan");
        let started = reknit.runtime().started("", Some(plan)).with_id(RunId::new(id));
        reknit.start(started).settled().await.expect("it ends");
    }

    async fn start(&self, token: &str, body: &Json) -> Json {
        json_of(self.api.post("/v1/runs", body).bearer_auth(token), StatusCode::OK).await
    }

    async fn refund_by_mcp(&self, token: &str) -> String {
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "bank__refund", "arguments": {"amount": "5"}}});
        let session = mcp_session(&self.api, token).await;
        mcp(&self.api, token, Some(&session), &call).await.1
    }

    async fn owners_of_runs(&self) -> Vec<String> {
        let runs = self.reknit.runtime().journal.runs(&RunFilter::newest(9)).await.expect("runs");
        runs.into_iter().filter_map(|run| run.owner).collect()
    }
}

#[tokio::test]
async fn a_run_under_the_id_of_anothers_mcp_call_is_not_its_result() {
    let elsewhere = Shared::open().await;
    let answer = elsewhere.refund_by_mcp(&elsewhere.ann).await;
    let (_, id) = answer.split_once("\"reknit/run\":\"").expect("the answer names its run");
    let id = &id[..id.find('"').expect("the end of the id")];
    let shared = Shared::open().await;
    shared.plant(id).await;
    for is_repeated in [false, true] {
        let answer = shared.refund_by_mcp(&shared.ann).await;
        assert_eq!(answer.contains("not called again"), is_repeated, "{answer}");
        assert!(answer.contains("refunded") && !answer.contains(id), "{answer}");
    }
    assert_eq!(shared.owners_of_runs().await, ["ann", "bob"]);
    assert_eq!(shared.api.tool.calls().len(), 2);
}

#[tokio::test]
async fn an_idempotency_key_never_finds_the_run_of_another_token() {
    let shared = Shared::open().await;
    let keyed = |token: &str, plan: &str| {
        let request = shared.api.post("/v1/runs", &json!({"plan": plan})).bearer_auth(token);
        request.header("Idempotency-Key", "order 8")
    };
    let run = async |token: &str| json_of(keyed(token, REFUND), StatusCode::OK).await["run"].clone();
    let (of_ann, of_bob) = (run(&shared.ann).await, run(&shared.bob).await);
    assert_ne!(of_ann, of_bob);
    assert_eq!((run(&shared.ann).await, run(&shared.bob).await), (of_ann, of_bob));

    let shared = Shared::open().await;
    let id = format!("key-{}", hex(&Sha256::digest(b"ann\0order 8")));
    shared.plant(&id).await;
    let keyed = |plan: &str| {
        let request = shared.api.post("/v1/runs", &json!({"plan": plan})).bearer_auth(&shared.ann);
        request.header("Idempotency-Key", "order 8")
    };
    for plan in [REFUND, &REFUND.replace('5', "6")] {
        assert_eq!(error_of(keyed(plan), StatusCode::CONFLICT).await, format!("the id `{id}` is in use"));
    }
    assert_eq!(shared.owners_of_runs().await, ["bob"]);
}

#[tokio::test]
async fn metrics_are_for_tokens_that_see_all_runs() {
    let (ann, of_ann) = token("ann", &[Scope::Read]);
    let (prometheus, of_prometheus) = token("prometheus", &[Scope::Read]);
    let of_prometheus = Token { sees_all_runs: true, ..of_prometheus };
    let api = Api::open(bank(), Vec::new(), Access::Tokens(vec![of_ann, of_prometheus]), 10).await;
    let refused = error_of(api.get("/metrics").bearer_auth(&ann), StatusCode::FORBIDDEN).await;
    assert!(refused.contains("`ann` sees only its own runs") && refused.contains("--all-runs"), "{refused}");
    let seen = api.get("/metrics").bearer_auth(&prometheus).send().await.expect("an answer");
    assert_eq!(seen.status(), StatusCode::OK);
}

#[tokio::test]
async fn an_id_that_another_token_uses_is_refused_in_the_same_words_whatever_is_known_about_it() {
    let shared = Shared::open().await;
    let body = json!({"plan": REFUND, "run_id": "r"});
    shared.start(&shared.ann, &body).await;
    let other = json!({"plan": REFUND.replace('5', "6"), "run_id": "r"});
    for is_removed in [false, true] {
        if is_removed {
            let journal = &shared.reknit.runtime().journal;
            journal.delete(&RunId::new("r"), Deletion::Ended, 0).await.expect("it is removed");
        }
        for mut body in [body.clone(), other.clone()] {
            for mode in ["wait", "start"] {
                body["mode"] = json!(mode);
                let refused = shared.api.post("/v1/runs", &body).bearer_auth(&shared.bob);
                let refused = error_of(refused, StatusCode::CONFLICT).await;
                assert_eq!(refused, "the id `r` is in use", "{body}, removed: {is_removed}");
            }
        }
    }
    assert_eq!(shared.api.tool.calls().len(), 1);
}

#[tokio::test]
async fn ids_of_others_change_neither_a_list_nor_what_the_beginning_of_an_id_finds() {
    let shared = Shared::open().await;
    shared.start(&shared.bob, &json!({"plan": REFUND, "run_id": "refund-7z"})).await;
    shared.start(&shared.ann, &json!({"plan": REFUND, "run_id": "refund-7a"})).await;
    for (after, runs) in [("refund-7a", 0), ("nothing", 0), ("refund-7z", 0)] {
        let listed = shared.api.get(&format!("/v1/runs?after={after}")).bearer_auth(&shared.bob);
        let listed = json_of(listed, StatusCode::OK).await;
        assert_eq!(listed["runs"].as_array().expect("runs").len(), runs, "{after}");
    }
    let found = shared.api.get("/runs/refund-7").bearer_auth(&shared.bob).send().await.expect("an answer");
    assert_eq!((found.status(), found.url().path()), (StatusCode::OK, "/runs/refund-7z"));
    let missing = shared.api.get("/runs/refund-7a").bearer_auth(&shared.bob).send().await.expect("an answer");
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
}
