//! The failures that GoMind's documents describe, with other numbers, shares, currencies and places.

use reknit_protocol::{Object, Value};

use crate::cases::{Call, Case};

/// The shares of the demo: symbol, name, price in thousandths, currency.
const SHARES: [(&str, &str, u64, &str); 5] = [
    ("TSLA", "Tesla", 468_285, "USD"),
    ("AAPL", "Apple", 271_060, "USD"),
    ("MSFT", "Microsoft", 517_035, "USD"),
    ("SAP", "SAP", 232_150, "EUR"),
    ("SONY", "Sony", 28_410, "USD"),
];
const COUNTS: [u64; 4] = [10, 25, 40, 100];
const TARGETS: [(&str, &str); 2] = [("KRW", "Seoul"), ("JPY", "Tokyo")];

/// Places with a part of their country instead of the country, which the service does not know.
const PLACES: [(&str, &str, &str); 7] = [
    ("Seoul", "Jongno", "South Korea"),
    ("Busan", "Haeundae", "South Korea"),
    ("Tokyo", "Kanto", "Japan"),
    ("Paris", "Île-de-France", "France"),
    ("Berlin", "BE", "Germany"),
    ("London", "England", "United Kingdom"),
    ("New York", "NY", "United States"),
];

fn object(entries: &[(&str, Value)]) -> Object {
    entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// "I am planning to sell 100 Tesla shares": the amount is the product of a number in the request and a price in a result, and the plan
/// says 0.
fn sales() -> Vec<Case> {
    let mut cases = Vec::new();
    for (symbol, name, thousandths, from) in SHARES {
        for (count, (to, city)) in COUNTS.iter().flat_map(|count| TARGETS.map(|target| (count, target))) {
            let amount = format!("{}.{:03}", thousandths * count / 1_000, thousandths * count % 1_000);
            let amount = Value::parse(&amount).expect("a number");
            let correct = object(&[("from", from.into()), ("to", to.into()), ("amount", amount)]);
            let mut wrong = correct.clone();
            wrong.insert("amount", 0);
            let request = format!("I am planning to sell {count} {name} shares to fund my travel to {city}.");
            let before = ("stock-tool", "get_stock_quote", object(&[("symbol", symbol.into())]));
            let call = Call { tool: "currency-tool", capability: "convert_currency", correct, request, before };
            cases.push(case("the amount of a sale is 0", call, wrong));
        }
    }
    cases
}

/// "The weather in Flower Mound, TX": the service wants `City, Country`. Only a model knows the country.
fn places() -> Vec<Case> {
    let case_of = |(city, part, country): (&str, &str, &str)| {
        let location = |text: String| object(&[("location", text.into())]);
        let call = Call {
            tool: "geocoding-tool",
            capability: "geocode",
            correct: location(format!("{city}, {country}")),
            request: format!("What is the weather in {city}, {part}?"),
            before: ("stock-tool", "get_stock_quote", object(&[("symbol", "TSLA".into())])),
        };
        case("a part of a country instead of the country", call, location(format!("{city}, {part}")))
    };
    PLACES.map(case_of).into()
}

fn case(mistake: &str, call: Call, wrong: Object) -> Case {
    Case { kind: "seeds", mistake: mistake.to_owned(), call, wrong, is_determined: false }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    sales().into_iter().chain(places()).collect()
}
