//! The changes that will make a value fit.
//!
//! A plan is a tree parallel to the value. Alternatives of a union share the parts of their plans that are equal.

use std::rc::Rc;

use reknit_protocol::Value;

use crate::schema::FitProblemKind;
use crate::{Fix, FixKind};

/// The change to one value.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) action: Action,
    /// The sum of the penalties of all changes.
    pub(super) cost: u64,
    /// Whether the result will fit here, as far as that is known before the whole value is validated.
    pub(super) fits: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Keep,
    Replace(Rc<(FixKind, Value)>),
    /// Replace the value, where a number is expected, with an expression.
    Expression(Rc<str>),
    Object(Rc<[EntryEdit]>),
    Array(Rc<[(usize, Plan)]>),
    /// Make the value the only item of an array.
    Wrap(Rc<Plan>),
    /// Take the only item of an array.
    Unwrap(Rc<Plan>),
    /// Take the value out of a layer around it. The name is that of the property.
    TakeValue(Rc<(Option<Box<str>>, Plan)>),
    /// Replace a string with its decoded content, or an object with its items, then apply the plan to that.
    Decode(Rc<(Rc<Decoded>, Plan)>),
}

/// The change to the entry of an object at `index`.
#[derive(Debug)]
pub(super) struct EntryEdit {
    pub(super) index: usize,
    pub(super) change: EntryChange,
}

#[derive(Debug)]
pub(super) enum EntryChange {
    /// Drop a null, or a text that stands for one.
    Drop,
    Fit(Plan),
    /// The name of the property, and what was wrong with the key.
    Rename(Box<str>, FixKind, Plan),
}

/// The content of a value that was written as another one, with the repairs that decoding needed.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) kind: FixKind,
    pub(super) value: Value,
    pub(super) fixes: Vec<Fix>,
}

impl Plan {
    pub(super) const fn keep(fits: bool) -> Self {
        Self { action: Action::Keep, cost: 0, fits }
    }

    /// Replaces the value with one that fits.
    pub(super) fn replace(kind: FixKind, value: Value) -> Self {
        Self { action: Action::Replace(Rc::new((kind, value))), cost: kind.penalty().into(), fits: true }
    }

    pub(super) fn expression(text: &str) -> Self {
        Self { action: Action::Expression(text.into()), cost: FixKind::Arithmetic.penalty().into(), fits: true }
    }

    pub(super) fn wrap(item: Self) -> Self {
        let cost = item.cost.saturating_add(FixKind::ScalarForArray.penalty().into());
        Self { fits: item.fits, cost, action: Action::Wrap(Rc::new(item)) }
    }

    /// Takes the only item of a list.
    pub(super) fn unwrap(inner: Self) -> Self {
        let (cost, fits) = (inner.cost.saturating_add(FixKind::ListOfOne.penalty().into()), inner.fits);
        Self { action: Action::Unwrap(Rc::new(inner)), cost, fits }
    }

    /// Takes the value out of a layer around it.
    pub(super) fn take(name: Option<&str>, inner: Self) -> Self {
        let (cost, fits) = (inner.cost.saturating_add(FixKind::ValueLayer.penalty().into()), inner.fits);
        Self { action: Action::TakeValue(Rc::new((name.map(Into::into), inner))), cost, fits }
    }

    pub(super) fn decode(decoded: Rc<Decoded>, then: Self) -> Self {
        let repairs: u64 = decoded.fixes.iter().map(|fix| u64::from(fix.penalty)).sum();
        let cost = then.cost.saturating_add(repairs).saturating_add(decoded.kind.penalty().into());
        Self { fits: then.fits, cost, action: Action::Decode(Rc::new((decoded, then))) }
    }

    pub(super) fn is_keep(&self) -> bool {
        matches!(self.action, Action::Keep)
    }
}

/// The cheapest of the plans that were offered for one value.
#[derive(Debug, Default)]
pub(super) struct CheapestPlan {
    best: Option<(Plan, Value)>,
    /// A different result at the same cost.
    rival: Option<Value>,
}

impl CheapestPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.best.is_none()
    }

    /// Offers a plan that leads to `result`.
    pub(super) fn offer(&mut self, plan: Plan, result: Value) {
        match &self.best {
            Some((best, _)) if best.cost < plan.cost => {}
            Some((best, value)) if best.cost == plan.cost => {
                if *value != result {
                    self.rival.get_or_insert(result);
                }
            }
            _ => {
                self.best = Some((plan, result));
                self.rival = None;
            }
        }
    }

    /// The cheapest plan, if any was offered. Two plans with the same cost and different results are an error.
    pub(super) fn into_plan(self) -> Result<Option<Plan>, FitProblemKind> {
        match (self.best, self.rival) {
            (Some((_, first)), Some(second)) => Err(FitProblemKind::Ambiguous { first, second }),
            (best, _) => Ok(best.map(|(plan, _)| plan)),
        }
    }
}
