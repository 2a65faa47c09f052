//! What a configuration means. The only place where its defaults and limits live.

use std::time::Duration;

use reknit_dialogue::OnAuthError;
use reknit_engine::{IndependentSteps, People, Policy, Resolution, Synthesis, Undeclared};
use reknit_journal::Durability;
use reknit_models::{FormatSupport, Streaming, Target};
use reknit_protocol::{Effect, Value};
use reknit_tools::Address;

use super::duration::millis;
use super::error::Problem;
use super::{Config, Lookup, raw};
use crate::CallLimits;

pub(super) fn understand(raw: raw::Raw, environment: Lookup<'_>) -> Result<Config, Problem> {
    let mut policy = Policy::default();
    let call_limits = limits(&mut policy, &raw.limits)?;
    resend(&mut policy, &raw.resend)?;
    mending(&mut policy, &raw);
    rotation(&mut policy, &raw.rotation)?;
    effects(&mut policy, &raw.effects)?;
    set(&mut policy.plan_retries, raw.plan.retries);
    if let Some(word) = &raw.answer.by {
        policy.synthesis =
            choose("answer.by", word, &[("model", Synthesis::Model), ("template", Synthesis::Template)])?;
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
    Ok(Config {
        tools: raw.tools.iter().map(tool).collect::<Result<_, _>>()?,
        models: raw.models.into_iter().map(|model| target(model, environment)).collect::<Result<_, _>>()?,
        policy,
        call_limits,
        journal: raw.journal.path,
        durability,
    })
}

fn tool(tool: &raw::Tool) -> Result<Address, Problem> {
    let key = format!("tools.url (of `{}`)", tool.name);
    Address::parse(tool.name.as_str(), &tool.url).map_err(|error| Problem::new(&key, &tool.url, error.to_string()))
}

fn target(model: raw::Model, environment: Lookup<'_>) -> Result<Target, Problem> {
    let mut target = Target::new(model.name.as_str(), &model.url, &model.model);
    if let Some(variable) = &model.key_env {
        let wanted = format!("the environment has no variable of that name; set it: `export {variable}=...`");
        let key = environment(variable).ok_or_else(|| Problem::new("models.key-env", variable, wanted))?;
        target.key = Some(key.into());
    }
    if let Some(streaming) = model.streaming {
        target.streaming = if streaming { Streaming::On } else { Streaming::Off };
    }
    if let Some(word) = &model.format {
        let words = [("schema", FormatSupport::Schema), ("json", FormatSupport::Json), ("text", FormatSupport::Text)];
        target.format = choose("models.format", word, &words)?;
    }
    if let Some(text) = &model.total_time {
        target.limits.total = Duration::from_millis(time("models.total-time", text)?);
        target.limits.first_byte = target.limits.first_byte.max(target.limits.total);
        target.limits.first_token = target.limits.first_token.max(target.limits.total);
    }
    Ok(target)
}

fn limits(policy: &mut Policy, raw: &raw::Limits) -> Result<CallLimits, Problem> {
    let limits = &mut policy.limits;
    set(&mut limits.tool_calls, raw.tool_calls);
    set(&mut limits.model_calls, raw.model_calls);
    set(&mut limits.calls_at_once, at_least_one("limits.calls-at-once", raw.calls_at_once)?);
    for (key, text, place) in [
        ("limits.active-time", &raw.active_time, &mut limits.active_ms),
        ("limits.call-time", &raw.call_time, &mut limits.call_ms),
        ("limits.drain-time", &raw.drain_time, &mut limits.drain_ms),
        ("limits.person-time", &raw.person_time, &mut limits.person_ms),
    ] {
        set(place, text.as_ref().map(|text| time(key, text)).transpose()?);
    }
    let mut calls = CallLimits::default();
    set(&mut calls.in_all, at_least_one("limits.calls-in-all", raw.calls_in_all)?);
    set(&mut calls.per_tool, at_least_one("limits.calls-per-tool", raw.calls_per_tool)?);
    Ok(calls)
}

fn resend(policy: &mut Policy, raw: &raw::Resend) -> Result<(), Problem> {
    let resend = &mut policy.resend;
    set(&mut resend.times, raw.times);
    for (key, text, place) in [
        ("resend.first-wait", &raw.first_wait, &mut resend.base_ms),
        ("resend.longest-wait", &raw.longest_wait, &mut resend.max_ms),
        ("resend.ceiling", &raw.ceiling, &mut resend.ceiling_ms),
    ] {
        set(place, text.as_ref().map(|text| time(key, text)).transpose()?);
    }
    Ok(())
}

fn mending(policy: &mut Policy, raw: &raw::Raw) {
    let (mending, raw) = (&mut policy.mending, &raw.mending);
    set(&mut mending.feedback, raw.feedback);
    set(&mut mending.context, raw.context);
    set(&mut mending.context_statuses, raw.context_statuses.clone());
    set(&mut mending.resolution, raw.resolution.map(|on| if on { Resolution::Once } else { Resolution::Off }));
    let independent = |on| if on { IndependentSteps::Mended } else { IndependentSteps::Left };
    set(&mut mending.independent_steps, raw.independent_steps.map(independent));
}

fn rotation(policy: &mut Policy, raw: &raw::Rotation) -> Result<(), Problem> {
    set(&mut policy.rotation.attempts, at_least_one("rotation.attempts", raw.attempts)?);
    if let Some(word) = &raw.on_auth_error {
        let words = [("end", OnAuthError::End), ("skip", OnAuthError::Skip)];
        policy.rotation.on_auth_error = choose("rotation.on-auth-error", word, &words)?;
    }
    Ok(())
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

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn at_least_one<T: Copy + PartialEq + From<u8> + ToString>(key: &str, value: Option<T>) -> Result<Option<T>, Problem> {
    match value {
        Some(value) if value == T::from(0) => Err(Problem::new(key, "0", "nothing could ever begin; write 1 or more")),
        value => Ok(value),
    }
}

fn time(key: &str, text: &str) -> Result<u64, Problem> {
    millis(text).ok_or_else(|| Problem::new(key, text, "write a time with its unit, like `500ms`, `30s` or `2 min`"))
}

fn choose<T: Copy>(key: &str, word: &str, words: &[(&str, T)]) -> Result<T, Problem> {
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
        Problem::new(key, word, format!("write one of {}", known.join(", ")))
    })
}
