//! Right calls of the demo tools, and the ways in which models are known to get them wrong.

use reknit_protocol::{Object, Value};

/// A call as it should be, with what comes before it.
#[derive(Clone)]
pub struct Call {
    pub agent: &'static str,
    pub capability: &'static str,
    pub right: Object,
    /// What the user asked for.
    pub request: String,
    /// The step before it: agent, capability, parameters.
    pub before: (&'static str, &'static str, Object),
}

/// A damaged call.
#[derive(Clone)]
pub struct Case {
    pub kind: &'static str,
    pub what: String,
    pub call: Call,
    pub wrong: Object,
    /// Whether schema, error, plan, request or results leave only one answer.
    pub determined: bool,
}

const PLACES: [(&str, f64, f64); 7] = [
    ("Seoul", 37.5665, 126.978),
    ("Busan", 35.1796, 129.0756),
    ("Tokyo", 35.6897, 139.6917),
    ("Paris", 48.8566, 2.3522),
    ("Berlin", 52.52, 13.405),
    ("London", 51.5072, -0.1276),
    ("New York", 40.7128, -74.006),
];
const SHARES: [(&str, &str); 5] =
    [("TSLA", "Tesla"), ("AAPL", "Apple"), ("MSFT", "Microsoft"), ("SAP", "SAP"), ("SONY", "Sony")];
const CURRENCIES: [(&str, &str); 5] =
    [("USD", "US dollars"), ("EUR", "Euro"), ("GBP", "Pounds"), ("JPY", "Yen"), ("KRW", "Won")];

fn object(entries: &[(&str, Value)]) -> Object {
    entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn number(text: &str) -> Value {
    Value::parse(text).expect("it is a number")
}

/// Every right call.
fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for (place, lat, lon) in PLACES {
        for units in ["metric", "imperial"] {
            calls.push(Call {
                agent: "weather-tool",
                capability: "get_weather",
                right: object(&[
                    ("lat", number(&lat.to_string())),
                    ("lon", number(&lon.to_string())),
                    ("units", units.into()),
                ]),
                request: format!("What is the weather in {place}, in {units} units?"),
                before: ("geocoding-tool", "geocode", object(&[("location", place.into())])),
            });
        }
    }
    for (from, _) in CURRENCIES {
        for (to, _) in CURRENCIES.iter().filter(|(to, _)| *to != from) {
            calls.push(Call {
                agent: "currency-tool",
                capability: "convert_currency",
                right: object(&[("from", from.into()), ("to", (*to).into()), ("amount", number("1500.5"))]),
                request: format!("Convert 1500.5 {from} to {to}."),
                before: ("stock-tool", "get_stock_quote", object(&[("symbol", "TSLA".into())])),
            });
        }
    }
    for (symbol, name) in SHARES {
        let before = ("stock-tool", "get_stock_quote", object(&[("symbol", symbol.into())]));
        for shares in [10, 25, 100] {
            calls.push(Call {
                agent: "stock-tool",
                capability: "place_order",
                right: object(&[("symbol", symbol.into()), ("shares", shares.into())]),
                request: format!("Sell {shares} shares of {name}."),
                before: before.clone(),
            });
        }
    }
    calls
}

/// Makes one damage: the kind, what is done, whether the right answer is determined, and the doing.
type Damage = (&'static str, &'static str, bool, fn(&Object) -> Option<Object>);

fn with(call: &Object, name: &str, value: Value) -> Option<Object> {
    let mut wrong = call.clone();
    (wrong.insert(name, value).is_some()).then_some(wrong)
}

fn renamed(call: &Object, name: &str, other: &str) -> Option<Object> {
    let mut wrong = call.clone();
    wrong.rename(name, other).then_some(wrong)
}

fn without(call: &Object, name: &str) -> Option<Object> {
    let mut wrong = call.clone();
    wrong.remove(name).map(|_| wrong)
}

fn text(call: &Object, name: &str) -> Option<String> {
    call.get(name)?.as_str().map(str::to_owned)
}

fn negated(call: &Object, name: &str) -> Option<Object> {
    with(call, name, number(&format!("-{}", call.get(name)?)))
}

/// Two letters exchanged.
fn slipped(call: &Object, name: &str) -> Option<Object> {
    let mut letters: Vec<char> = text(call, name)?.chars().collect();
    letters.swap(1, 2);
    with(call, name, Value::from(letters.into_iter().collect::<String>()))
}

fn spoken(call: &Object, name: &str, words: &[(&str, &str)]) -> Option<Object> {
    let code = text(call, name)?;
    let (_, word) = words.iter().find(|(known, _)| *known == code)?;
    with(call, name, (*word).into())
}

/// In the order of the table that is printed.
const DAMAGES: &[Damage] = &[
    ("types", "a number in a string", true, |call| with(call, "lat", call.get("lat")?.to_string().into())),
    ("types", "a number in a string", true, |call| with(call, "amount", call.get("amount")?.to_string().into())),
    ("types", "a count in a string", true, |call| with(call, "shares", call.get("shares")?.to_string().into())),
    ("types", "a count with a fraction of zero", true, |call| {
        with(call, "shares", number(&format!("{}.0", call.get("shares")?)))
    }),
    ("types", "a value in a list", true, |call| with(call, "to", vec![call.get("to")?.clone()].into())),
    ("names", "latitude and longitude", true, |call| renamed(&renamed(call, "lat", "latitude")?, "lon", "longitude")),
    ("names", "lng", true, |call| renamed(call, "lon", "lng")),
    ("names", "from_currency and to_currency", true, |call| {
        renamed(&renamed(call, "from", "from_currency")?, "to", "to_currency")
    }),
    ("names", "Amount", true, |call| renamed(call, "amount", "Amount")),
    ("names", "stock_symbol", true, |call| renamed(call, "symbol", "stock_symbol")),
    ("names", "quantity for shares", false, |call| renamed(call, "shares", "quantity")),
    ("names", "a field that is made up", true, |call| {
        let mut wrong = call.clone();
        call.get("lat")?;
        wrong.insert("forecast_days", 3);
        Some(wrong)
    }),
    ("units", "units in other words", true, |call| {
        with(call, "units", format!("{} units", text(call, "units")?).into())
    }),
    ("units", "units in capitals", true, |call| with(call, "units", text(call, "units")?.to_uppercase().into())),
    ("units", "the name of a scale", false, |call| {
        spoken(call, "units", &[("metric", "celsius"), ("imperial", "fahrenheit")])
    }),
    ("units", "Euro for EUR", true, |call| spoken(call, "to", &CURRENCIES[1..2])),
    ("units", "the name of a currency", false, |call| spoken(call, "from", &CURRENCIES[2..])),
    ("missing", "a latitude that a result has", true, |call| without(call, "lat")),
    ("missing", "a symbol that the plan has", true, |call| without(call, "symbol")),
    ("missing", "an amount", false, |call| without(call, "amount")),
    ("zero", "an amount of 0", false, |call| with(call, "amount", 0.into())),
    ("zero", "a count of 0", false, |call| with(call, "shares", 0.into())),
    ("sign", "a count with a minus", true, |call| negated(call, "shares")),
    ("sign", "an amount with a minus", true, |call| negated(call, "amount")),
    ("typos", "two letters of a symbol", true, |call| slipped(call, "symbol")),
    ("typos", "two letters of a currency", true, |call| slipped(call, "to")),
    ("typos", "two letters of the units", true, |call| slipped(call, "units")),
    ("typos", "blanks around a text", true, |call| with(call, "to", format!(" {} ", text(call, "to")?).into())),
    ("stale ids", "a symbol that was", false, |call| {
        spoken(call, "symbol", &[("SONY", "SNE"), ("AAPL", "APPC"), ("TSLA", "SCTY"), ("MSFT", "MSQ"), ("SAP", "HANA")])
    }),
    ("stale ids", "a currency that was", false, |call| {
        spoken(call, "from", &[("EUR", "DEM"), ("USD", "XUA"), ("GBP", "IEP"), ("JPY", "XEU"), ("KRW", "HWN")])
    }),
    ("swapped", "latitude and longitude exchanged", true, |call| {
        let (lat, lon) = (call.get("lat")?.clone(), call.get("lon")?.clone());
        // Only a longitude that is no latitude tells.
        let tells = lon.as_number()?.to_f64().abs() > 90.0;
        with(&with(call, "lat", lon)?, "lon", lat).filter(|_| tells)
    }),
];

/// Every damaged call.
pub fn cases() -> Vec<Case> {
    let calls = calls();
    let of = |damage: &'static Damage| {
        let (kind, what, determined, make) = damage;
        calls.iter().filter_map(move |call| {
            let wrong = make(&call.right).filter(|wrong| *wrong != call.right)?;
            Some(Case { kind, what: (*what).to_owned(), call: call.clone(), wrong, determined: *determined })
        })
    };
    DAMAGES.iter().flat_map(of).collect()
}
