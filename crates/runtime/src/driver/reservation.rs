//! What a run reserves from the monthly budget of its owner.

use reknit_journal::Reservation;
use reknit_model_api::Money;

use super::Driver;
use crate::error::DriveError;
use crate::run_owner::month_of;

impl Driver {
    /// What a run that may cost so much reserves from the budget of its owner.
    pub(super) async fn reservation(&self, most: Option<Money>) -> Result<Option<Reservation>, DriveError> {
        let Some(owner) = self.shared.owner.as_ref().filter(|owner| owner.monthly_budget.is_some()) else {
            return Ok(None);
        };
        let now_ms = self.executor().clock.now_ms();
        let spending = self.executor().journal.spending(&owner.name, &month_of(now_ms)).await?;
        Ok(owner.reservation(&spending, most, now_ms))
    }
}
