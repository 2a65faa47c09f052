//! Correct calls to the demo tools, and the mistakes that models are known to make in them.

use reknit_protocol::{Object, Value};

/// A correct call, with the step before it.
#[derive(Clone)]
pub struct Call {
    pub tool: &'static str,
    pub capability: &'static str,
    pub correct: Object,
    /// The request of the user.
    pub request: String,
    /// The step before it: tool, capability, parameters.
    pub before: (&'static str, &'static str, Object),
}

/// A call with a mistake.
#[derive(Clone)]
pub struct Case {
    pub kind: &'static str,
    pub mistake: String,
    pub call: Call,
    pub wrong: Object,
    /// Whether schema, error, plan, request and results allow only one correction.
    pub is_determined: bool,
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
    Value::parse(text).expect("a number")
}

/// All correct calls.
fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for (place, lat, lon) in PLACES {
        for units in ["metric", "imperial"] {
            calls.push(Call {
                tool: "weather-tool",
                capability: "get_weather",
                correct: object(&[
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
                tool: "currency-tool",
                capability: "convert_currency",
                correct: object(&[("from", from.into()), ("to", (*to).into()), ("amount", number("1500.5"))]),
                request: format!("Convert 1500.5 {from} to {to}."),
                before: ("stock-tool", "get_stock_quote", object(&[("symbol", "TSLA".into())])),
            });
        }
    }
    for (symbol, name) in SHARES {
        let before = ("stock-tool", "get_stock_quote", object(&[("symbol", symbol.into())]));
        for shares in [10, 25, 100] {
            calls.push(Call {
                tool: "stock-tool",
                capability: "place_order",
                correct: object(&[("symbol", symbol.into()), ("shares", shares.into())]),
                request: format!("Sell {shares} shares of {name}."),
                before: before.clone(),
            });
        }
    }
    calls
}

/// A mistake: its kind, its description, whether the correction is determined, and a function that makes it.
type Mistake = (&'static str, &'static str, bool, fn(&Object) -> Option<Object>);

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

/// Swaps two letters.
fn with_typo(call: &Object, name: &str) -> Option<Object> {
    let mut letters: Vec<char> = text(call, name)?.chars().collect();
    letters.swap(1, 2);
    with(call, name, Value::from(letters.into_iter().collect::<String>()))
}

fn with_other_word(call: &Object, name: &str, words: &[(&str, &str)]) -> Option<Object> {
    let code = text(call, name)?;
    let (_, word) = words.iter().find(|(known, _)| *known == code)?;
    with(call, name, (*word).into())
}

/// All mistakes, in the order of the printed table.
const MISTAKES: &[Mistake] = &[
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
    ("names", "an invented field", true, |call| {
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
        with_other_word(call, "units", &[("metric", "celsius"), ("imperial", "fahrenheit")])
    }),
    ("units", "Euro for EUR", true, |call| with_other_word(call, "to", &CURRENCIES[1..2])),
    ("units", "the name of a currency", false, |call| with_other_word(call, "from", &CURRENCIES[2..])),
    ("missing", "a latitude that a result contains", true, |call| without(call, "lat")),
    ("missing", "a symbol that the plan contains", true, |call| without(call, "symbol")),
    ("missing", "an amount", false, |call| without(call, "amount")),
    ("zero", "an amount of 0", false, |call| with(call, "amount", 0.into())),
    ("zero", "a count of 0", false, |call| with(call, "shares", 0.into())),
    ("sign", "a negative count", true, |call| negated(call, "shares")),
    ("sign", "a negative amount", true, |call| negated(call, "amount")),
    ("typos", "two letters of a symbol", true, |call| with_typo(call, "symbol")),
    ("typos", "two letters of a currency", true, |call| with_typo(call, "to")),
    ("typos", "two letters of the units", true, |call| with_typo(call, "units")),
    ("typos", "spaces around a text", true, |call| with(call, "to", format!(" {} ", text(call, "to")?).into())),
    ("stale ids", "a former symbol", false, |call| {
        with_other_word(
            call,
            "symbol",
            &[("SONY", "SNE"), ("AAPL", "APPC"), ("TSLA", "SCTY"), ("MSFT", "MSQ"), ("SAP", "HANA")],
        )
    }),
    ("stale ids", "a former currency", false, |call| {
        with_other_word(call, "from", &[("EUR", "DEM"), ("USD", "XUA"), ("GBP", "IEP"), ("JPY", "XEU"), ("KRW", "HWN")])
    }),
    ("swapped", "latitude and longitude swapped", true, |call| {
        let (lat, lon) = (call.get("lat")?.clone(), call.get("lon")?.clone());
        // The swap is visible only if the longitude is not a valid latitude.
        let is_visible = lon.as_number()?.to_f64().abs() > 90.0;
        with(&with(call, "lat", lon)?, "lon", lat).filter(|_| is_visible)
    }),
];

/// All cases.
pub fn cases() -> Vec<Case> {
    let calls = calls();
    let of = |mistake: &'static Mistake| {
        let (kind, description, determined, make) = mistake;
        calls.iter().filter_map(move |call| {
            let wrong = make(&call.correct).filter(|wrong| *wrong != call.correct)?;
            let (mistake, is_determined) = ((*description).to_owned(), *determined);
            Some(Case { kind, mistake, call: call.clone(), wrong, is_determined })
        })
    };
    MISTAKES.iter().flat_map(of).collect()
}
