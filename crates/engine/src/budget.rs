//! What a run may spend and has spent. A call is paid for when it becomes due, so no number of parallel steps can
//! overdraw.

use reknit_dialogue::{Purpose, Usage};
use serde::{Deserialize, Serialize};

use crate::policy::{Limits, Synthesis};

/// What a run has spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Calls of tools.
    pub tool_calls: u32,
    /// Questions to models.
    pub model_calls: u32,
    /// Tokens sent, as far as models said.
    pub input_tokens: u64,
    /// Tokens received, as far as models said.
    pub output_tokens: u64,
    /// Tokens of questions that broke off, sent and received: the provider may want to be paid for them. Counted by it, or
    /// roughly by us.
    #[serde(default)]
    pub wasted_tokens: u64,
    /// Time in which the run was not waiting for a person, up to the last event.
    pub active_ms: u64,
}

/// What ran out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    /// Calls of tools.
    #[error("the limit of {0} tool calls is reached")]
    ToolCalls(u32),
    /// Questions to models.
    #[error("the limit of {0} model calls is reached")]
    ModelCalls(u32),
    /// Time.
    #[error("the limit of {0} ms of active time is reached")]
    Time(u64),
}

impl Spent {
    /// Counts the tokens of an answer.
    pub(crate) fn add_tokens(&mut self, usage: &Usage) {
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
    }

    /// Pays for a call.
    pub(crate) fn take_tool_call(&mut self, limits: &Limits) -> Result<(), Exhausted> {
        if self.tool_calls >= limits.tool_calls {
            return Err(Exhausted::ToolCalls(limits.tool_calls));
        }
        self.tool_calls += 1;
        Ok(())
    }

    /// A call that was paid for and not made.
    pub(crate) fn give_back_tool_call(&mut self) {
        self.tool_calls = self.tool_calls.saturating_sub(1);
    }

    /// A question that was paid for and not asked.
    pub(crate) fn give_back_model_call(&mut self) {
        self.model_calls = self.model_calls.saturating_sub(1);
    }

    /// Pays for a question. One is kept for the answer, if a model is to write it.
    pub(crate) fn take_model_call(
        &mut self,
        limits: &Limits,
        purpose: Purpose,
        synthesis: Synthesis,
    ) -> Result<(), Exhausted> {
        let kept = u32::from(synthesis == Synthesis::Model && purpose != Purpose::Synthesis);
        if self.model_calls + kept >= limits.model_calls {
            return Err(Exhausted::ModelCalls(limits.model_calls));
        }
        self.model_calls += 1;
        Ok(())
    }
}
