//! What each client has read through this server, and what it says that its user wants: with the guard on, its calls are judged by it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::{ClientReads, ClientRequest, Mandate};
use reknit_protocol::Object;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ErrorData};
use rmcp::service::RequestContext;

use crate::result::is_marked_in_doubt;

/// The keys of a request's `_meta`.
const REQUEST: &str = "reknit/request";
const MANDATE: &str = "reknit/mandate";

const SESSION_HEADER: &str = "mcp-session-id";

/// How many conversations are kept. The one that was used longest ago is forgotten first.
const MOST: usize = 256;

/// The conversations of all clients, the last one used at the end.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<VecDeque<(String, Arc<Mutex<Conversation>>)>>);

#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) reads: ClientReads,
    /// What the client has said about its user's wishes so far.
    pub(crate) asked: ClientRequest,
}

impl Conversations {
    /// Which conversation a call belongs to: its session, or else whoever makes it.
    pub(crate) fn of(&self, context: &RequestContext<RoleServer>, caller: &str) -> Arc<Mutex<Conversation>> {
        let parts = context.extensions.get::<http::request::Parts>();
        let session = parts.and_then(|parts| parts.headers.get(SESSION_HEADER)?.to_str().ok()).unwrap_or_default();
        let client = format!("{session}\0{caller}");
        let mut known = self.0.lock();
        let at = known.iter().position(|(name, _)| *name == client);
        let found = at.and_then(|at| known.remove(at)).unwrap_or_else(|| (client, Arc::default()));
        let conversation = Arc::clone(&found.1);
        known.push_back(found);
        if known.len() > MOST {
            known.pop_front();
        }
        conversation
    }
}

impl Conversation {
    /// Notes what the metadata of a call says about the user's request. A new request adds to the earlier ones. A mandate takes the
    /// place of the one before, and one that comes with a new request counts calls anew.
    pub(crate) fn hear(&mut self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let refused =
            |key: &str, what: &str| ErrorData::invalid_params(format!("`{key}` in `_meta` must be {what}"), None);
        let request = match context.meta.get(REQUEST) {
            None => None,
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            Some(_) => return Err(refused(REQUEST, "a text")),
        };
        let mandate: Option<Mandate> = match context.meta.get(MANDATE) {
            None => None,
            Some(value) => Some(serde_json::from_value(value.clone()).map_err(|error| {
                refused(MANDATE, &format!("a list of permissions, each with a `capability`: {error}"))
            })?),
        };
        let known = self.asked.request.as_deref().unwrap_or_default();
        let new = request.filter(|text| self.asked.request.is_none() || !known.contains(text.as_str()));
        if new.is_some() && mandate.is_some() {
            self.reads.forget_changes();
        }
        if let Some(text) = new {
            self.asked.request = Some(if known.is_empty() { text } else { format!("{known}\n{text}") });
        }
        if mandate.is_some() {
            self.asked.mandate = mandate;
        }
        Ok(())
    }

    /// Notes the texts of a result, and that the call changed nothing if it failed for certain. `source` is the capability that was called.
    pub(crate) fn note(
        &mut self,
        (source, sent): (Option<(&str, &str)>, &Object),
        changes: bool,
        result: &CallToolResult,
    ) {
        let is_error = result.is_error == Some(true);
        if let Some((tool, capability)) = source.filter(|_| changes && is_error && !is_marked_in_doubt(result)) {
            self.reads.forget_change(tool, capability);
        }
        let texts = result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str());
        for (at, text) in texts.enumerate() {
            // Notes of ours follow the first text, and an error may repeat what the client sent.
            self.reads.add_result(source.filter(|_| at == 0 && !is_error), text, sent);
        }
    }
}
