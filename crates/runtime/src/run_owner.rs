//! On whose behalf runs are started, and what they may use.

use std::sync::Arc;

use parking_lot::Mutex;
use reknit_journal::{Reservation, RunSummary, Spending};
use reknit_model_api::Money;
use reknit_plan::{Catalogue, CatalogueTool};

/// A caller of a server that several callers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOwner {
    /// Its name. The journal keeps it with each run.
    pub name: String,
    /// The tools (`shop`) and capabilities (`shop/price`) that its runs may call; all if none.
    pub tools: Option<Vec<String>>,
    /// What its runs may cost in a month; without a limit if none.
    pub monthly_budget: Option<Money>,
    /// Whether it sees the runs of all owners, or only its own.
    pub sees_all_runs: bool,
}

impl RunOwner {
    /// The owner of a session that a run has started. The run has the tools and the budget.
    pub(crate) fn of_session(name: String) -> Self {
        Self { name, tools: None, monthly_budget: None, sees_all_runs: false }
    }

    /// An amount to reserve from the budget of this month, at most `most`; none without a budget.
    pub fn reservation(&self, spending: &Spending, most: Option<Money>, now_ms: i64) -> Option<Reservation> {
        let limit = self.monthly_budget?.nanos();
        let amount = spending.left_of(limit).min(most.map_or(limit, Money::nanos));
        Some(Reservation { account: self.name.clone(), month: month_of(now_ms), amount, limit })
    }

    pub fn sees(&self, run: &RunSummary) -> bool {
        self.sees_all_runs || run.owner.as_ref() == Some(&self.name)
    }

    /// Whether its runs may call a tool, or a capability of it.
    pub fn may_use_tool(&self, tool: &str) -> bool {
        let is_of = |name: &String| name.split_once('/').map_or(name.as_str(), |(agent, _)| agent) == tool;
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(is_of))
    }

    fn may_use(&self, tool: &str, capability: &str) -> bool {
        let allows = |name: &String| match name.split_once('/') {
            Some((agent, only)) => agent == tool && only == capability,
            None => name == tool,
        };
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(allows))
    }

    fn allowed(&self, catalogue: &Catalogue) -> Catalogue {
        let allowed = |tool: &CatalogueTool| {
            let entries = tool
                .capabilities
                .iter()
                .filter(|entry| self.may_use(tool.name.as_str(), entry.capability.name.as_str()));
            CatalogueTool { capabilities: entries.cloned().collect(), ..tool.clone() }
        };
        let tools = catalogue.tools.iter().map(allowed).filter(|tool| !tool.capabilities.is_empty());
        Catalogue { tools: tools.collect() }
    }
}

/// The part of the catalogue that an owner may use. It is computed again when the catalogue changes.
#[derive(Debug)]
pub(crate) struct OwnedCatalogue {
    pub(crate) owner: Arc<RunOwner>,
    last: Mutex<Option<AllowedPart>>,
}

#[derive(Debug)]
struct AllowedPart {
    of: Arc<Catalogue>,
    part: Arc<Catalogue>,
}

impl OwnedCatalogue {
    pub(crate) fn new(owner: RunOwner) -> Self {
        Self { owner: Arc::new(owner), last: Mutex::default() }
    }

    pub(crate) fn part_of(&self, catalogue: Arc<Catalogue>) -> Arc<Catalogue> {
        if self.owner.tools.is_none() {
            return catalogue;
        }
        let mut last = self.last.lock();
        if let Some(known) = last.as_ref().filter(|known| Arc::ptr_eq(&known.of, &catalogue)) {
            return Arc::clone(&known.part);
        }
        let part = Arc::new(self.owner.allowed(&catalogue));
        *last = Some(AllowedPart { of: catalogue, part: Arc::clone(&part) });
        part
    }
}

/// The month of a time in milliseconds since 1970, in UTC: `2026-11`.
pub fn month_of(now_ms: i64) -> String {
    // Days since 0000-03-01: a year that begins in March has its leap day at the end.
    let days = now_ms.div_euclid(86_400_000) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_and_ends_at_midnight_in_utc() {
        for (ms, month) in [
            (0, "1970-01"),
            (-1, "1969-12"),
            (951_782_399_999, "2000-02"),
            (951_782_400_000, "2000-02"),
            (951_868_799_999, "2000-02"),
            (951_868_800_000, "2000-03"),
            (1_767_225_599_999, "2025-12"),
            (1_767_225_600_000, "2026-01"),
            (1_793_491_200_000, "2026-11"),
        ] {
            assert_eq!(month_of(ms), month, "{ms}");
        }
    }

    #[test]
    fn a_reservation_is_what_a_run_may_cost_or_what_is_left_of_the_month() {
        let budget = Some(Money::from_nanos(100));
        let owner = RunOwner { name: "ann".to_owned(), tools: None, monthly_budget: budget, sees_all_runs: false };
        let amount = |spending, most: Option<u64>| {
            owner.reservation(&spending, most.map(Money::from_nanos), 0).map(|reservation| reservation.amount)
        };
        assert_eq!(amount(Spending { spent: 20, reserved: 10 }, Some(50)), Some(50));
        assert_eq!(amount(Spending { spent: 50, reserved: 10 }, Some(50)), Some(40));
        assert_eq!(amount(Spending { spent: 50, reserved: 60 }, Some(50)), Some(0));
        assert_eq!(amount(Spending::default(), None), Some(100));
        let unlimited = RunOwner { monthly_budget: None, ..owner.clone() };
        assert_eq!(unlimited.reservation(&Spending::default(), None, 0), None);
    }
}
