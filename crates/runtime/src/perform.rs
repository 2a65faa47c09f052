//! One effect, done. Deciding what to do about its outcome is not done here.

use std::sync::Arc;

use reknit_engine::{CallTool, Effect, What};
use reknit_journal::{Claim, FenceError, Journal, Lease};

use crate::clock::Clock;
use crate::edge::Edge;
use crate::gates::Gates;

/// What effects need to be done.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    pub(crate) journal: Journal,
    pub(crate) edge: Arc<dyn Edge>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) gates: Arc<Gates>,
}

impl Hands {
    /// Does an effect and says what came of it. Nothing comes of a question to a person, of an abort and of the end:
    /// those are the driver's.
    pub(crate) async fn perform(self, effect: Effect, lease: Lease) -> Result<Option<What>, FenceError> {
        Ok(match effect {
            Effect::AskModel(ask) => Some(match self.edge.ask(&ask).await {
                Ok(answer) => What::ModelAnswered { effect: ask.id, answer },
                Err(failure) => What::ModelFailed { effect: ask.id, failure },
            }),
            Effect::CallTool(call) => Some(self.call(&call, &lease).await?),
            Effect::Sleep { id, until_ms } => {
                self.clock.sleep_until(until_ms).await;
                Some(What::Woke { effect: id })
            }
            Effect::AskPerson(_) | Effect::Abort { .. } | Effect::Finish(_) => None,
        })
    }

    /// Takes a place, then claims the call, then makes it: what is claimed has really begun.
    async fn call(&self, call: &CallTool, lease: &Lease) -> Result<What, FenceError> {
        let _permit = self.gates.enter(call.agent.as_str()).await;
        // In a box, for it is done before the call begins, which may take long.
        if call.needs_claim() && Box::pin(self.journal.claim(lease, call.id.as_str())).await? == Claim::Already {
            return Ok(What::Interrupted { effect: call.id.clone() });
        }
        Ok(match self.edge.call(call).await {
            Ok(reply) => What::ToolAnswered { effect: call.id.clone(), reply },
            Err(failure) => What::ToolFailed { effect: call.id.clone(), failure },
        })
    }
}
