//! The four tools, running.

use std::sync::Arc;

use reknit_toolkit::{Running, Service, ShutdownError};

use crate::data::Data;
use crate::{Faults, Orders, currency, geocoding, stock, weather};

/// Why the demo does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedded data cannot be read.
    #[error("the embedded data cannot be read")]
    Data(#[from] serde_json::Error),
    /// A tool does not start.
    #[error("`{name}` does not start")]
    Tool {
        /// Which one.
        name: String,
        /// Why.
        source: reknit_toolkit::StartError,
    },
    /// The scripted model does not start.
    #[error("the scripted model does not start")]
    Model(#[source] std::io::Error),
}

/// The four tools on loopback. Dropping them ends them.
#[derive(Debug)]
pub struct Tools {
    running: Vec<(String, Running)>,
    orders: Orders,
}

impl Tools {
    /// Starts all four, each on a free port of 127.0.0.1.
    pub async fn start(faults: Faults) -> Result<Self, StartError> {
        let data = Arc::new(Data::read()?);
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

    /// Name and base URL of each, as a static list of tools has them.
    pub fn endpoints(&self) -> Vec<(String, String)> {
        self.running.iter().map(|(name, running)| (name.clone(), running.base_url())).collect()
    }

    /// The base URL of one.
    pub fn base_url(&self, name: &str) -> Option<String> {
        self.running.iter().find(|(known, _)| known == name).map(|(_, running)| running.base_url())
    }

    /// The orders that were placed.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Ends all four, after the calls that run.
    pub async fn shutdown(self) -> Result<(), ShutdownError> {
        for (_, running) in self.running {
            running.shutdown().await?;
        }
        Ok(())
    }
}

async fn start(service: Service) -> Result<(String, Running), StartError> {
    let name = service.name().to_owned();
    match service.start().await {
        Ok(running) => Ok((name, running)),
        Err(source) => Err(StartError::Tool { name, source }),
    }
}
