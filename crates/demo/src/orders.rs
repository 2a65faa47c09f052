//! Orders that the stock tool accepts. It records them and sells nothing.

use std::sync::{Arc, Mutex, PoisonError};

/// The accepted orders, oldest first. Clones share one list.
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
    /// All orders. A repeated call with the same idempotency key is one order.
    pub fn all(&self) -> Vec<Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records an order and returns its number, from 1.
    pub(crate) fn place(&self, order: Order) -> usize {
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push(order);
        orders.len()
    }
}
