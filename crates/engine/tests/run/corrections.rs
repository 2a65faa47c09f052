//! Which corrections are sent, and which a person decides: by class, by what the error refers to, and by evidence.

use std::sync::Arc;

use reknit_engine::{Policy, Question};
use reknit_mend::PeoplePolicy;
use reknit_plan::CatalogueEntry;
use reknit_protocol::Capability;

use crate::world::{Play, catalogue, json, plan, policy, question, started, step};

/// A rejected call that a model corrects.
pub(crate) fn corrected(policy: Policy, capability: &str, parameters: &str, error: &str, changes: &str) -> Play {
    let mut play = Play::begin(started(Some(plan(vec![step("s", capability, parameters)])), policy));
    play.answer_tool("s/call/1", 400, &format!(r#"{{"error": "{error}"}}"#));
    play.answer_model("s/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {changes}}}"#));
    play
}

#[test]
fn a_correction_by_a_model_is_sent_or_proposed_by_class_reference_and_evidence() {
    let city = r#"{"city": "Tokio", "days": 5}"#;
    let payment = r#"{"amount": 5, "to": "maria"}"#;
    for (capability, parameters, error, changes, is_sent) in [
        // An error about one parameter does not allow a change of another one.
        ("read", payment, "amount is wrong", r#"{"to": "eve"}"#, true),
        ("idempotent", payment, "amount is wrong", r#"{"to": "eve"}"#, false),
        ("keyed", payment, "amount is wrong", r#"{"to": "eve"}"#, false),
        ("undeclared", payment, "amount is wrong", r#"{"to": "eve"}"#, false),
        ("keyed", payment, "amount is wrong", r#"{"amount": 100, "to": "eve"}"#, false),
        // The request says 100.
        ("keyed", payment, "amount is wrong", r#"{"amount": 100}"#, true),
        ("keyed", payment, "it did not work", r#"{"amount": 100}"#, true),
        ("undeclared", payment, "amount is wrong", r#"{"amount": 100}"#, true),
        ("keyed", payment, "amount is wrong", r#"{"amount": 10000}"#, false),
        ("undeclared", payment, "amount is wrong", r#"{"amount": 7}"#, false),
        // The same value in another type is no change.
        ("keyed", payment, "to is wrong", r#"{"amount": "5", "to": "Maria"}"#, true),
        // A text of a model.
        ("undeclared", city, "unknown city 'Tokio'", r#"{"city": "Tokyo"}"#, true),
        ("undeclared", city, "it did not work", r#"{"city": "Tokyo"}"#, true),
        ("keyed", city, "unknown city 'Tokio'", r#"{"city": "Tokyo"}"#, false),
        // An error text is no evidence for whom a call is about.
        ("keyed", city, "unknown city 'Tokio', try Tokyo", r#"{"city": "Tokyo"}"#, false),
        // A part of a word is no evidence.
        ("keyed", city, "unknown city 'Tokio', try Tokyo_3 or Tokyoto", r#"{"city": "Tokyo"}"#, false),
        ("undeclared", r#"{"amount": 5, "to": "Euro"}"#, "'Euro' is unknown", r#"{"to": "EUR"}"#, true),
        ("undeclared", payment, "'maria' is unknown", r#"{"to": "mario"}"#, false),
        ("undeclared", r#"{"account": "a"}"#, "account is wrong", r#"{"account": "b"}"#, false),
    ] {
        let play = corrected(policy(), capability, parameters, error, changes);
        let due = if is_sent { "s/call/2" } else { "s/approval/1" };
        let found = play.due();
        // A number without evidence is asked for once more first.
        let is_asked_again = !is_sent && found == ["s/context/1"];
        assert!(is_asked_again || found[0] == due, "{capability} {error} {changes}: {found:?}");
    }
}

#[test]
fn a_proposal_says_why_a_person_decides_and_is_refused_if_there_is_none() {
    let (payment, changes) = (r#"{"amount": 5, "to": "maria"}"#, r#"{"to": "eve"}"#);
    let play = corrected(policy(), "keyed", payment, "amount is wrong", changes);
    let Question::SendCorrected { change, reason, .. } = question(&play).question else { panic!("it was corrected") };
    assert_eq!(change, r#"to: "maria" -> "eve""#);
    assert_eq!(reason, "`to` is not changed without approval: the error refers to other parameters");
    let nobody = Policy { people: PeoplePolicy::Nobody, ..policy() };
    let play = corrected(nobody, "keyed", payment, "amount is wrong", changes);
    assert_eq!(play.due(), ["s/context/1"]);
    let steps = play.run.steps();
    let refusal = &steps[0].mends.last().expect("the refusal is recorded").description;
    assert!(refusal.contains("no person can be asked for approval"), "{refusal}");
}

#[test]
fn a_rule_takes_a_value_from_an_error_for_reads_and_for_undeclared_tools_of_the_protocol() {
    for (capability, due) in [
        ("read", "s/call/2"),
        ("idempotent", "s/approval/1"),
        ("keyed", "s/approval/1"),
        ("undeclared", "s/call/2"),
        ("unsafe", "s/approval/1"),
    ] {
        let mut play = Play::of_steps(vec![step("s", capability, r#"{"to": "Euro"}"#)]);
        play.answer_tool("s/call/1", 400, r#"{"error": "to must be one of 'EUR', 'USD'"}"#);
        assert_eq!(play.due()[0], due, "{capability}");
        assert_eq!(play.run.spent().model_calls, 0, "{capability}");
    }
}

#[test]
fn another_sum_is_proposed_to_a_person_and_never_sent_by_itself() {
    let body = r#"{"error": "the payments add up to 100, and the order costs 120"}"#;
    for (capability, due) in [
        ("read", "s/feedback/1"),
        ("idempotent", "s/approval/1"),
        ("keyed", "s/approval/1"),
        ("undeclared", "s/approval/1"),
        ("unsafe", "s/approval/1"),
    ] {
        let mut play = Play::of_steps(vec![step("s", capability, r#"{"payments": [{"amount": 100}]}"#)]);
        play.answer_tool("s/call/1", 400, body);
        assert_eq!(play.due()[0], due, "{capability}");
    }
}

#[test]
fn a_parameter_is_left_out_by_a_person_if_there_is_no_model() {
    let mut alone = started(Some(plan(vec![step("s", "keyed", r#"{"amount": 5, "dry_run": true}"#)])), policy());
    alone.targets.clear();
    let mut play = Play::begin(alone);
    play.answer_tool("s/call/1", 400, r#"{"error": "unknown field `dry_run`, expected `amount`"}"#);
    let Question::SendCorrected { call, .. } = question(&play).question else { panic!("it was corrected") };
    assert_eq!(call.parameters.to_string(), r#"{"amount":5}"#);
}

#[test]
fn a_null_the_word_no_or_the_value_of_another_parameter_is_no_evidence() {
    for changes in [r#"{"amount": 0}"#, r#"{"amount": null}"#, r#"{"amount": 77}"#] {
        let payment = r#"{"amount": 5, "reference": 77}"#;
        let play = corrected(policy(), "keyed", payment, "no such amount", changes);
        assert!(!play.due().iter().any(|id| id == "s/call/2"), "{changes}: {:?}", play.due());
    }
}

/// A rejected call of step `s` after step `a`, which announces `price`, and a model's correction of `x`.
fn corrected_to(value: &str) -> Play {
    let mut catalogue = crate::world::catalogue();
    for entry in &mut catalogue.tools[0].capabilities {
        if entry.capability.name.as_str() == "read" {
            let capability = crate::world::json(
                r#"{"name": "read", "effect": "read", "output_summary": {"required": [{"name": "price", "type": "number"}]}}"#,
            );
            let capability = Capability::from_value(&capability).expect("a capability");
            *entry = reknit_plan::CatalogueEntry::new(capability, None).expect("a valid entry");
        }
    }
    let steps =
        vec![step("a", "read", "{}"), step("s", "undeclared", r#"{"x": "?", "y": "{{\"a.price\"}}"}"#).after("a")];
    let mut started = started(Some(plan(steps)), policy());
    started.catalogue = std::sync::Arc::new(catalogue);
    let mut play = Play::begin(started);
    play.answer_tool("a/call/1", 200, r#"{"price": 468.285}"#);
    play.answer_tool("s/call/1", 422, r#"{"message": "x is wrong"}"#);
    let advice = format!(r#"{{"should_retry": true, "reason": "the price", "suggested_changes": {{"x": {value}}}}}"#);
    play.answer_model("s/feedback/1", &advice);
    play
}

#[test]
fn a_reference_without_braces_in_a_correction_is_read_as_a_reference_and_recorded() {
    for value in [r#""$a.price""#, r#""{{a.price}}""#, r#""a.price""#, r#""${a.price}""#] {
        let play = corrected_to(value);
        let sent = play.call("s/call/2").parameters;
        assert_eq!(sent.get("x").map(ToString::to_string).as_deref(), Some("468.285"), "{value}");
        assert_eq!(sent.get("y").map(ToString::to_string).as_deref(), Some("\"a.price\""), "the plan is not changed");
        let words = play.run.steps()[1].mends.last().expect("a mend").description.clone();
        let is_recorded = words.contains("read as `{{a.price}}`");
        assert_eq!(is_recorded, !value.contains("{{"), "{value}: {words}");
    }
}

#[test]
fn a_correction_with_a_text_that_may_be_a_reference_is_refused() {
    for value in [r#""$a.cost""#, r#""a.price of $a.cost""#, r#"{"deep": ["$b.price"]}"#] {
        let play = corrected_to(value);
        assert!(!play.due().iter().any(|due| due.contains("call/2")), "{value}: {:?}", play.due());
        let words = play.run.steps()[1].mends.last().expect("a mend").description.clone();
        assert!(words.contains("would be sent as text"), "{value}: {words}");
    }
}

#[test]
fn another_spelling_of_a_number_is_a_correction_only_after_a_type_error() {
    let respelled = |error: &str| {
        let mut play = Play::of_steps(vec![step("s", "undeclared", r#"{"n": 5.0}"#)]);
        play.answer_tool("s/call/1", 400, &format!(r#"{{"error": "{error}"}}"#));
        if play.due() == ["s/feedback/1"] {
            play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"n": 5}}"#);
        }
        play
    };
    let play = respelled("json: cannot unmarshal number 5.0 into Go struct field Req.n of type int");
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"n":5}"#);
    let mend = play.run.steps()[0].mends.last().map(|mend| mend.description.clone());
    assert!(mend.is_some_and(|words| words.starts_with("n: 5.0 -> 5")), "the respelling is recorded");
    let mut play = respelled("type mismatch somewhere");
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"n":5}"#);
    // The first spelling was refused before.
    play.answer_tool("s/call/2", 400, r#"{"error": "type mismatch somewhere"}"#);
    play.answer_model(&play.due()[0].clone(), r#"{"should_retry": true, "suggested_changes": {"n": 5.0}}"#);
    assert!(play.due().iter().all(|due| !due.contains("call")), "{:?}", play.due());
    let play = respelled("it did not work");
    assert_eq!(play.due(), ["s/context/1"]);
}

#[test]
fn an_integer_is_sent_without_a_fraction() {
    let play = Play::of_steps(vec![step("s", "count", r#"{"n": 5.0}"#)]);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"n":5}"#);
    assert_eq!(play.run.steps()[0].mends[0].description, "$.n: 5.0 -> 5");
}

#[test]
fn a_factor_that_nothing_states_is_no_evidence_in_a_calculation() {
    let corrected = |request: &str, expression: &str| {
        let steps = vec![step("a", "read", "{}"), step("s", "undeclared", r#"{"amount": 0}"#).after("a")];
        let mut begun = started(Some(plan(steps)), policy());
        request.clone_into(&mut begun.request);
        let mut play = Play::begin(begun);
        play.answer_tool("a/call/1", 200, r#"{"price": 50}"#);
        play.answer_tool("s/call/1", 422, r#"{"message": "amount must be positive"}"#);
        let advice = format!(
            r#"{{"should_retry": true, "reason": "r", "suggested_changes": {{"amount": "{{{{{expression}}}}}"}}}}"#
        );
        play.answer_model("s/feedback/1", &advice);
        if let Some(again) =
            play.due().first().filter(|due| due.contains("feedback") || due.contains("context")).cloned()
        {
            play.answer_model(&again, &advice.replace("suggested_changes", "corrected_parameters"));
        }
        play.due().first().cloned().unwrap_or_default()
    };
    for (request, expression, due) in [
        ("sell 100 shares", "100 * a.price", "s/call/2"),
        ("sell 100 shares", "9999 * a.price", "s/approval/1"),
        ("pay the price and a tip of 20 %", "a.price * 1.2", "s/call/2"),
        ("pay the price and a tip of 20 %", "a.price * 20 / 100", "s/call/2"),
        ("pay the price and a tip of 20 %", "a.price * 2.2", "s/approval/1"),
        ("pay the price", "a.price", "s/call/2"),
    ] {
        assert_eq!(corrected(request, expression), due, "{request}: {expression}");
    }
}

#[test]
fn an_error_about_one_place_of_an_object_allows_no_change_of_the_others() {
    let corrected = |changes: &str| {
        let steps = vec![step("s", "keyed", r#"{"payment": {"amount": 5, "to": {"iban": "DE1"}}}"#)];
        let mut begun = started(Some(plan(steps)), policy());
        "pay 5 or 500 to DE2".clone_into(&mut begun.request);
        let mut play = Play::begin(begun);
        let error =
            r#"{"detail": [{"loc": ["body", "payment", "to", "iban"], "msg": "not valid", "type": "value_error"}]}"#;
        play.answer_tool("s/call/1", 422, error);
        let advice = format!(r#"{{"should_retry": true, "reason": "r", "suggested_changes": {changes}}}"#);
        play.answer_model("s/feedback/1", &advice);
        play.due().first().cloned().unwrap_or_default()
    };
    assert_eq!(corrected(r#"{"payment": {"amount": 5, "to": {"iban": "DE2"}}}"#), "s/call/2");
    assert_eq!(corrected(r#"{"payment": {"amount": 500, "to": {"iban": "DE2"}}}"#), "s/approval/1");
}

#[test]
fn an_error_in_the_shape_that_the_tool_declares_is_mended_without_a_model() {
    for (declared, due) in
        [(r#", "error_fields": {"parameter": "stelle", "message": "hinweis"}"#, "s/call/2"), ("", "s/feedback/1")]
    {
        let capability = json(&format!(r#"{{"name": "measure", "effect": "read"{declared}}}"#));
        let capability = Capability::from_value(&capability).expect("a capability");
        let mut catalogue = catalogue();
        catalogue.tools[0].capabilities.push(CatalogueEntry::new(capability, None).expect("a valid entry"));
        let mut started = started(Some(plan(vec![step("s", "measure", r#"{"to": "Euro"}"#)])), policy());
        started.catalogue = Arc::new(catalogue);
        let mut play = Play::begin(started);
        let body = r#"{"fehler": [{"stelle": "to", "hinweis": "must be one of 'EUR', 'USD'"}]}"#;
        play.answer_tool("s/call/1", 422, body);
        assert_eq!(play.due()[0], due, "declared: {declared}");
    }
}
