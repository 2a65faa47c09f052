//! What a configuration means. The only place where its defaults and limits live.

use reknit_engine::{IndependentSteps, Learning, People, Policy, Resolution, Synthesis, Undeclared};
use reknit_journal::Durability;
use reknit_protocol::{Effect, Value};
use reknit_tools::Address;

use super::count::Count;
use super::duration::millis;
use super::error::Problem;
use super::models::targets;
use super::rotation::{rests, rotation};
use super::{Config, FindModel, Lookup, raw};
use crate::CallLimits;

pub(super) fn understand(raw: &raw::Raw, environment: Lookup<'_>) -> Result<Config, Problem> {
    let mut policy = Policy::default();
    let call_limits = limits(&mut policy, &raw.limits)?;
    resend(&mut policy, &raw.resend)?;
    mending(&mut policy, &raw.mending)?;
    effects(&mut policy, &raw.effects)?;
    set(&mut policy.planning.retries, raw.plan.retries.map(|count| count.0));
    set(&mut policy.planning.choose_from, raw.plan.choose_from.map(|count| count.0));
    if let Some(word) = &raw.answer.by {
        policy.synthesis = choose(
            "answer.by",
            word,
            &[("model", Synthesis::Model), ("template", Synthesis::Template), ("raw", Synthesis::Raw)],
        )?;
    }
    if let Some(ask) = raw.people.ask {
        policy.people = if ask { People::Ask } else { People::Nobody };
    }
    let durability = match &raw.journal.durability {
        None => Durability::Full,
        Some(word) => {
            let words = [("full", Durability::Full), ("normal", Durability::Normal), ("off", Durability::Off)];
            choose("journal.durability", word, &words)?
        }
    };
    let (models, keys) = targets(&raw.models, environment)?;
    policy.rotation = rotation(&raw.rotation, &models)?;
    let rests = rests(&raw.breaker, policy.rotation.policy)?;
    Ok(Config {
        tools: tools(&raw.tools)?,
        models,
        keys,
        find_model: FindModel::Allowed,
        policy,
        call_limits,
        rests,
        journal: raw.journal.path.clone(),
        durability,
        prompts: raw.prompts.folder.clone(),
    })
}

fn tools(tools: &[raw::Tool]) -> Result<Vec<Address>, Problem> {
    let mut addresses: Vec<Address> = Vec::with_capacity(tools.len());
    for tool in tools {
        name("tools.name", &tool.name, addresses.iter().any(|known| known.name.as_str() == tool.name))?;
        let address = Address::parse(tool.name.as_str(), &tool.url).map_err(|_| {
            Problem::new("tools.url", &tool.url, "write an http or https address, like `http://127.0.0.1:8085`")
        })?;
        addresses.push(address);
    }
    Ok(addresses)
}

fn limits(policy: &mut Policy, raw: &raw::Limits) -> Result<CallLimits, Problem> {
    let limits = &mut policy.limits;
    set(&mut limits.tool_calls, raw.tool_calls.map(|count| count.0));
    set(&mut limits.model_calls, raw.model_calls.map(|count| count.0));
    set(&mut limits.calls_at_once, at_least_one("limits.calls-at-once", raw.calls_at_once)?);
    for (key, text, place) in [
        ("limits.active-time", &raw.active_time, &mut limits.active_ms),
        ("limits.call-time", &raw.call_time, &mut limits.call_ms),
        ("limits.person-time", &raw.person_time, &mut limits.person_ms),
    ] {
        set(place, text.as_ref().map(|text| positive_time(key, &text.0)).transpose()?);
    }
    // Nothing may be left to drain: that is a choice.
    let drain = raw.drain_time.as_ref().map(|text| time("limits.drain-time", &text.0)).transpose()?;
    set(&mut limits.drain_ms, drain);
    let mut calls = CallLimits::default();
    let places = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    set(&mut calls.in_all, at_least_one("limits.calls-in-all", raw.calls_in_all)?.map(places));
    set(&mut calls.per_tool, at_least_one("limits.calls-per-tool", raw.calls_per_tool)?.map(places));
    set(&mut calls.per_model, at_least_one("limits.calls-per-model", raw.calls_per_model)?.map(places));
    Ok(calls)
}

fn resend(policy: &mut Policy, raw: &raw::Resend) -> Result<(), Problem> {
    let resend = &mut policy.resend;
    set(&mut resend.times, raw.times.map(|count| count.0));
    for (key, text, place) in [
        ("resend.first-wait", &raw.first_wait, &mut resend.base_ms),
        ("resend.longest-wait", &raw.longest_wait, &mut resend.max_ms),
        ("resend.ceiling", &raw.ceiling, &mut resend.ceiling_ms),
    ] {
        set(place, text.as_ref().map(|text| time(key, &text.0)).transpose()?);
    }
    Ok(())
}

fn mending(policy: &mut Policy, raw: &raw::Mending) -> Result<(), Problem> {
    let mending = &mut policy.mending;
    set(&mut mending.facts, raw.facts.map(|count| count.0));
    set(&mut mending.feedback, raw.feedback.map(|count| count.0));
    set(&mut mending.context, raw.context.map(|count| count.0));
    set(&mut mending.context_statuses, raw.context_statuses.as_deref().map(statuses).transpose()?);
    set(&mut mending.resolution, raw.resolution.map(|on| if on { Resolution::Once } else { Resolution::Off }));
    set(&mut mending.learning, raw.learn.map(|on| if on { Learning::On } else { Learning::Off }));
    let independent = |on| if on { IndependentSteps::Mended } else { IndependentSteps::Left };
    set(&mut mending.independent_steps, raw.independent_steps.map(independent));
    Ok(())
}

/// Only what a tool refuses can be mended: another status here would be a setting that does nothing.
fn statuses(counts: &[Count]) -> Result<Vec<u16>, Problem> {
    let status = |count: &Count| match u16::try_from(count.0) {
        Ok(status @ 400..=599) => Ok(status),
        _ => Err(Problem::new("mending.context-statuses", &count.0.to_string(), "write statuses from 400 to 599")),
    };
    counts.iter().map(status).collect()
}

fn effects(policy: &mut Policy, raw: &raw::Effects) -> Result<(), Problem> {
    if let Some(word) = &raw.undeclared {
        let words = [("send-again", Undeclared::SendAgain), ("ask", Undeclared::Ask)];
        policy.effects.undeclared = choose("effects.undeclared", word, &words)?;
    }
    for (name, word) in &raw.classes {
        let key = format!("effects.classes.{name:?}");
        let wanted = "write `read`, `idempotent`, `keyed`, `undeclared` or `unsafe`";
        let class = Effect::from_value(&Value::from(word.as_str())).map_err(|_| Problem::new(&key, word, wanted))?;
        policy.effects.classes.insert(name.clone(), class);
    }
    Ok(())
}

pub(super) fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

pub(super) fn at_least_one(key: &str, value: Option<Count>) -> Result<Option<u32>, Problem> {
    match value {
        Some(Count(0)) => Err(Problem::new(key, "0", "nothing could ever begin; write 1 or more")),
        value => Ok(value.map(|count| count.0)),
    }
}

pub(super) fn time(key: &str, text: &str) -> Result<u64, Problem> {
    millis(text).ok_or_else(|| Problem::new(key, text, "write a time with its unit, like `500ms`, `30s` or `2 min`"))
}

pub(super) fn positive_time(key: &str, text: &str) -> Result<u64, Problem> {
    match time(key, text)? {
        0 => Err(Problem::new(key, text, "nothing is done in no time; write a longer one, like `30s`")),
        ms => Ok(ms),
    }
}

/// A name must be there, and only once.
pub(super) fn name(key: &str, name: &str, taken: bool) -> Result<(), Problem> {
    match name.trim() {
        "" => Err(Problem::new(key, name, "write a name")),
        _ if taken => Err(Problem::new(key, name, "another one has this name; write a different one")),
        _ => Ok(()),
    }
}

pub(super) fn choose<T: Copy>(key: &str, word: &str, words: &[(&str, T)]) -> Result<T, Problem> {
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
        Problem::new(key, word, format!("write one of {}", known.join(", ")))
    })
}
