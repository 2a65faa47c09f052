//! What a request to the gateway costs a caller with a monthly budget.

use std::sync::Arc;

use reknit_engine::Policy;
use reknit_gateway::{GatewayError, GatewayRequest};
use reknit_journal::{Journal, Reservation, ReserveError};
use reknit_model_api::{Money, Prices, TargetName, Usage, UsageSource};
use reknit_protocol::Value;
use reknit_runtime::{RotatingClient, Runtime, month_of, system_ms};

/// How many attempts at a request a provider may charge for: one whose answer cannot be used, and the next one.
const CHARGED_ATTEMPTS: u64 = 2;

/// Fields that add what the provider has stored: it is paid for, and its length is not known here.
const STORED_CONTEXT: [&str; 3] = ["previous_response_id", "conversation", "prompt"];

/// Service tiers with the listed prices, or lower ones.
const USUAL_TIERS: [&str; 3] = ["auto", "default", "flex"];

/// What is reserved for a request, and what its attempts have cost so far.
#[derive(Debug)]
pub(super) struct Bill {
    journal: Journal,
    policy: Arc<Policy>,
    reservation: Reservation,
    /// The most that one attempt costs.
    most: Money,
    cost: Money,
    is_settled: bool,
}

impl Bill {
    /// Reserves the most that a request may cost; `None` without a budget. A request that is given up pays its last attempt in full.
    pub(super) async fn reserve(
        runtime: &Runtime,
        client: &RotatingClient,
        request: &GatewayRequest,
    ) -> Result<Option<Self>, GatewayError> {
        let Some((owner, budget)) = runtime.owner().and_then(|owner| Some((owner, owner.monthly_budget?))) else {
            return Ok(None);
        };
        if let Some(part) = unbounded_part(request) {
            let message = format!("the token `{}` has a budget, and what {part} adds may cost any amount", owner.name);
            return Err(GatewayError::invalid(message));
        }
        let refused = |message| GatewayError { status: 402, code: "budget_exhausted", message, retry_after_ms: None };
        let mut most = Money::from_nanos(0);
        for target in client.targets() {
            let Some(prices) = runtime.policy.prices.get(target) else {
                let message = format!("the token `{}` has a budget, and the model `{target}` has no price", owner.name);
                return Err(refused(message));
            };
            most = most.max(prices.max_cost(&request.request));
        }
        let reservation = Reservation {
            account: owner.name.clone(),
            month: month_of(system_ms()),
            // Nothing can be reserved without an amount, also if the models cost nothing.
            amount: most.nanos().saturating_mul(CHARGED_ATTEMPTS).max(1),
            limit: budget.nanos(),
        };
        match runtime.journal.reserve(&reservation).await {
            Ok(()) => {
                let (journal, policy) = (runtime.journal.clone(), Arc::clone(&runtime.policy));
                Ok(Some(Self { journal, policy, reservation, most, cost: Money::from_nanos(0), is_settled: false }))
            }
            Err(ReserveError::OverBudget(error)) => Err(refused(format!(
                "the request may cost {}, and {} is left of the budget of `{}` for {}",
                Money::from_nanos(reservation.amount),
                Money::from_nanos(error.left),
                error.account,
                error.month
            ))),
            Err(error) => {
                tracing::error!("the budget cannot be read: {error}");
                let message = "the budget cannot be read".to_owned();
                Err(GatewayError { status: 500, code: "internal_error", message, retry_after_ms: None })
            }
        }
    }

    pub(super) fn add(&mut self, target: &TargetName, usage: &Usage) {
        let prices: Option<&Prices> = self.policy.prices.get(target);
        let known = prices.filter(|_| usage.source == UsageSource::Reported).map(|prices| prices.cost(usage));
        self.cost = self.cost.plus(known.unwrap_or(self.most));
    }

    /// Replaces what was reserved by what the attempts have cost.
    pub(super) async fn settle(mut self) {
        self.is_settled = true;
        let (journal, reservation, cost) = (self.journal.clone(), self.reservation.clone(), self.cost);
        // A task of its own also ends if the client leaves meanwhile.
        let stored = tokio::spawn(async move { store(&journal, &reservation, cost).await });
        if let Err(error) = stored.await {
            tracing::error!("a cost could not be stored: {error}");
        }
    }
}

impl Drop for Bill {
    /// The client has gone while a model answered.
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (journal, reservation, cost) = (self.journal.clone(), self.reservation.clone(), self.cost.plus(self.most));
        runtime.spawn(async move { store(&journal, &reservation, cost).await });
    }
}

/// The part of a request whose price is not known from the request.
fn unbounded_part(request: &GatewayRequest) -> Option<String> {
    let value = |name: &str| request.body.get(name).filter(|value| !value.is_null());
    let tier = value("service_tier").and_then(Value::as_str).filter(|tier| !USUAL_TIERS.contains(tier));
    STORED_CONTEXT
        .iter()
        .find(|name| value(name).is_some())
        .map(|name| format!("`{name}`"))
        .or_else(|| tier.map(|tier| format!("the service tier `{tier}`")))
        .or_else(|| request.foreign_content.clone())
        .or_else(|| request.foreign_tools.first().map(|tool| format!("the provider's tool `{tool}`")))
}

async fn store(journal: &Journal, reservation: &Reservation, cost: Money) {
    if let Err(error) = journal.settle(reservation, cost.nanos()).await {
        tracing::error!(account = reservation.account, "a cost could not be stored: {error}");
    }
}
