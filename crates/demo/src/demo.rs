//! The whole demo: tools, model and request.

use reknit_fakes::ScriptedModel;
use reknit_tool_service::ShutdownError;

use crate::data::Data;
use crate::{DemoStartError, DemoTools, Faults, scenario};

/// Four tools and a scripted model on loopback, and a request for them. Dropping it stops the servers.
#[derive(Debug)]
pub struct Demo {
    /// The four tools.
    pub tools: DemoTools,
    /// The model with scripted replies. It records the requests that it receives.
    pub model: ScriptedModel,
    /// The request of the user.
    pub request: &'static str,
}

impl Demo {
    /// Starts the servers with the faults of the scenario.
    pub async fn start() -> Result<Self, DemoStartError> {
        let tools = DemoTools::start(Faults::scenario()).await?;
        let answer = scenario::synthesis(&Data::parse()?).ok_or(DemoStartError::Incomplete)?;
        let model = ScriptedModel::start(scenario::script(&answer)).await.map_err(DemoStartError::Model)?;
        Ok(Self { tools, model, request: scenario::REQUEST })
    }

    /// The base URL of the model for an OpenAI-compatible client.
    pub fn model_base_url(&self) -> String {
        self.model.base_url()
    }

    /// Stops the servers after the running calls have finished.
    pub async fn shutdown(self) -> Result<(), ShutdownError> {
        self.tools.shutdown().await
    }
}
