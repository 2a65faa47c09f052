//! Orders that are only written down.

use std::sync::{Arc, Mutex, PoisonError};

/// The orders that were placed, in order; clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Orders(Arc<Mutex<Vec<Order>>>);

/// One order to sell shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The ticker symbol.
    pub symbol: String,
    /// How many shares.
    pub shares: u32,
}

impl Orders {
    /// How many there are. A call that is repeated under its key is counted once.
    pub fn count(&self) -> usize {
        self.all().len()
    }

    /// All of them.
    pub fn all(&self) -> Vec<Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes one down and returns its number, from 1.
    pub(crate) fn place(&self, order: Order) -> usize {
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push(order);
        orders.len()
    }
}
