//! Who is asked next, and who is given a rest.

use std::collections::BTreeMap;

use reknit_dialogue::{GateRules, OnAuthError, Policy, Rules, TargetName};
use reknit_models::Target;

use super::duration::Time;
use super::error::Problem;
use super::raw;
use super::sections::{at_least_one, choose, positive_time, set, time};
use crate::Rests;

/// How models are taken in turn. Which policy it is decides what the other defaults are.
pub(super) fn rotation(raw: &raw::Rotation, models: &[Target]) -> Result<Rules, Problem> {
    let policy = match &raw.policy {
        None => Policy::Advance,
        Some(word) => {
            let words = [("advance", Policy::Advance), ("prefer-primary", Policy::PreferPrimary)];
            choose("rotation.policy", word, &words)?
        }
    };
    let mut rules = match policy {
        Policy::Advance => Rules::default(),
        Policy::PreferPrimary => Rules::prefer_primary(),
    };
    set(&mut rules.attempts, at_least_one("rotation.attempts", raw.attempts)?);
    if let Some(word) = &raw.on_auth_error {
        let words = [("end", OnAuthError::End), ("skip", OnAuthError::Skip)];
        rules.on_auth_error = choose("rotation.on-auth-error", word, &words)?;
    }
    let read = |key: &str, text: &Option<Time>| text.as_ref().map(|text| time(key, &text.0)).transpose();
    set(&mut rules.short_wait_ms, read("rotation.short-wait", &raw.short_wait)?);
    set(&mut rules.max_wait_ms, read("rotation.longest-wait", &raw.longest_wait)?);
    rules.windows = windows(models);
    Ok(rules)
}

/// How much each model can read, where that is known.
pub(super) fn windows(models: &[Target]) -> BTreeMap<TargetName, u32> {
    models.iter().filter_map(|target| Some((target.name.clone(), target.max_context?))).collect()
}

/// When services and models rest. Models that can stand in for each other rest sooner.
pub(super) fn rests(raw: &raw::Breaker, policy: Policy) -> Result<Rests, Problem> {
    let models = match policy {
        Policy::Advance => GateRules::model_in_turn(),
        Policy::PreferPrimary => GateRules::model(),
    };
    Ok(Rests { tools: gate(GateRules::service(), raw)?, models: gate(models, raw)? })
}

fn gate(mut rules: GateRules, raw: &raw::Breaker) -> Result<GateRules, Problem> {
    set(&mut rules.calls, at_least_one("breaker.calls", raw.calls)?);
    match raw.percent.map(|count| count.0) {
        None => {}
        Some(percent @ 1..=100) => rules.percent = percent,
        Some(percent) => {
            let wanted = "write how many of a hundred calls must fail, from 1 to 100";
            return Err(Problem::new("breaker.percent", &percent.to_string(), wanted));
        }
    }
    for (key, text, place) in [
        ("breaker.window", &raw.window, &mut rules.window_ms),
        ("breaker.rest", &raw.rest, &mut rules.rest_ms),
        ("breaker.first-rest", &raw.first_rest, &mut rules.first_rest_ms),
    ] {
        set(place, text.as_ref().map(|text| positive_time(key, &text.0)).transpose()?);
    }
    // None at all is a choice: then only those are waited for who say so themselves.
    let cool_down =
        raw.longest_cool_down.as_ref().map(|text| time("breaker.longest-cool-down", &text.0)).transpose()?;
    set(&mut rules.longest_cool_down_ms, cool_down);
    Ok(rules)
}
