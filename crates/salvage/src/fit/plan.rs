//! What is to be done to a value, before it is done.
//!
//! Fitting decides first and acts after. A plan is a tree beside the value it is for; parts of it are shared where several
//! alternatives of a union agree on them.

use std::rc::Rc;

use reknit_protocol::Value;

use crate::{Fix, FixKind};

/// What is to be done to one value.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) act: Act,
    /// The penalties of all that is to be done.
    pub(super) cost: u64,
    /// Whether the result is what its place asks for, as far as it can be told before the whole is validated.
    pub(super) fits: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Keep,
    /// Put another value in its place.
    Set(Rc<(FixKind, Value)>),
    /// Put an expression in the place of a number.
    Expression(Rc<str>),
    /// Change some entries of an object, in their order.
    Object(Rc<[Edit]>),
    /// Change some items of an array, in their order.
    Array(Rc<[(usize, Plan)]>),
    /// Make it the only item of an array.
    Wrap(Rc<Plan>),
    /// Take what the text holds.
    Decode(Rc<(Rc<Decoded>, Plan)>),
}

/// What is to be done to one entry of an object.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) index: usize,
    pub(super) change: Change,
}

#[derive(Debug)]
pub(super) enum Change {
    Drop,
    Value(Plan),
    Rename(Box<str>, Plan),
}

/// What a text holds, and what had to be repaired to read it.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) value: Value,
    pub(super) fixes: Vec<Fix>,
}

impl Plan {
    pub(super) const fn keep(fits: bool) -> Self {
        Self { act: Act::Keep, cost: 0, fits }
    }

    /// Puts `value` in its place, where it is known to fit.
    pub(super) fn set(kind: FixKind, value: Value) -> Self {
        Self { act: Act::Set(Rc::new((kind, value))), cost: kind.penalty().into(), fits: true }
    }

    pub(super) fn expression(text: &str) -> Self {
        Self { act: Act::Expression(text.into()), cost: FixKind::Arithmetic.penalty().into(), fits: true }
    }

    pub(super) fn wrap(item: Self) -> Self {
        let cost = item.cost.saturating_add(FixKind::ScalarForArray.penalty().into());
        Self { fits: item.fits, cost, act: Act::Wrap(Rc::new(item)) }
    }

    pub(super) fn decode(decoded: Rc<Decoded>, then: Self) -> Self {
        let repairs: u64 = decoded.fixes.iter().map(|fix| u64::from(fix.penalty)).sum();
        let cost = then.cost.saturating_add(repairs).saturating_add(FixKind::DoubleEncoding.penalty().into());
        Self { fits: then.fits, cost, act: Act::Decode(Rc::new((decoded, then))) }
    }

    pub(super) fn is_keep(&self) -> bool {
        matches!(self.act, Act::Keep)
    }
}
