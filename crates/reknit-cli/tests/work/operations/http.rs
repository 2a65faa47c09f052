//! Operations by the HTTP API and by the forms of the pages.

use std::time::{Duration, Instant};

use reknit::Value;
use reknit_protocol::percent_encoded;

use super::Operation::{
    self, Approve, Cancel, Deny, Edit, EditBadly, Explain, Fork, ForkNowhere, GoOn, Retry, SayItHappened, Start,
};
use super::{Face, Outcome, PLAN, RUN};
use crate::serve::Serving;

/// The API, and the pages, whose forms are sent to the same server.
pub(super) struct Http<'s> {
    server: &'s Serving,
    has_pages: bool,
    /// The path of the newest question, and its hash. Those of a question that is decided are as before.
    known: (String, String),
}

impl<'s> Http<'s> {
    pub(super) fn api(server: &'s Serving) -> Self {
        Self { server, has_pages: false, known: Default::default() }
    }

    pub(super) fn pages(server: &'s Serving) -> Self {
        Self { has_pages: true, ..Self::api(server) }
    }

    fn get(&self, path: &str) -> Value {
        body_of(&self.server.request("GET", path, "", ""))
    }

    fn question(&mut self) -> (String, String) {
        let run = self.get(&format!("/v1/runs/{RUN}"));
        let first = run.get("questions").and_then(|questions| questions.as_array()?.first());
        let text = |key: &str| Some(first?.get(key)?.as_str()?.to_owned());
        if let (Some(question), Some(hash)) = (text("question"), text("hash")) {
            self.known = (question, hash);
        }
        self.known.clone()
    }

    fn decide(&mut self, decision: &str, more: &[(&str, &str)]) -> Result<(), String> {
        let (question, hash) = self.question();
        let path = format!("/runs/{RUN}/decisions/{}", percent_encoded(&question));
        let fields = [[("hash", hash.as_str()), ("decision", decision)].as_slice(), more].concat();
        self.post(&path, &fields)
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        if self.has_pages {
            return self.form(path, fields);
        }
        let is_json = |name: &str| matches!(name, "parameters" | "result");
        let field = |(name, value): &(&str, &str)| {
            let value = if is_json(name) { (*value).to_owned() } else { Value::from(*value).to_string() };
            format!("\"{name}\": {value}")
        };
        let body = format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "));
        api_error(&body_of(&self.server.request("POST", &format!("/v1{path}"), "", &body)))
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        let field = |(name, value): &(&str, &str)| format!("{name}={}", percent_encoded(value));
        let body = fields.iter().map(field).collect::<Vec<_>>().join("&");
        let kind = "content-type: application/x-www-form-urlencoded\r\n";
        let response = self.server.request("POST", path, kind, &body);
        if response.starts_with("HTTP/1.1 303") {
            return Ok(());
        }
        let (_, page) = response.split_once("<main").expect("a page");
        Err(plain_text(page))
    }

    /// Waits until the run has ended, or waits for a person if it may.
    fn settle(&self, may_wait: bool) {
        let began = Instant::now();
        let is_moving = || {
            let run = self.get(&format!("/v1/runs/{RUN}"));
            let has_questions = run.get("questions").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
            let status = run.get("status").and_then(Value::as_str).unwrap_or_default();
            matches!(status, "running" | "waiting" | "stopped") && !(may_wait && has_questions)
        };
        while is_moving() {
            assert!(began.elapsed() < Duration::from_mins(2), "the run goes on for ever");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn body_of(response: &str) -> Value {
    let (_, body) = response.split_once("\r\n\r\n").expect("a body");
    Value::parse(body.trim()).unwrap_or_default()
}

fn api_error(body: &Value) -> Result<(), String> {
    match body.get("error").and_then(|error| error.get("message")?.as_str()) {
        Some(message) => Err(message.to_owned()),
        None => Ok(()),
    }
}

/// The text of a page, without its tags and without the marks of code.
fn plain_text(page: &str) -> String {
    let parts = page.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let text = parts.collect::<String>();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

impl Face for Http<'_> {
    async fn act(&mut self, operation: Operation) -> Outcome {
        let change = |what: &str| format!("/runs/{RUN}/{what}");
        let outcome = match operation {
            Explain if self.has_pages => return Outcome::NotOffered,
            Explain => {
                let explanation = self.get(&format!("/v1{}", change("explain")));
                match api_error(&explanation) {
                    Ok(()) => return Outcome::Explained(Box::new(explanation)),
                    refused => refused,
                }
            }
            Fork | ForkNowhere => return Outcome::NotOffered,
            Start if self.has_pages => self.form(
                "/new",
                &[("kind", "plan"), ("text", PLAN), ("run_id", RUN), ("answer", "template"), ("do", "run")],
            ),
            Start => self.post("/runs", &[("run_id", RUN), ("plan", PLAN), ("answer", "template")]),
            SayItHappened => self.decide("happened", &[]),
            EditBadly => self.decide("edit", &[("parameters", r#"{"amount": 0}"#)]),
            Edit => self.decide("edit", &[("parameters", r#"{"amount": 5}"#)]),
            Deny => self.decide("deny", &[("reason", "too much")]),
            Approve => self.decide("approve", &[]),
            // The server lets a run go on that is decided or cancelled; to resume it as well changes nothing.
            GoOn => self.post(&change("resume"), &[]),
            Retry => self.post(&change("retry"), &[]),
            Cancel => self.post(&change("cancel"), &[]),
        };
        if outcome.is_ok() && matches!(operation, Start | GoOn | Retry) {
            self.settle(operation != GoOn);
            self.question();
        }
        outcome.into()
    }
}
