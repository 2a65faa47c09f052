//! Tools, model and request together.

use reknit_testing::ScriptedModel;
use reknit_toolkit::ShutdownError;

use crate::{Faults, StartError, Tools, story};

/// The whole story on loopback: four tools, a scripted model, and a request. Dropping it ends everything.
#[derive(Debug)]
pub struct Demo {
    /// The four tools.
    pub tools: Tools,
    /// The model whose words are fixed; it records what it is asked.
    pub model: ScriptedModel,
    /// What the user asks for.
    pub request: &'static str,
}

impl Demo {
    /// Starts everything with the faults of the story.
    pub async fn start() -> Result<Self, StartError> {
        Self::start_with(Faults::story()).await
    }

    /// Starts everything with faults of your choice.
    pub async fn start_with(faults: Faults) -> Result<Self, StartError> {
        let tools = Tools::start(faults).await?;
        let model = ScriptedModel::start(story::script()).await.map_err(StartError::Model)?;
        Ok(Self { tools, model, request: story::REQUEST })
    }

    /// What an OpenAI-compatible client calls the base URL of the model.
    pub fn model_base_url(&self) -> String {
        self.model.base_url()
    }

    /// Ends everything, after the calls that run.
    pub async fn shutdown(self) -> Result<(), ShutdownError> {
        self.tools.shutdown().await
    }
}
