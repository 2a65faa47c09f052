//! Support for tests: a second driver, which works in segments, and drivers of simulated processes.

mod segmented_driver;

use std::sync::Arc;

use reknit_journal::Holder;

pub use segmented_driver::SegmentedDriver;

use crate::driver::Driver;
use crate::run_owner::RunOwner;

/// The driver of a simulated process, which takes its leases for this holder.
#[must_use]
pub fn with_holder(driver: Driver, holder: Holder) -> Driver {
    driver.with_holder(holder)
}

/// A driver that starts runs on behalf of an owner.
#[must_use]
pub fn with_owner(driver: Driver, owner: RunOwner) -> Driver {
    driver.with_owner(Some(Arc::new(owner)))
}
