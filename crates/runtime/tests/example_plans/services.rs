//! Simulated services: a shop, a bank, mail, builds, accounts, alerts, invoices and a database.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use reknit_engine::AskModel;
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{
    CallTool, Capability, Delivery, Object, ReplyBody, SideEffect, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_runtime::{BoxFuture, Transport};

/// What happens to the first attempts of every call, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Status 503, and nothing was done.
    Unavailable,
    /// Status 429 with a wait.
    RateLimited,
    /// The call is carried out, and the connection breaks before the answer.
    AnswerLost,
}

#[derive(Debug)]
pub(crate) struct Services {
    faults: Vec<Fault>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often each call was attempted, by step and parameters.
    attempts: HashMap<String, usize>,
    /// The replies to calls with side effects, by idempotency key.
    replies: BTreeMap<String, Value>,
    deeds: Vec<String>,
    /// How often the state of a build or a refund was asked for.
    asked: usize,
}

const CAPABILITIES: [(&str, SideEffect); 21] = [
    ("shop/list_orders", SideEffect::Read),
    ("shop/get_order", SideEffect::Read),
    ("shop/list_products", SideEffect::Read),
    ("shop/set_price", SideEffect::Keyed),
    ("shop/order_stock", SideEffect::Keyed),
    ("bank/refund", SideEffect::Keyed),
    ("bank/get_refund", SideEffect::Read),
    ("mail/send", SideEffect::Keyed),
    ("ci/start_build", SideEffect::Keyed),
    ("ci/get_build", SideEffect::Read),
    ("ci/deploy", SideEffect::Keyed),
    ("hr/create_account", SideEffect::Keyed),
    ("hr/get_account", SideEffect::Read),
    ("hr/list_accounts", SideEffect::Read),
    ("hr/add_to_group", SideEffect::Keyed),
    ("hr/disable_account", SideEffect::Keyed),
    ("ops/list_alerts", SideEffect::Read),
    ("ops/open_ticket", SideEffect::Keyed),
    ("books/list_invoices", SideEffect::Read),
    ("books/list_archive", SideEffect::Read),
    ("db/list_rows", SideEffect::Read),
];

const DATABASE: [(&str, SideEffect); 2] = [("db/write_row", SideEffect::Keyed), ("db/count_rows", SideEffect::Read)];

pub(crate) fn catalogue() -> Catalogue {
    let mut tools: BTreeMap<&str, Vec<CatalogueEntry>> = BTreeMap::new();
    for (key, effect) in CAPABILITIES.into_iter().chain(DATABASE) {
        let (tool, name) = key.split_once('/').expect("a tool and a capability");
        let capability = Capability { effect, ..Capability::new(name) };
        let entry = CatalogueEntry::new(capability, None).expect("it has no schema");
        tools.entry(tool).or_default().push(entry);
    }
    let tool = |(name, capabilities): (&str, Vec<CatalogueEntry>)| CatalogueTool {
        name: name.into(),
        description: String::new(),
        capabilities,
    };
    Catalogue { tools: tools.into_iter().map(tool).collect() }
}

impl Services {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self { faults, state: Mutex::default() }
    }

    /// The side effects, each as one line.
    pub(crate) fn deeds(&self) -> Vec<String> {
        self.state.lock().expect("the lock is not poisoned").deeds.clone()
    }

    fn answer(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        let mut state = self.state.lock().expect("the lock is not poisoned");
        let attempt =
            state.attempts.entry(format!("{} {} {}", call.step, call.capability, call.parameters)).or_default();
        *attempt += 1;
        let fault = self.faults.get(*attempt - 1).copied();
        let reply = |status, retry_after_ms, body| Ok(ToolReply { status, retry_after_ms, body, job: None });
        match fault {
            Some(Fault::Unavailable) => return reply(503, None, ReplyBody::Empty),
            Some(Fault::RateLimited) => return reply(429, Some(1_000), ReplyBody::Empty),
            Some(Fault::AnswerLost) | None => {}
        }
        let Some(value) = state.perform(call) else { return reply(403, None, ReplyBody::Empty) };
        if fault.is_some() {
            let message = "the connection broke".to_owned();
            return Err(TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, message });
        }
        reply(200, None, ReplyBody::Json(value))
    }
}

impl State {
    /// The result of a call, which takes effect once for each key. `None` if nobody may make it.
    fn perform(&mut self, call: &CallTool) -> Option<Value> {
        let key = match (&call.idempotency_key, call.side_effect) {
            (Some(key), _) => key.clone(),
            (None, _) => return self.read(call),
        };
        if let Some(reply) = self.replies.get(&key) {
            return Some(reply.clone());
        }
        let text = |name: &str| match call.parameters.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let deed = match call.capability.as_str() {
            "refund" => text("order"),
            "send" => format!("{}: {}", text("to"), text("text")),
            "start_build" => text("branch"),
            "deploy" => text("artifact"),
            "add_to_group" => format!("{} {}", text("login"), text("group")),
            "open_ticket" => text("service"),
            "write_row" => format!("{} {}", text("id"), text("name")),
            "set_price" => format!("{} {}", text("id"), text("price")),
            "order_stock" => format!("{} {}", text("id"), text("count")),
            _ => text("login"),
        };
        self.deeds.push(format!("{}/{} {deed}", call.tool, call.capability));
        let mut reply = call.parameters.clone();
        match call.capability.as_str() {
            "refund" => _ = reply.insert("id", format!("r-{}", text("order"))),
            "send" => _ = reply.insert("sent", Value::Bool(true)),
            "start_build" => _ = reply.insert("id", 7_u32),
            "deploy" => _ = reply.insert("url", format!("https://example.com/{}", text("artifact"))),
            "disable_account" => _ = reply.insert("active", Value::Bool(false)),
            _ => {}
        }
        let reply = Value::Object(reply);
        self.replies.insert(key, reply.clone());
        Some(reply)
    }

    fn read(&mut self, call: &CallTool) -> Option<Value> {
        let json = |text: &str| Value::parse(text).expect("the reply is JSON");
        let with = |extra: &[(&str, Value)]| {
            let mut reply: Object = call.parameters.clone();
            reply.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            Value::Object(reply)
        };
        Some(match call.capability.as_str() {
            "list_orders" => json(ORDERS),
            "get_order" => json(r#"{"id": 1, "status": "lost", "total": 19.99, "customer": "ann@example.com"}"#),
            "list_products" => {
                json(r#"{"items": [{"id": 1, "price": 9.99, "stock": 50}, {"id": 2, "price": 20, "stock": 3}]}"#)
            }
            "get_refund" => {
                self.asked += 1;
                with(&[("status", Value::from(if self.asked.is_multiple_of(3) { "booked" } else { "pending" }))])
            }
            "get_build" => {
                self.asked += 1;
                let status = if self.asked < 4 { "running" } else { "done" };
                with(&[("status", Value::from(status)), ("artifact", Value::from("a-7"))])
            }
            "get_account" => with(&[("active", Value::Bool(true))]),
            "list_accounts" => json(ACCOUNTS),
            "list_alerts" => json(ALERTS),
            "list_invoices" => json(INVOICES),
            "list_rows" => json(ROWS),
            "count_rows" => {
                let count = self.deeds.iter().filter(|deed| deed.starts_with("db/write_row")).count();
                with(&[("count", Value::from(count as u64))])
            }
            _ => return None,
        })
    }
}

const ORDERS: &str = r#"{"items": [
    {"id": 1, "status": "lost", "total": 19.99, "customer": "ann@example.com"},
    {"id": 2, "status": "done", "total": 5, "customer": "bob@example.com"},
    {"id": 3, "status": "lost", "total": 0.01, "customer": "ann@example.com"},
    {"id": 4, "status": "lost", "total": 500, "customer": "bob@example.com"}]}"#;
const ACCOUNTS: &str = r#"{"items": [{"login": "ada", "active": true}, {"login": "ada-old", "active": false},
    {"login": "ada-admin", "active": true}]}"#;
const ALERTS: &str = r#"{"items": [{"service": "web", "severity": "critical", "text": "slow"},
    {"service": "db", "severity": "critical", "text": "full"}, {"service": "web", "severity": "critical", "text": "errors"},
    {"service": "mail", "severity": "info", "text": "queue"}]}"#;
const INVOICES: &str = r#"{"items": [{"customer": "ann", "total": 10.50, "paid": false, "days": 40},
    {"customer": "bob", "total": 10, "paid": false, "days": 3}, {"customer": "ann", "total": 20, "paid": false, "days": 90},
    {"customer": "cid", "total": 99, "paid": true, "days": 90}]}"#;
const ROWS: &str = r#"{"items": [{"id": 1, "name": "Ann "}, {"id": 2, "name": "Bob"}, {"id": 3, "name": " Cid"},
    {"id": 4, "name": "Dan"}]}"#;

impl Transport for Services {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async { Err(ModelFailure::new(ErrorClass::AuthError, "no model is needed")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move { self.answer(call) })
    }
}
