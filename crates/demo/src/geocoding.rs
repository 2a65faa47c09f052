//! `geocoding-tool`: the coordinates of a few cities.

use std::sync::Arc;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, SideEffect, ToolError};
use reknit_tool_service::{CallContext, CapabilityDefinition, Handler};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::data::{Data, Location, Place};
use crate::faults::{FailureCountdown, unavailable};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// A city, with its country if there are several of that name.
    #[schemars(example = &"Seoul, South Korea")]
    location: String,
}

#[derive(Debug)]
struct GeocodeHandler {
    data: Arc<Data>,
    down: FailureCountdown,
}

pub(crate) fn capability(data: &Arc<Data>, down: u32) -> CapabilityDefinition {
    let handler = GeocodeHandler { data: Arc::clone(data), down: FailureCountdown::new(down) };
    CapabilityDefinition::new("geocode", SideEffect::Read, handler)
        .description("Gets the coordinates, the country and the currency of a city")
        .output::<Location>()
}

impl Handler<Args> for GeocodeHandler {
    type Output = Location;

    async fn call(&self, _: CallContext, args: Args) -> Result<Location, ToolError> {
        if self.down.next_fails() {
            return Err(unavailable("the list of places"));
        }
        let place = self.data.places.iter().find(|place| matches(place, &args.location));
        let place = place.ok_or_else(|| unknown_location(&args.location))?;
        Ok(place.location.clone())
    }
}

/// Matches `Seoul`, `seoul, KR` and `Seoul, South Korea`, but not `Seoul, Japan`.
fn matches(place: &Place, location: &str) -> bool {
    let (city, country) = location.split_once(',').map_or((location, None), |(city, rest)| (city, Some(rest.trim())));
    city.trim().eq_ignore_ascii_case(&place.location.name)
        && country.is_none_or(|country| {
            country.eq_ignore_ascii_case(&place.location.country) || country.eq_ignore_ascii_case(&place.code)
        })
}

fn unknown_location(location: &str) -> ToolError {
    ToolError::new(codes::LOCATION_NOT_FOUND, format!("there is no place called `{location}`"), Category::NotFound)
        .retryable(Retryable::Yes)
        .detail("original_location", location)
        .detail("hint", "write `City` or `City, Country`")
}
