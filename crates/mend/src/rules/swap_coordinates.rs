//! Swaps a latitude and a longitude that are exchanged.

use reknit_protocol::{Number, Path};
use reknit_salvage::Comparison;

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Swaps a latitude beyond 90 degrees with a longitude within 90. No latitude is beyond 90, so there is no doubt.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Bound { limit, side: Comparison::AtLeast | Comparison::AtMost } = &fact.kind else { return None };
    let ninety = Number::from(90);
    if *limit != ninety && *limit != Number::from(-90) {
        return None;
    }
    let (one, latitude) = call.located_value(fact)?;
    let other = ["lon", "lng", "long", "longitude"].iter().find(|name| call.parameters.contains_key(name))?;
    let is_latitude = matches!(one.to_string().to_ascii_lowercase().as_str(), "$.lat" | "$.latitude");
    let other = Path::root().key(other);
    let longitude = call.value_at(&other)?.as_number()?;
    let within = |number: &Number| *number <= ninety && *number >= Number::from(-90);
    (is_latitude && !within(latitude.as_number()?) && within(longitude)).then_some(Change::Swap { one, other })
}
