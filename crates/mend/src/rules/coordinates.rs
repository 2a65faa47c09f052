//! A latitude and a longitude in each other's place.

use reknit_protocol::{Number, Path};
use reknit_salvage::Bound;

use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Exchanges a latitude beyond its limit and the longitude, if the longitude is within it. Which number is which is then
/// beyond doubt: a latitude never is more than 90.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Bound { limit, side: Bound::AtLeast | Bound::AtMost } = &fact.says else { return None };
    let ninety = Number::from(90);
    if *limit != ninety && *limit != Number::from(-90) {
        return None;
    }
    let (one, latitude) = case.value_of(fact)?;
    let other = ["lon", "lng", "long", "longitude"].iter().find(|name| case.parameters.contains_key(name))?;
    let is_latitude = matches!(one.to_string().to_ascii_lowercase().as_str(), "$.lat" | "$.latitude");
    let other = Path::root().key(other);
    let longitude = case.at(&other)?.as_number()?;
    let within = |number: &Number| *number <= ninety && *number >= Number::from(-90);
    (is_latitude && !within(latitude.as_number()?) && within(longitude)).then_some(Change::Swap { one, other })
}
