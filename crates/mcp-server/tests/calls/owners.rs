//! Runs of several owners in one journal.

use reknit::runtime::{DriveError, RunOwner, export, import, system_ms};
use reknit::{ConfigBuilder, Reknit};
use reknit_engine::ApprovalRule;
use reknit_fakes::tool::RunningTool;
use reknit_journal::LeaseTerm;
use reknit_mcp_server::{McpServer, Offering};
use reknit_plan::read_plan_file;
use reknit_protocol::RunId;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde_json::json;

use crate::connection::{Client, payments_are_approved, shop, texts};

/// A shop whose journal several owners share.
struct SharedShop {
    tool: RunningTool,
    reknit: Reknit,
}

impl SharedShop {
    async fn open(rules: Vec<ApprovalRule>) -> Self {
        let tool = shop().start().await.expect("the tool starts");
        let builder = Reknit::builder().tool_service("t", &tool.base_url());
        let builder = builder.configure(move |config| rules.into_iter().fold(config, ConfigBuilder::approve));
        Self { reknit: builder.start().await.expect("it starts"), tool }
    }

    /// The runtime for an owner; without a name, for the owner of the machine.
    fn reknit_of(&self, (name, sees_all_runs): (&str, bool)) -> Reknit {
        if name.is_empty() {
            return self.reknit.clone();
        }
        let name = name.to_owned();
        self.reknit.clone().owned_by(RunOwner { name, tools: None, monthly_budget: None, sees_all_runs })
    }

    /// The result of a payment and the id of its run.
    async fn pay(&self, owner: (&str, bool)) -> (CallToolResult, String) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(McpServer::new(self.reknit_of(owner), Offering::EveryTool).serve_on(tokio::io::split(ours)));
        let client = Client { answer: None }.serve(theirs).await.expect("the client connects");
        let arguments = json!({"amount": 5}).as_object().cloned().expect("an object");
        let call = client.call_tool(CallToolRequestParams::new("t__pay").with_arguments(arguments));
        let result = call.await.expect("the server answers");
        let run = result.meta.as_ref().expect("it has metadata").0["reknit/run"].as_str().expect("an id").to_owned();
        (result, run)
    }

    /// A run of somebody else, which ends or waits for a person.
    async fn plant(&self, owner: (&str, bool), id: &str, plan: &str) {
        let reknit = self.reknit_of(owner);
        let (plan, _) = read_plan_file(plan).expect("a plan");
        let started = reknit.runtime().started("", Some(plan)).with_id(RunId::new(id));
        reknit.start(started).settled().await.expect("it ends or waits");
    }
}

#[tokio::test]
async fn a_run_of_another_owner_is_never_the_result_of_a_call() {
    let (ann, bob, root, nobody) = (("ann", false), ("bob", false), ("root", true), ("", false));
    let forged = "steps: [{id: call, tool: t/look}]";
    let waiting = "steps: [{id: call, tool: t/pay, with: {amount: 5}}]";
    for (caller, stranger, plan, rules) in [
        (ann, bob, forged, vec![]),
        (ann, nobody, forged, vec![]),
        (nobody, bob, forged, vec![]),
        (root, bob, forged, vec![]),
        (ann, bob, waiting, vec![payments_are_approved()]),
    ] {
        let (_, id) = SharedShop::open(rules.clone()).await.pay(caller).await;
        assert!(id.starts_with("mcp-"), "{id}");
        let shop = SharedShop::open(rules.clone()).await;
        shop.plant(stranger, &id, plan).await;
        let calls = shop.tool.call_count();
        let (result, run) = shop.pay(caller).await;
        assert_ne!(run, id, "{caller:?} {stranger:?}");
        let text = &texts(&result)[0];
        if rules.is_empty() {
            assert_eq!((text.as_str(), shop.tool.call_count()), ("paid", calls + 1));
        } else {
            assert!(text.starts_with("Not done yet") && !text.contains(&id), "{text}");
        }
        let (_, again) = shop.pay(caller).await;
        assert_eq!(again, run, "a call of its own is remembered");
    }
}

#[tokio::test]
async fn an_imported_run_is_never_the_result_of_a_call() {
    let (elsewhere, shop) = (SharedShop::open(Vec::new()).await, SharedShop::open(Vec::new()).await);
    let (_, id) = elsewhere.pay(("", false)).await;
    let (from, into) = (&elsewhere.reknit.runtime().journal, &shop.reknit.runtime().journal);
    let mut lines = Vec::new();
    export(from, &RunId::new(&id), false, |line| {
        lines.push(line);
        Ok::<_, DriveError>(())
    })
    .await
    .expect("it is exported");
    let term = LeaseTerm { now_ms: system_ms(), ttl_ms: 1_000 };
    import(into, &lines.join("\n"), term).await.expect("it is imported");
    let (result, run) = shop.pay(("", false)).await;
    assert_eq!((texts(&result)[0].as_str(), shop.tool.call_count()), ("paid", 1));
    assert_ne!(run, id);
}

#[tokio::test]
async fn equal_calls_of_two_owners_are_two_calls() {
    let shop = SharedShop::open(Vec::new()).await;
    let ((_, of_ann), (_, of_bob)) = (shop.pay(("ann", false)).await, shop.pay(("bob", false)).await);
    assert_eq!(shop.tool.call_count(), 2);
    let digest = |id: &str| id.rsplit_once('-').expect("a number").0.to_owned();
    assert_ne!(digest(&of_ann), digest(&of_bob), "the owner is in the digest");
}
