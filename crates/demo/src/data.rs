//! The embedded data.

use reknit_tool_service::ExactNumber;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Quote {
    /// The ticker symbol.
    pub(crate) symbol: String,
    /// The name of the company.
    pub(crate) name: String,
    /// The price of one share.
    pub(crate) current_price: ExactNumber,
    /// What the price is in.
    pub(crate) currency: String,
    /// Where the share is traded.
    pub(crate) exchange: String,
}

/// A city. Its coordinates are text, as in the answers of well-known geocoders.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Location {
    /// The latitude in degrees, as text.
    pub(crate) lat: String,
    /// The longitude in degrees, as text.
    pub(crate) lon: String,
    /// The name of the city.
    pub(crate) name: String,
    /// The name of the country.
    pub(crate) country: String,
    /// The currency of the country.
    pub(crate) currency: String,
}

/// A city with the code of its country.
#[derive(Debug, Deserialize)]
pub(crate) struct Place {
    #[serde(flatten)]
    pub(crate) location: Location,
    pub(crate) code: String,
}

/// The measurement of a weather station.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measurement {
    pub(crate) station: String,
    pub(crate) lat: f64,
    pub(crate) lon: f64,
    pub(crate) celsius: ExactNumber,
    pub(crate) fahrenheit: ExactNumber,
    pub(crate) condition: String,
    pub(crate) humidity: u32,
}

/// The value of one unit of a currency in another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExchangeRate {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) rate: ExactNumber,
}

#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) shares: Vec<Quote>,
    pub(crate) places: Vec<Place>,
    pub(crate) weather: Vec<Measurement>,
    pub(crate) rates: Vec<ExchangeRate>,
}

impl Data {
    pub(crate) fn parse() -> Result<Self, serde_json::Error> {
        Ok(Self {
            shares: serde_json::from_str(include_str!("../data/shares.json"))?,
            places: serde_json::from_str(include_str!("../data/places.json"))?,
            weather: serde_json::from_str(include_str!("../data/weather.json"))?,
            rates: serde_json::from_str(include_str!("../data/rates.json"))?,
        })
    }
}
