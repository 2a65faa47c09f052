//! The four tools: their results and their errors.

use reknit_demo::{DemoTools, Faults, Order};
use reknit_protocol::{Capability, Value};

use crate::support::{call, call_err, call_ok, call_with_key, client};

async fn tools() -> DemoTools {
    DemoTools::start(Faults::none()).await.unwrap()
}

#[tokio::test]
async fn every_capability_declares_its_effect_and_its_output() {
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
async fn an_unknown_symbol_is_an_error_that_lists_the_known_ones() {
    let tools = tools().await;
    let quote = call_ok(&tools, "stock-tool", "get_stock_quote", r#"{"symbol":"tsla"}"#).await;
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
async fn an_order_is_placed_once_for_each_idempotency_key() {
    let tools = tools().await;
    let order = r#"{"symbol":"TSLA","shares":100}"#;
    let first = call_with_key(&tools, "k-1", "stock-tool", "place_order", order).await;
    let again = call_with_key(&tools, "k-1", "stock-tool", "place_order", order).await;
    assert_eq!(first, again);
    assert_eq!(first.1.data().unwrap().get("order_id"), Some(&Value::from("order-1")));
    call_with_key(&tools, "k-2", "stock-tool", "place_order", order).await;
    assert_eq!(tools.orders().all().len(), 2);
    assert_eq!(tools.orders().all()[0], Order { symbol: "TSLA".to_owned(), shares: 100 });
    let no_shares = call_err(&tools, "stock-tool", "place_order", r#"{"symbol":"TSLA","shares":0}"#).await;
    assert_eq!(no_shares, "400 INVALID_FORMAT retryable=Yes: `shares` must be at least 1");
    assert_eq!(tools.orders().all().len(), 2);
}

#[tokio::test]
async fn a_city_is_found_with_or_without_its_country_and_has_text_coordinates() {
    let tools = tools().await;
    let seoul = call_ok(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await;
    insta::assert_snapshot!(seoul, @r#"
    {"lat":"37.5665","lon":"126.978","name":"Seoul","country":"South Korea","currency":"KRW"}
    "#);
    for spelling in ["seoul, KR", "Seoul , South Korea"] {
        assert_eq!(
            call_ok(&tools, "geocoding-tool", "geocode", &format!(r#"{{"location":"{spelling}"}}"#)).await,
            seoul
        );
    }
    insta::assert_snapshot!(call_err(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul, Japan"}"#).await, @r#"
    404 LOCATION_NOT_FOUND retryable=Yes: there is no place called `Seoul, Japan`
    "#);
}

#[tokio::test]
async fn the_weather_tool_accepts_only_coordinates_near_a_station() {
    let tools = tools().await;
    let weather = async |body: &str| call_ok(&tools, "weather-tool", "get_weather", body).await;
    insta::assert_snapshot!(weather(r#"{"lat":37.5665,"lon":126.978}"#).await, @r#"
    {"station":"Seoul","temperature":14.5,"unit":"celsius","condition":"clear","humidity":48}
    "#);
    insta::assert_snapshot!(weather(r#"{"lat":37.5665,"lon":126.978,"units":"imperial"}"#).await, @r#"
    {"station":"Seoul","temperature":58.1,"unit":"fahrenheit","condition":"clear","humidity":48}
    "#);
    let refused = async |body: &str| call_err(&tools, "weather-tool", "get_weather", body).await;
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
async fn money_is_converted_exactly_and_only_if_the_amount_is_positive() {
    let tools = tools().await;
    let convert = async |body: &str| call_ok(&tools, "currency-tool", "convert_currency", body).await;
    insta::assert_snapshot!(convert(r#"{"from":"USD","to":"KRW","amount":46828.5}"#).await, @r#"
    {"from":"USD","to":"KRW","amount":46828.5,"rate":1391.25,"converted":65150150.625}
    "#);
    insta::assert_snapshot!(convert(r#"{"from":"usd","to":"eur","amount":0.1000000000000000001}"#).await, @r#"
    {"from":"USD","to":"EUR","amount":0.1000000000000000001,"rate":0.8571,"converted":0.08571000000000000008571}
    "#);
    let refused = async |body: &str| call_err(&tools, "currency-tool", "convert_currency", body).await;
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
    400 INVALID_FORMAT retryable=Yes: amount has too many digits
    "#);
}

#[tokio::test]
async fn faults_end_after_the_given_number_of_calls() {
    let faults = Faults { weather_rate_limits: 2, weather_retry_after: 3, geocoding_down: 1, ..Faults::none() };
    let tools = DemoTools::start(faults).await.unwrap();
    for _ in 0..2 {
        let (status, response) = call(&tools, "weather-tool", "get_weather", r#"{"lat":37.5,"lon":127}"#).await;
        assert_eq!(status, 429);
        assert_eq!(response.error().unwrap().details.get("retry_after"), Some(&Value::from(3)));
    }
    call_ok(&tools, "weather-tool", "get_weather", r#"{"lat":37.5,"lon":127}"#).await;
    insta::assert_snapshot!(call_err(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await, @r#"
    503 SERVICE_UNAVAILABLE retryable=Yes: the list of places cannot be reached
    "#);
    call_ok(&tools, "geocoding-tool", "geocode", r#"{"location":"Seoul"}"#).await;
}
