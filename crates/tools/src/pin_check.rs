//! Compares the definitions of a listing with the pinned ones.

use std::collections::HashSet;

use reknit_protocol::CapabilityName;

use crate::definition_pins::{ChangeOutcome, DefinitionChange, Pins, digest};
use crate::listing_store::ListingStore;
use crate::source::{ListedCapability, Listing};

/// A listing after its definitions were compared with the pinned ones.
#[derive(Debug, Default)]
pub(crate) struct CheckedListing {
    pub(crate) listing: Listing,
    pub(crate) changes: Vec<DefinitionChange>,
    /// Why the pins cannot be read or saved.
    pub(crate) problem: Option<String>,
}

/// Compares the capabilities of a listing with their pins, except for those that another instance of the tool has.
pub(crate) fn check_listing(
    pins: Pins,
    mut listing: Listing,
    known: &HashSet<CapabilityName>,
    store: &ListingStore,
) -> CheckedListing {
    let new = |listed: &&mut ListedCapability| !known.contains(&listed.entry.capability.name);
    let mut pins = match store.load_pins(pins) {
        Ok(pins) => pins,
        Err(error) => {
            let reason = format!("its pinned definition cannot be read: {error}");
            listing.capabilities.iter_mut().filter(new).for_each(|it| it.entry.withheld = Some(reason.clone()));
            let problem = format!("its pinned definitions cannot be read, so its capabilities are withheld: {error}");
            return CheckedListing { listing, changes: Vec::new(), problem: Some(problem) };
        }
    };
    let digest = listing_digest(&listing);
    if digest.is_some() && pins.listing == digest {
        return CheckedListing { listing, ..CheckedListing::default() };
    }
    let entries = listing.capabilities.iter_mut().filter(new).map(|listed| &mut listed.entry);
    let changes: Vec<DefinitionChange> = entries.filter_map(|entry| pins.check(entry, store.pin_rules())).collect();
    let is_as_pinned = changes.iter().all(|change| change.outcome == ChangeOutcome::Reported);
    if known.is_empty() {
        pins.listing = digest.filter(|_| is_as_pinned);
    }
    let names: HashSet<&str> = listing.capabilities.iter().map(|it| it.entry.capability.name.as_str()).collect();
    pins.bound(|name| names.contains(name));
    let problem = store.save_pins(&pins).err();
    let problem =
        problem.map(|error| format!("its definitions cannot be pinned, so a change will not be noticed: {error}"));
    CheckedListing { listing, changes, problem }
}

/// The digest of all that the definitions of a listing are made from. `None` if the source saves nothing. It is cheap, where the
/// digest of every definition is not: operations of an API description may share large schemas.
fn listing_digest(listing: &Listing) -> Option<String> {
    let saved = listing.saved.as_deref()?;
    let names = listing.capabilities.iter().map(|listed| &listed.entry.capability);
    let names = names.flat_map(|capability| [capability.name.as_str(), capability.effect.as_str()]);
    Some(digest([env!("CARGO_PKG_VERSION"), saved].into_iter().chain(names)))
}
