//! What a run reserves from the monthly budget of its owner.

use reknit_dialogue::Money;
use reknit_engine::Machine;
use reknit_journal::Reservation;
use reknit_protocol::RunId;

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

    /// Reserves what the run may cost from now on. The amount stays reserved if the run
    /// is not opened after that.
    pub(super) async fn reserve_again(&self, run: &RunId, machine: &Machine) -> Result<(), DriveError> {
        let most = machine.policy().limits.money;
        let Some(mut reservation) = self.reservation(most).await? else { return Ok(()) };
        // The limit of the run stays as it was, so all of it must be left.
        reservation.amount = most.map_or(reservation.amount, Money::nanos);
        Ok(self.executor().journal.reserve_for_run(run, &reservation, machine.spent().cost.nanos()).await?)
    }
}
