//! `geocoding-tool`: where a handful of cities are.

use std::sync::Arc;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Effect, Retryable, ToolError};
use reknit_toolkit::{CallContext, Capability, Handler, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Place};
use crate::faults::{Countdown, unavailable};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// A city, with its country if there are several of that name.
    #[schemars(example = &"Seoul, South Korea")]
    location: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    /// The latitude in degrees, as text.
    lat: String,
    /// The longitude in degrees, as text.
    lon: String,
    /// The name of the city.
    name: String,
    /// The name of the country.
    country: String,
    /// The currency of the country.
    currency: String,
}

#[derive(Debug)]
struct Geocoder {
    data: Arc<Data>,
    down: Countdown,
}

/// The tool.
pub(crate) fn service(data: &Arc<Data>, down: u32) -> Service {
    let geocoder = Geocoder { data: Arc::clone(data), down: Countdown::new(down) };
    Service::new("geocoding-tool").describe("Where places are").capability(
        Capability::new("geocode", Effect::Read, geocoder)
            .describe("Gets the coordinates, the country and the currency of a city")
            .answers_with::<Found>(),
    )
}

impl Handler<Args> for Geocoder {
    type Output = Found;

    async fn call(&self, _: CallContext, args: Args) -> Result<Found, ToolError> {
        if self.down.fails() {
            return Err(unavailable("the list of places"));
        }
        let place = self.data.places.iter().find(|place| is_meant(place, &args.location));
        let place = place.ok_or_else(|| unknown(&args.location))?;
        Ok(Found {
            lat: place.lat.clone(),
            lon: place.lon.clone(),
            name: place.name.clone(),
            country: place.country.clone(),
            currency: place.currency.clone(),
        })
    }
}

/// `Seoul`, `seoul, KR`, `Seoul, South Korea`. A country that is another one's is no match.
fn is_meant(place: &Place, location: &str) -> bool {
    let (city, country) = location.split_once(',').map_or((location, None), |(city, rest)| (city, Some(rest.trim())));
    city.trim().eq_ignore_ascii_case(&place.name)
        && country.is_none_or(|country| {
            country.eq_ignore_ascii_case(&place.country) || country.eq_ignore_ascii_case(&place.code)
        })
}

fn unknown(location: &str) -> ToolError {
    ToolError::new(codes::LOCATION_NOT_FOUND, format!("there is no place called `{location}`"), Category::NotFound)
        .retryable(Retryable::Yes)
        .detail("original_location", location)
        .detail("hint", "write `City` or `City, Country`")
}
