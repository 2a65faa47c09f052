//! The four tools, running.

use std::sync::Arc;

use reknit_tool_service::{RunningService, Service, ShutdownError};

use crate::data::Data;
use crate::{Faults, Orders, currency, geocoding, stock, weather};

/// Why the demo cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DemoStartError {
    /// The embedded data cannot be read.
    #[error("cannot read the embedded data")]
    Data(#[from] serde_json::Error),
    /// The embedded data lack what the request asks for.
    #[error("the embedded data have no answer to the request of the demo")]
    Incomplete,
    /// A tool cannot start.
    #[error("cannot start `{name}`")]
    Tool {
        /// The name of the tool.
        name: String,
        /// The error of the tool server.
        source: reknit_tool_service::ServeError,
    },
    /// The scripted model cannot start.
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
        let services = [
            stock::service(&data, faults.stock_down, &orders),
            geocoding::service(&data, faults.geocoding_down),
            weather::service(&data, faults),
            currency::service(&data, faults.currency_down),
        ];
        let mut running = Vec::new();
        for service in services {
            running.push(start(service).await?);
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

    /// The orders that the stock tool has accepted.
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

async fn start(service: Service) -> Result<(String, RunningService), DemoStartError> {
    let name = service.name().to_owned();
    match service.start().await {
        Ok(running) => Ok((name, running)),
        Err(source) => Err(DemoStartError::Tool { name, source }),
    }
}
