//! Large catalogues: before planning, a model selects the tools that the planner is shown.

use reknit_model_api::{Purpose, ResponseFormat};
use reknit_plan::{ToolSelection, summarize_tools};
use reknit_protocol::{EffectKind, EffectOwner};

use super::Run;
use super::consultations::Topic;
use super::state::Phase;
use crate::consult::Consultation;
use crate::internal_error::Decided;
use crate::record::RunRecord;
use crate::templates::render;

impl Run {
    /// Requests a plan; with a large catalogue, tools are selected first.
    pub(super) fn begin_planning(&mut self) -> Decided {
        let count: usize = self.catalogue().tools.iter().map(|tool| tool.visible_capabilities().count()).sum();
        let threshold = self.policy().planning.choose_from;
        if count < threshold as usize || self.started.targets.is_empty() {
            return self.request_plan(None);
        }
        let tools = summarize_tools(&ToolSelection::candidates(self.catalogue(), &self.started.request));
        let values = [("tools", tools.as_str()), ("request", self.shown_request.as_str())];
        let messages = match render(&self.started.templates.choice, &values) {
            Ok(messages) => messages,
            Err(error) => return self.select_by_search(error.to_string()),
        };
        let messages = self.with_attachments(messages);
        let request = self.policy().asking.choice.to_model_request(messages).with_format(ResponseFormat::Json);
        let id = (EffectOwner::Plan, EffectKind::Select);
        let consultation =
            Consultation::open(id, self.state.asked.selection, Purpose::TieredSelection, request, self.rotation());
        self.state.phase = Phase::Selecting { consultation: Box::new(consultation) };
        self.ask(Topic::Selection)
    }

    pub(super) fn on_selection_text(&mut self, text: &str) -> Decided {
        match ToolSelection::parse(text, self.catalogue()) {
            Ok(choice) => self.plan_with(choice),
            Err(problem) => self.select_by_search(problem),
        }
    }

    /// Selects the tools without a model, for this reason.
    pub(super) fn select_by_search(&mut self, reason: String) -> Decided {
        self.plan_with(ToolSelection::by_search(self.catalogue(), &self.started.request, reason))
    }

    fn plan_with(&mut self, choice: ToolSelection) -> Decided {
        self.record(RunRecord::ToolsSelected(choice.clone()));
        self.state.choice = Some(choice);
        self.request_plan(None)
    }
}
