//! What the four tools know, and how they say what they do not.

use reknit_demo::{Faults, Order, Tools};
use reknit_protocol::{Capability, Value};

use crate::support::{call, call_under, client, found, refused};

async fn tools() -> Tools {
    Tools::start(Faults::none()).await.unwrap()
}

#[tokio::test]
async fn every_capability_declares_its_effect_and_says_what_it_answers() {
    let tools = tools().await;
    let mut lines = Vec::new();
    for (name, url) in tools.endpoints() {
        let list = client().get(url + "/api/capabilities").send().await.unwrap().text().await.unwrap();
        for one in Value::parse(&list).unwrap().as_array().unwrap() {
            let capability = Capability::from_value(one).unwrap();
            let names = |hints: &[reknit_protocol::schema::FieldHint]| {
                hints.iter().map(|hint| format!("{}: {}", hint.name, hint.type_word)).collect::<Vec<_>>().join(", ")
            };
            let (input, output) = (capability.input_summary.unwrap(), capability.output_summary.unwrap());
            lines.push(format!(
                "{name} {} ({}) takes {} [{}] gives {}",
                capability.name,
                capability.effect,
                names(&input.required),
                names(&input.optional),
                names(&output.required),
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    stock-tool get_stock_quote (read) takes symbol: string [] gives symbol: string, name: string, current_price: number, currency: string, exchange: string
    stock-tool place_order (keyed) takes symbol: string, shares: integer [] gives order_id: string, symbol: string, shares: integer, status: string
    geocoding-tool geocode (read) takes location: string [] gives lat: string, lon: string, name: string, country: string, currency: string
    weather-tool get_weather (read) takes lat: number, lon: number [units: string] gives station: string, temperature: number, unit: string, condition: string, humidity: integer
    currency-tool convert_currency (read) takes from: string, to: string, amount: number [] gives from: string, to: string, amount: number, rate: number, converted: number
    "#);
}

#[tokio::test]
async fn a_share_has_a_price_and_one_that_is_not_traded_has_none() {
    let tools = tools().await;
    let quote = found(&tools, "stock-tool", "get_stock_quote", r#"{"symbol":"tsla"}"#).await;
    insta::assert_snapshot!(quote, @r#"
    {"symbol":"TSLA","name":"Tesla, Inc.","current_price":468.285,"currency":"USD","exchange":"NASDAQ"}
    "#);
    let (status, response) = call(&tools, "stock-tool", "get_stock_quote", r#"{"symbol":"HANOK"}"#).await;
    assert_eq!(status, 404);
    insta::assert_snapshot!(response.error().unwrap().to_value(), @r#"
    {"code":"SYMBOL_NOT_FOUND","message":"no share is traded as `HANOK`","category":"NOT_FOUND","retryable":true,"details":{"symbol":"HANOK","known_symbols":["TSLA","AAPL","MSFT","SAP","SONY"],"hint":"use the ticker symbol of a listed company; one that is not listed has none"}}
    "#);
}

#[tokio::test]
async fn an_order_is_placed_once_for_each_key() {
    let tools = tools().await;
    let order = r#"{"symbol":"TSLA","shares":100}"#;
    let first = call_under(&tools, "k-1", "stock-tool", "place_order", order).await;
    let again = call_under(&tools, "k-1", "stock-tool", "place_order", order).await;
    assert_eq!(first, again);
    assert_eq!(first.1.data().unwrap().get("order_id"), Some(&Value::from("order-1")));
    call_under(&tools, "k-2", "stock-tool", "place_order", order).await;
    assert_eq!(tools.orders().count(), 2);
    assert_eq!(tools.orders().all()[0], Order { symbol: "TSLA".to_owned(), shares: 100 });
    let none = refused(&tools, "stock-tool", "place_order", r#"{"symbol":"TSLA","shares":0}"#).await;
    assert_eq!(none, "400 INVALID_FORMAT retryable=Yes: `shares` must be at least 1");
    assert_eq!(tools.orders().count(), 2);
}

#[tokio::test]
async fn a_place_is_found_by_city_and_country_and_its_coordinates_are_text() {
    let tools = tools().await;
    let seoul = found(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await;
    insta::assert_snapshot!(seoul, @r#"
    {"lat":"37.5665","lon":"126.978","name":"Seoul","country":"South Korea","currency":"KRW"}
    "#);
    for spelling in ["seoul, KR", "Seoul , South Korea"] {
        assert_eq!(found(&tools, "geocoding-tool", "geocode", &format!(r#"{{"location":"{spelling}"}}"#)).await, seoul);
    }
    insta::assert_snapshot!(refused(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul, Japan"}"#).await, @r#"
    404 LOCATION_NOT_FOUND retryable=Yes: there is no place called `Seoul, Japan`
    "#);
}

#[tokio::test]
async fn the_weather_needs_numbers_near_a_station() {
    let tools = tools().await;
    let weather = async |body: &str| found(&tools, "weather-tool", "get_weather", body).await;
    insta::assert_snapshot!(weather(r#"{"lat":37.5665,"lon":126.978}"#).await, @r#"
    {"station":"Seoul","temperature":14.5,"unit":"celsius","condition":"clear","humidity":48}
    "#);
    insta::assert_snapshot!(weather(r#"{"lat":37.5665,"lon":126.978,"units":"imperial"}"#).await, @r#"
    {"station":"Seoul","temperature":58.1,"unit":"fahrenheit","condition":"clear","humidity":48}
    "#);
    let refused = async |body: &str| refused(&tools, "weather-tool", "get_weather", body).await;
    insta::assert_snapshot!(refused(r#"{"lat":"37.5665","lon":"126.978"}"#).await, @r#"
    400 INVALID_FORMAT retryable=Yes: `lat` must be a number, not a string
    "#);
    insta::assert_snapshot!(refused(r#"{"lat":126.978,"lon":37.5665}"#).await, @r#"
    400 INVALID_FORMAT retryable=Yes: `lat` must be at most 90
    "#);
    insta::assert_snapshot!(refused(r#"{"lat":0,"lon":0}"#).await, @r#"
    404 LOCATION_NOT_FOUND retryable=Yes: no weather station is near 0, 0
    "#);
}

#[tokio::test]
async fn money_is_converted_to_the_last_digit_and_only_if_there_is_some() {
    let tools = tools().await;
    let convert = async |body: &str| found(&tools, "currency-tool", "convert_currency", body).await;
    insta::assert_snapshot!(convert(r#"{"from":"USD","to":"KRW","amount":46828.5}"#).await, @r#"
    {"from":"USD","to":"KRW","amount":46828.5,"rate":1391.25,"converted":65150150.625}
    "#);
    insta::assert_snapshot!(convert(r#"{"from":"usd","to":"eur","amount":0.1000000000000000001}"#).await, @r#"
    {"from":"USD","to":"EUR","amount":0.1000000000000000001,"rate":0.8571,"converted":0.08571000000000000008571}
    "#);
    let refused = async |body: &str| refused(&tools, "currency-tool", "convert_currency", body).await;
    insta::assert_snapshot!(refused(r#"{"from":"USD","to":"KRW","amount":0}"#).await, @r#"
    400 INVALID_AMOUNT retryable=Yes: amount must be greater than 0
    "#);
    insta::assert_snapshot!(refused(r#"{"from":"USD","to":"KRW","amount":-0.01}"#).await, @r#"
    400 INVALID_AMOUNT retryable=Yes: amount must be greater than 0
    "#);
    insta::assert_snapshot!(refused(r#"{"from":"USD","to":"ISK","amount":1}"#).await, @r#"
    404 RESOURCE_NOT_FOUND retryable=Yes: there is no rate from `USD` to `ISK`
    "#);
    insta::assert_snapshot!(refused(r#"{"from":"USD","to":"KRW","amount":1e40}"#).await, @r#"
    400 INVALID_FORMAT retryable=Yes: amount has more digits than money has
    "#);
}

#[tokio::test]
async fn faults_last_as_long_as_they_were_told_to() {
    let faults = Faults { weather_rate_limits: 2, weather_retry_after: 3, geocoding_down: 1, ..Faults::none() };
    let tools = Tools::start(faults).await.unwrap();
    for _ in 0..2 {
        let (status, response) = call(&tools, "weather-tool", "get_weather", r#"{"lat":37.5,"lon":127}"#).await;
        assert_eq!(status, 429);
        assert_eq!(response.error().unwrap().details.get("retry_after"), Some(&Value::from(3)));
    }
    found(&tools, "weather-tool", "get_weather", r#"{"lat":37.5,"lon":127}"#).await;
    insta::assert_snapshot!(refused(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await, @r#"
    503 SERVICE_UNAVAILABLE retryable=Yes: the list of places cannot be reached
    "#);
    found(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await;
}
