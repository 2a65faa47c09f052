//! The embedded data.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use reknit_toolkit::Exact;

/// A share that is traded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    pub(crate) symbol: String,
    pub(crate) name: String,
    pub(crate) current_price: Exact,
    pub(crate) currency: String,
    pub(crate) exchange: String,
}

/// A place on earth. Its coordinates are text, as those of well-known geocoders are.
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

/// What a weather station has measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measurement {
    pub(crate) station: String,
    pub(crate) lat: f64,
    pub(crate) lon: f64,
    pub(crate) celsius: Exact,
    pub(crate) fahrenheit: Exact,
    pub(crate) condition: String,
    pub(crate) humidity: u32,
}

/// What one unit of a currency is worth in another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExchangeRate {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) rate: Exact,
}

/// Everything the tools know.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) shares: Vec<Share>,
    pub(crate) places: Vec<Place>,
    pub(crate) weather: Vec<Measurement>,
    pub(crate) rates: Vec<ExchangeRate>,
}

impl Data {
    pub(crate) fn read() -> Result<Self, serde_json::Error> {
        Ok(Self {
            shares: list(include_str!("../data/shares.json"))?,
            places: list(include_str!("../data/places.json"))?,
            weather: list(include_str!("../data/weather.json"))?,
            rates: list(include_str!("../data/rates.json"))?,
        })
    }
}

fn list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, serde_json::Error> {
    serde_json::from_str(text)
}
