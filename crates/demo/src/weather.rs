//! `weather-tool`: the measurement of the nearest weather station.

use std::sync::Arc;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, SideEffect, ToolError};
use reknit_tool_service::{CallContext, CapabilityDefinition, ExactNumber, Handler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Faults;
use crate::data::{Data, Measurement};
use crate::faults::FailureCountdown;

/// A station farther away than this, in degrees (about 100 km), does not count.
const MAX_DISTANCE: f64 = 1.0;

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// The latitude in degrees.
    #[schemars(range(min = -90, max = 90), example = 37.5665)]
    lat: f64,
    /// The longitude in degrees.
    #[schemars(range(min = -180, max = 180), example = 126.978)]
    lon: f64,
    /// The units of the temperature; metric if absent.
    #[serde(default)]
    units: Units,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Units {
    #[default]
    Metric,
    Imperial,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Weather {
    /// The station that has measured it.
    station: String,
    /// The temperature.
    temperature: ExactNumber,
    /// `celsius` or `fahrenheit`.
    unit: &'static str,
    /// The sky, in a word or two.
    condition: String,
    /// Relative humidity in percent.
    humidity: u32,
}

#[derive(Debug)]
struct WeatherHandler {
    data: Arc<Data>,
    rate_limits: FailureCountdown,
    retry_after: u32,
}

pub(crate) fn capability(data: &Arc<Data>, faults: Faults) -> CapabilityDefinition {
    let handler = WeatherHandler {
        data: Arc::clone(data),
        rate_limits: FailureCountdown::new(faults.weather_rate_limits),
        retry_after: faults.weather_retry_after,
    };
    CapabilityDefinition::new("get_weather", SideEffect::Read, handler)
        .description("Gets the current weather at a latitude and a longitude")
        .output::<Weather>()
}

impl Handler<Args> for WeatherHandler {
    type Output = Weather;

    async fn call(&self, _: CallContext, args: Args) -> Result<Weather, ToolError> {
        if self.rate_limits.next_fails() {
            return Err(rate_limited(self.retry_after));
        }
        let distance = |station: &Measurement| distance_in_degrees(station, &args);
        let nearest = self.data.weather.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        let found = nearest.filter(|station| distance(station) <= MAX_DISTANCE).ok_or_else(|| no_station(&args))?;
        let (temperature, unit) = match args.units {
            Units::Metric => (&found.celsius, "celsius"),
            Units::Imperial => (&found.fahrenheit, "fahrenheit"),
        };
        Ok(Weather {
            station: found.station.clone(),
            temperature: temperature.clone(),
            unit,
            condition: found.condition.clone(),
            humidity: found.humidity,
        })
    }
}

/// The distance on a flat map, which is enough to tell cities apart.
fn distance_in_degrees(station: &Measurement, args: &Args) -> f64 {
    (station.lat - args.lat).hypot(station.lon - args.lon)
}

fn rate_limited(retry_after: u32) -> ToolError {
    ToolError::new(codes::RATE_LIMIT_EXCEEDED, "too many requests for the weather", Category::RateLimit)
        .retryable(Retryable::Yes)
        .detail("retry_after", retry_after)
}

fn no_station(args: &Args) -> ToolError {
    let message = format!("no weather station is near {}, {}", args.lat, args.lon);
    ToolError::new(codes::LOCATION_NOT_FOUND, message, Category::NotFound)
        .retryable(Retryable::Yes)
        .detail("hint", "latitude comes first; they may have been swapped")
}
