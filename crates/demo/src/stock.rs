//! `stock-tool`: prices of five shares, and orders that it records but does not execute.

use std::sync::{Arc, Mutex, PoisonError};

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};
use reknit_tool_service::{CallContext, CapabilityDefinition, Handler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Quote};
use crate::faults::{FailureCountdown, unavailable};

#[derive(Debug, Deserialize, JsonSchema)]
struct QuoteArgs {
    /// The ticker symbol, not the name of the company.
    #[schemars(example = &"TSLA")]
    symbol: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct OrderArgs {
    /// The ticker symbol of the shares to sell.
    #[schemars(example = &"TSLA")]
    symbol: String,
    /// How many shares to sell.
    #[schemars(range(min = 1), example = 100)]
    shares: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlacedOrder {
    /// The number of the order.
    order_id: String,
    /// The ticker symbol.
    symbol: String,
    /// How many shares are to be sold.
    shares: u32,
    /// `accepted`.
    status: &'static str,
}

#[derive(Debug)]
struct QuoteHandler {
    data: Arc<Data>,
    down: FailureCountdown,
}

#[derive(Debug)]
struct OrderHandler {
    data: Arc<Data>,
    orders: Orders,
}

/// Adds accepted orders to `orders`.
pub(crate) fn order_capability(data: &Arc<Data>, orders: &Orders) -> CapabilityDefinition {
    let order = OrderHandler { data: Arc::clone(data), orders: orders.clone() };
    CapabilityDefinition::new("place_order", SideEffect::Keyed, order)
        .description("Places an order to sell shares; only for a user who asks to sell now")
        .output::<PlacedOrder>()
}

pub(crate) fn quote_capability(data: &Arc<Data>, down: u32) -> CapabilityDefinition {
    let quote = QuoteHandler { data: Arc::clone(data), down: FailureCountdown::new(down) };
    CapabilityDefinition::new("get_stock_quote", SideEffect::Read, quote)
        .description("Gets the current price of one share by its ticker symbol")
        .output::<Quote>()
}

impl Handler<QuoteArgs> for QuoteHandler {
    type Output = Quote;

    async fn call(&self, _: CallContext, args: QuoteArgs) -> Result<Quote, ToolError> {
        if self.down.next_fails() {
            return Err(unavailable("the exchange"));
        }
        find_share(&self.data, &args.symbol).cloned()
    }
}

impl Handler<OrderArgs> for OrderHandler {
    type Output = PlacedOrder;

    async fn call(&self, _: CallContext, args: OrderArgs) -> Result<PlacedOrder, ToolError> {
        let share = find_share(&self.data, &args.symbol)?;
        let number = self.orders.place(Order { symbol: share.symbol.clone(), shares: args.shares });
        let order_id = format!("order-{number}");
        Ok(PlacedOrder { order_id, symbol: share.symbol.clone(), shares: args.shares, status: "accepted" })
    }
}

fn find_share<'a>(data: &'a Data, symbol: &str) -> Result<&'a Quote, ToolError> {
    let found = data.shares.iter().find(|share| share.symbol.eq_ignore_ascii_case(symbol.trim()));
    found.ok_or_else(|| {
        let known: Vec<Value> = data.shares.iter().map(|share| share.symbol.as_str().into()).collect();
        ToolError::new(codes::SYMBOL_NOT_FOUND, format!("no share is traded as `{symbol}`"), Category::NotFound)
            .retryable(Retryable::Yes)
            .detail("symbol", symbol)
            .detail("known_symbols", known)
            .detail("hint", "use the ticker symbol of a listed company; one that is not listed has none")
    })
}

/// The accepted orders, oldest first; nothing is sold. Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct Orders(Arc<Mutex<Vec<Order>>>);

/// One order to sell shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub symbol: String,
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
