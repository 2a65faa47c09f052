//! The embedded data.

use reknit_toolkit::ExactNumber;
use serde::Deserialize;

/// A share that is traded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    pub(crate) symbol: String,
    pub(crate) name: String,
    pub(crate) current_price: ExactNumber,
    pub(crate) currency: String,
    pub(crate) exchange: String,
}

/// A city. Its coordinates are text, as in the answers of well-known geocoders.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) country: String,
    pub(crate) code: String,
    pub(crate) currency: String,
    pub(crate) lat: String,
    pub(crate) lon: String,
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

/// The data of all tools.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) shares: Vec<Share>,
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
