//! The tools without servers.

use std::sync::Arc;

use reknit_tool_service::CapabilityDefinition;

use crate::data::Data;
use crate::{DemoStartError, Faults, currency, geocoding, stock, weather};

/// The capabilities that only read, each with the name of its tool, for calls in process. None fails on purpose.
pub fn capabilities() -> Result<Vec<(&'static str, CapabilityDefinition)>, DemoStartError> {
    let data = Arc::new(Data::parse()?);
    Ok(vec![
        ("stock-tool", stock::quote_capability(&data, 0)),
        ("geocoding-tool", geocoding::capability(&data, 0)),
        ("weather-tool", weather::capability(&data, Faults::none())),
        ("currency-tool", currency::capability(&data, 0)),
    ])
}
