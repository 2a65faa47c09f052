//! What whoever starts a run or a session may choose about it: the same options, however it is started.

use std::sync::Arc;

use reknit_engine::{AskScope, Metadata, Synthesis};
use reknit_model_api::{Attachment, TargetName};
use reknit_models::Target;
use reknit_protocol::RunId;

use crate::assembly::Runtime;
use crate::refusal::Refusal;
use crate::run_start::RunStart;

/// What is chosen about a run or a session that starts. Everything else is as it is configured.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// A second start with the same id and the same request does nothing twice.
    pub id: Option<RunId>,
    pub metadata: Metadata,
    pub attachments: Vec<Attachment>,
    /// How the answer of a run is written.
    pub answer: Option<Synthesis>,
    /// Which calls a person is asked about. A start can add questions to those that are configured, and takes none away.
    pub ask: Option<AskScope>,
}

/// The start of a run or a session with what was chosen about it. Fails if it cannot be done so. [`Driver::start`](crate::Driver::start)
/// and what calls it start it: the first request with an id counts, and the same one again returns its run.
pub fn start(runtime: &Runtime, start: impl Into<RunStart>, options: StartOptions) -> Result<RunStart, Refusal> {
    let mut start: RunStart = start.into();
    let StartOptions { id, metadata, attachments, answer, ask } = options;
    check_attachments(runtime, start.targets(), &attachments)?;
    if let Some(answer) = answer {
        if start.as_run_mut().is_none() {
            return Err(Refusal::InvalidStart("an agent writes its report itself: leave out `answer`".to_owned()));
        }
        if answer == Synthesis::Model && start.targets().is_empty() {
            let message = "no model is configured to write the answer: choose another `answer`";
            return Err(Refusal::InvalidStart(message.to_owned()));
        }
    }
    let configured = start.policy().approvals.ask;
    if let Some(ask) = ask.filter(|ask| *ask != configured && configured != AskScope::Rules) {
        let (asked, configured) = (word(ask), word(configured));
        let message = format!(
            "`ask` cannot be `{asked}`: `approvals.ask` is `{configured}`, and a start takes no questions away"
        );
        return Err(Refusal::InvalidStart(message));
    }
    if answer.is_some() || ask.is_some() {
        let policy = Arc::make_mut(start.policy_mut());
        policy.synthesis = answer.unwrap_or(policy.synthesis);
        policy.approvals.ask = ask.unwrap_or(policy.approvals.ask);
    }
    Ok(start.with(id, metadata, attachments))
}

fn word(ask: AskScope) -> &'static str {
    match ask {
        AskScope::Rules => "rules",
        AskScope::All => "all",
        AskScope::Plan => "plan",
    }
}

/// Fails if none of the models that may be asked takes all attachments, as far as that is known before the first question.
fn check_attachments(runtime: &Runtime, asked: &[TargetName], attachments: &[Attachment]) -> Result<(), Refusal> {
    let refusal = |target: &Target| {
        attachments.iter().find_map(|attachment| Some((attachment, target.check_attachment(attachment).err()?)))
    };
    let mut first = None;
    for target in asked.iter().filter_map(|name| runtime.target(name)) {
        match refusal(target) {
            None => return Ok(()),
            Some(refused) => first = first.or(Some(refused)),
        }
    }
    match first {
        None => Ok(()),
        Some((attachment, problem)) => {
            Err(Refusal::UnreadableAttachment(format!("no model can read {attachment}: {problem}")))
        }
    }
}
