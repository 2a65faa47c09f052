//! What becomes a rule.

use crate::*;
use reknit_mend::ValueOrigin;

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn a_correction_becomes_a_rule_over_the_call_the_error_the_results_and_the_request() {
    for (case, call, corrected, expected) in [
        (
            "another name",
            failed(r#"{"quantity": 25}"#, "unknown field `quantity`", "{}"),
            r#"{"shares": 25}"#,
            Some("shares = parameters.quantity, without quantity"),
        ),
        (
            "spaces and letter case",
            failed(r#"{"to": " eur "}"#, "`to` is not a code", "{}"),
            r#"{"to": "EUR"}"#,
            Some("to = upper(trim(parameters.to))"),
        ),
        (
            "a number with separators in a text",
            failed(r#"{"amount": "1,234.50"}"#, "`amount` must be a number", "{}"),
            r#"{"amount": 1234.50}"#,
            Some(r#"amount = to_number(replace(parameters.amount, ",", ""))"#),
        ),
        (
            "a date",
            failed(r#"{"day": "31/01/2026"}"#, "`day` must be written differently", "{}"),
            r#"{"day": "2026-01-31"}"#,
            Some(
                r#"day = join([split(trim(parameters.day), "/")[2], split(trim(parameters.day), "/")[1], split(trim(parameters.day), "/")[0]], "-")"#,
            ),
        ),
        (
            "a unit that the error names",
            failed(r#"{"amount": 12.5}"#, "`amount` must be in cents", "{}"),
            r#"{"amount": 1250}"#,
            Some("amount = parameters.amount * 100"),
        ),
        (
            "a value that the error states",
            failed(r#"{"version": 3}"#, "`version` is stale", r#"{"head": 71}"#),
            r#"{"version": 71}"#,
            Some("version = error.details.head"),
        ),
        (
            "one of the values that the error lists",
            failed(r#"{"from": "Yen"}"#, "`from` is not known", r#"{"known": ["EUR", "JPY"]}"#),
            r#"{"from": "JPY"}"#,
            Some(r#"from = parameters.from by Yen -> "JPY""#),
        ),
        (
            "one of the values that the schema lists",
            failed(r#"{"units": "celsius"}"#, "`units` is wrong", "{}")
                .with_schema(r#"{"properties": {"units": {"enum": ["metric", "imperial"]}}}"#),
            r#"{"units": "metric"}"#,
            Some(r#"units = parameters.units by celsius -> "metric""#),
        ),
        (
            "a field of a result",
            failed(r#"{"symbol": "SNE"}"#, "`symbol` is unknown", "{}").after(
                "s1",
                "stocks/quote",
                r#"{"data": {"symbol": "SONY", "name": "Sony"}}"#,
            ),
            r#"{"symbol": "SONY"}"#,
            Some("symbol = quote.data.symbol"),
        ),
        (
            "the only number in the request",
            failed(r#"{"amount": 0}"#, "`amount` must be positive", "{}").requested("convert 1500.5 dollars"),
            r#"{"amount": 1500.5}"#,
            Some("amount = request.number"),
        ),
        (
            "one of two numbers in the request",
            failed(r#"{"amount": 0}"#, "`amount` must be positive", "{}").requested("convert 1500.5 dollars in 3 days"),
            r#"{"amount": 1500.5}"#,
            None,
        ),
        (
            "a value that only the model knows",
            failed(r#"{"symbol": "SNE"}"#, "`symbol` is unknown", "{}"),
            r#"{"symbol": "SONY"}"#,
            None,
        ),
        (
            "the example of an error",
            failed(r#"{"amount": 0}"#, "`amount` must be positive", r#"{"example": 1500.5}"#),
            r#"{"amount": 1500.5}"#,
            None,
        ),
        (
            "a factor without a unit",
            failed(r#"{"amount": 12.5}"#, "`amount` is wrong", "{}"),
            r#"{"amount": 1250}"#,
            None,
        ),
        (
            "what the error repeats of the call",
            failed(r#"{"from": "DEM", "to": "EUR"}"#, "no rate `from` DEM to EUR", "{}"),
            r#"{"from": "EUR", "to": "EUR"}"#,
            None,
        ),
    ] {
        let learned = changes(&[call.corrected("r1/s", corrected)]);
        assert_eq!(learned.first().map(String::as_str), expected, "{case}: {learned:?}");
    }
}

#[test]
fn a_calculation_of_the_model_holds_for_other_steps_and_other_numbers() {
    let call = failed(r#"{"amount": 0}"#, "`amount` must be positive", "{}").requested("sell 100 shares").after(
        "step-1",
        "stocks/quote",
        r#"{"price": 468.285}"#,
    );
    let expression = "100 * step-1.price".to_owned();
    let origins = vec![ValueOrigin { parameter: "amount".to_owned(), expression }];
    let lesson = Lesson { origins, ..call.corrected("r1/s", r#"{"amount": 46828.5}"#) };
    let rules = propose_rules(&[lesson]);
    assert_eq!(rules.iter().map(change).collect::<Vec<_>>(), ["amount = request.number * quote.price"]);

    let other = failed(r#"{"amount": 0}"#, "`amount` must be positive", "{}").requested("sell 7 shares").after(
        "first",
        "stocks/quote",
        r#"{"price": 2}"#,
    );
    assert_eq!(rules[0].apply(&other).map(|fix| fix.parameters), Some(object(r#"{"amount": 14}"#)));
}

#[test]
fn maps_of_the_same_kind_become_one_rule_and_entries_that_contradict_each_other_none() {
    let lesson = |place: &str, from: &str, to: &str| {
        let parameters = format!(r#"{{"from": "{from}"}}"#);
        let call = failed(&parameters, "`from` is not known", r#"{"known": ["EUR", "JPY", "KRW", "USD"]}"#);
        call.corrected(place, &format!(r#"{{"from": "{to}"}}"#))
    };
    let both = [lesson("r1/s", "Yen", "JPY"), lesson("r2/s", "Won", "KRW")];
    assert_eq!(changes(&both), [r#"from = parameters.from by Yen -> "JPY", Won -> "KRW""#]);
    let contradicted = [&both[..], &[lesson("r3/s", "Yen", "USD")]].concat();
    assert_eq!(changes(&contradicted), [r#"from = parameters.from by Won -> "KRW""#]);
}

#[test]
fn the_rule_that_explains_all_corrections_is_proposed_and_not_the_likelier_one_that_would_have_harmed() {
    let lesson = |place: &str, from: &str, to: &str| {
        let parameters = format!(r#"{{"from": "{from}"}}"#);
        let call = failed(&parameters, "`from` is not known", r#"{"known": ["EUR", "JPY", "USD"]}"#);
        let call = call.after("s1", "stocks/quote", r#"{"currency": "USD"}"#);
        call.corrected(place, &format!(r#"{{"from": "{to}"}}"#))
    };
    let lessons = [lesson("r1/s", "Dollar", "USD"), lesson("r2/s", "Yen", "JPY"), lesson("r3/s", "Yen", "JPY")];
    let rules = propose_rules(&lessons);
    assert_eq!(
        rules.iter().map(change).collect::<Vec<_>>(),
        [r#"from = parameters.from by Dollar -> "USD", Yen -> "JPY""#]
    );
    assert_eq!(rules[0].evidence.helps, ["r1/s", "r2/s", "r3/s"]);
    assert_eq!((rules[0].evidence.harms.len(), rules[0].evidence.model_calls), (0, 3));
}

#[test]
fn the_parts_of_a_message_that_vary_are_not_part_of_the_pattern() {
    for (message, expected) in [
        ("there is no rate from `Pounds` to `EUR`", "there is no rate from * to *"),
        ("missing field `from`", "missing field `from`"),
        ("order 4711 of ann@example.org was not found", "order * of * was not found"),
        ("Pounds is no currency, don't use it", "* is no currency, don't use it"),
    ] {
        let lesson =
            failed(r#"{"from": "Pounds"}"#, message, r#"{"known": ["GBP"]}"#).corrected("r1/s", r#"{"from": "GBP"}"#);
        let rules = propose_rules(&[lesson]);
        assert_eq!(rules.first().map(|rule| rule.error.message.as_str()), Some(expected));
    }
}

#[test]
fn only_corrections_by_models_suggest_rules() {
    let call = failed(r#"{"to": "eur"}"#, "`to` is not a code", "{}");
    let lesson = Lesson { rung: Rung::Facts, ..call.corrected("r1/s", r#"{"to": "EUR"}"#) };
    assert_eq!(changes(&[lesson]), Vec::<String>::new());
}
