//! The tools of the demo: as servers, as capabilities without servers, and with the scripted model.

use std::sync::Arc;

use reknit_fakes::ScriptedModel;
use reknit_tool_service::{CapabilityDefinition, RunningService, Service, ShutdownError};

use crate::data::Data;
use crate::{Faults, Orders, currency, geocoding, scenario, stock, weather};

/// Why the demo cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DemoStartError {
    #[error("cannot read the embedded data")]
    Data(#[from] serde_json::Error),
    #[error("the embedded data have no answer to the request of the demo")]
    Incomplete,
    #[error("cannot start `{name}`")]
    Tool { name: String, source: reknit_tool_service::ServeError },
    #[error("cannot start the scripted model")]
    Model(#[source] std::io::Error),
}

/// The four tools on loopback. Dropping this stops them.
#[derive(Debug)]
pub struct DemoTools {
    running: Vec<(String, RunningService)>,
    orders: Orders,
}

impl DemoTools {
    /// Starts all four tools, each on a free port of 127.0.0.1.
    pub async fn start(faults: Faults) -> Result<Self, DemoStartError> {
        let data = Arc::new(Data::parse()?);
        let orders = Orders::default();
        let mut running = Vec::new();
        for (name, capability) in reading_capabilities(&data, faults) {
            let mut service = Service::new(name).description(description(name)).capability(capability);
            if name == STOCK_TOOL {
                service = service.capability(stock::order_capability(&data, &orders));
            }
            let name = name.to_owned();
            match service.start().await {
                Ok(service) => running.push((name, service)),
                Err(source) => return Err(DemoStartError::Tool { name, source }),
            }
        }
        Ok(Self { running, orders })
    }

    /// The name and the base URL of each tool.
    pub fn endpoints(&self) -> Vec<(String, String)> {
        self.running.iter().map(|(name, running)| (name.clone(), running.base_url())).collect()
    }

    /// The base URL of one tool; `None` if there is no tool of that name.
    pub fn base_url(&self, name: &str) -> Option<String> {
        self.running.iter().find(|(tool, _)| tool == name).map(|(_, running)| running.base_url())
    }

    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Stops all four tools after their running calls have finished.
    pub async fn shutdown(self) -> Result<(), ShutdownError> {
        for (_, running) in self.running {
            running.shutdown().await?;
        }
        Ok(())
    }
}

/// Four tools and a scripted model on loopback, and a request for them. Dropping it stops the servers.
#[derive(Debug)]
pub struct Demo {
    pub tools: DemoTools,
    /// The model with scripted replies. It records the requests that it receives.
    pub model: ScriptedModel,
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

/// The capabilities that only read, each with the name of its tool, for calls in process. None fails on purpose.
pub fn capabilities() -> Result<Vec<(&'static str, CapabilityDefinition)>, DemoStartError> {
    Ok(reading_capabilities(&Arc::new(Data::parse()?), Faults::none()).into())
}

const STOCK_TOOL: &str = "stock-tool";

fn reading_capabilities(data: &Arc<Data>, faults: Faults) -> [(&'static str, CapabilityDefinition); 4] {
    [
        (STOCK_TOOL, stock::quote_capability(data, faults.stock_down)),
        ("geocoding-tool", geocoding::capability(data, faults.geocoding_down)),
        ("weather-tool", weather::capability(data, faults)),
        ("currency-tool", currency::capability(data, faults.currency_down)),
    ]
}

fn description(tool: &str) -> &'static str {
    match tool {
        STOCK_TOOL => "Share prices, and orders to sell shares",
        "geocoding-tool" => "Where places are",
        "weather-tool" => "The weather now",
        _ => "Amounts of money in another currency",
    }
}
