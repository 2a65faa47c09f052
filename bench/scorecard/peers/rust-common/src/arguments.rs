//! The arguments of the tools as types, as a developer would write them for their tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize, Serialize)]
enum Currency {
    EUR,
    USD,
    KRW,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, Serialize)]
struct Address {
    street: String,
    zip_code: String,
}

macro_rules! tools {
    ($($tool:literal $name:ident { $($field:ident: $kind:ty),* } $({ $($optional:ident: $maybe:ty),* })?)*) => {
        $(
            #[derive(Deserialize, Serialize)]
            struct $name {
                $($field: $kind,)*
                $($(#[serde(skip_serializing_if = "Option::is_none")] $optional: Option<$maybe>,)*)?
            }
        )*

        /// The arguments as they are sent: what the type does not have is left out. The error is in the words of Serde.
        pub fn checked(tool: &str, arguments: Value) -> Result<Value, serde_json::Error> {
            match tool {
                $($tool => serde_json::from_value::<$name>(arguments).and_then(serde_json::to_value),)*
                _ => Ok(arguments),
            }
        }
    };
}

tools! {
    "get_order" GetOrder { order_id: i64 }
    "list_orders" ListOrders {}
    "get_stock" GetStock { sku: String }
    "get_price" GetPrice { sku: String }
    "get_weather" GetWeather { location: String } { unit: Unit }
    "get_quote" GetQuote { symbol: String }
    "convert" Convert { amount: f64, to: Currency }
    "search_flights" SearchFlights { origin: String, destination: String, date: String }
    "get_log" GetLog { day: String }
    "list_refunds" ListRefunds { order_id: i64 }
    "create_order" CreateOrder { customer_id: i64, sku: String, quantity: i64 }
        { express: bool, tags: Vec<String>, address: Address }
    "pay" Pay { order_id: i64, amount: f64, currency: Currency }
    "book_entry" BookEntry { reference: i64, amount: f64 }
    "refund" Refund { order_id: i64, amount: f64, reason: String }
    "transfer" Transfer { from_account: String, to_account: String, amount: f64 }
    "send_mail" SendMail { to: String, text: String }
}
