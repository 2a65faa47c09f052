//! What somebody has read whose agent is not ours: the results of the calls that it made here. With the guard on, its later calls
//! are judged by them.

use std::collections::{BTreeMap, VecDeque};

use reknit_protocol::{Object, SideEffect, Value};

use crate::event::Started;
use crate::guard::{Earlier, Mandate, is_address, plain_text};
use crate::read_results::{ReadResult, WrittenCall};
use crate::run::parameter_leaves::leaves_of;

/// The most that is kept of what was read, in bytes: more than a model can have in its context.
const MOST_KEPT: usize = 4 * 1024 * 1024;

/// The results of the calls of one conversation, the oldest first.
#[derive(Debug, Default)]
pub struct ClientReads {
    results: VecDeque<KeptResult>,
    bytes: usize,
    /// How often each capability was called to change something, by `tool/capability`.
    changes: BTreeMap<String, u32>,
}

#[derive(Debug)]
struct KeptResult {
    tool: String,
    capability: String,
    text: String,
    /// What the call had sent. A result that repeats it does not name it.
    sent: Vec<String>,
}

/// What a client says about what its user wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientRequest {
    /// What the user wrote. `None`: nobody says so.
    pub request: Option<String>,
    /// What may be changed for it.
    pub mandate: Option<Mandate>,
}

/// A call that a run makes for a client.
#[derive(Debug, Clone, Copy)]
pub struct ClientCall<'a> {
    /// The id of its step.
    pub step: &'a str,
    pub tool: &'a str,
    pub capability: &'a str,
    pub arguments: &'a Object,
    /// Whether it is called for each item of a list.
    pub is_loop: bool,
}

impl ClientReads {
    /// Notes the result of a capability, or a text that nobody is known to have said.
    pub fn add_result(&mut self, source: Option<(&str, &str)>, text: &str, sent: &Object) {
        let (tool, capability) = source.unwrap_or(("", ""));
        self.bytes += text.len();
        self.results.push_back(KeptResult {
            tool: tool.to_owned(),
            capability: capability.to_owned(),
            text: text.to_owned(),
            sent: leaves_of(sent).map(|(_, value)| plain_text(value)).collect(),
        });
        while self.bytes > MOST_KEPT && self.results.len() > 1 {
            self.bytes -= self.results.pop_front().map_or(0, |oldest| oldest.text.len());
        }
    }

    /// Takes back a call that [`Self::judge`] has counted: it changed nothing.
    pub fn forget_change(&mut self, tool: &str, capability: &str) {
        if let Some(times) = self.changes.get_mut(&format!("{tool}/{capability}")) {
            *times = times.saturating_sub(1);
        }
    }

    /// Starts to count anew, for another request of the user.
    pub fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// Says in the first event of a run what its client had read when it wrote these calls, and counts those that change something for
    /// the mandate before they are made: others may be written meanwhile. Does nothing with the guard off.
    pub fn judge(&mut self, calls: &[ClientCall<'_>], asked: &ClientRequest, started: &mut Started) {
        let effects = &started.policy.effects;
        if !effects.guard.is_on() {
            return;
        }
        let mandate = asked.mandate.as_ref().map(|mandate| mandate.less(&self.changes));
        let written = calls.iter().map(|call| {
            let declared = started.catalogue.entry(call.tool, call.capability).map(|entry| entry.capability.effect);
            WrittenCall {
                step: call.step.to_owned(),
                callee: (call.tool, call.capability),
                parameters: call.arguments,
                is_loop: call.is_loop,
                class: effects.class(call.tool, call.capability, declared.unwrap_or_default()),
            }
        });
        let written: Vec<WrittenCall<'_>> = written.filter(is_judged).collect();
        for call in written.iter().filter(|call| call.class != SideEffect::Read) {
            *self.changes.entry(format!("{}/{}", call.callee.0, call.callee.1)).or_default() += 1;
        }
        if self.results.is_empty() {
            return;
        }
        let mut earlier = Earlier {
            has_read: true,
            is_without_request: asked.request.is_none(),
            person: asked.request.iter().cloned().collect(),
            ..Earlier::default()
        };
        if !written.is_empty() {
            let results: Vec<ReadResult<'_>> = self.results.iter().map(KeptResult::read).collect();
            earlier.judge(&written, &results, mandate.as_ref(), effects);
        }
        started.earlier = earlier;
    }
}

impl KeptResult {
    fn read(&self) -> ReadResult<'_> {
        ReadResult::new((&self.tool, &self.capability), &self.text).without(&self.sent)
    }
}

/// A read is judged by its addresses alone.
fn is_judged(call: &WrittenCall<'_>) -> bool {
    let has_address =
        || leaves_of(call.parameters).any(|(_, value)| matches!(value, Value::String(text) if is_address(text)));
    call.class != SideEffect::Read || has_address()
}
