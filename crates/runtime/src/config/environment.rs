//! Variables of the environment. One list names them all.

use reknit_engine::{IndependentSteps, Mending, Policy};

use super::{ConfigError, FindModel, Lookup};

/// What stands in front of a variable, and what may stand there instead, so that what was set for other orchestrators of
/// the same protocol keeps working.
const PREFIXES: [&str; 2] = ["REKNIT_", "GOMIND_"];

/// A variable of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name, without the `REKNIT_` in front.
    pub name: &'static str,
    /// What it sets.
    pub meaning: &'static str,
}

/// Every variable that is read. Those that set a rule also count with `GOMIND_` in front.
pub const VARIABLES: [Variable; 11] = [
    Variable { name: "CONFIG", meaning: "the configuration file" },
    Variable { name: "JOURNAL", meaning: "the journal file" },
    Variable { name: "AGENT_MAX_RETRIES", meaning: "how often a failed call is sent again unchanged" },
    Variable { name: "AGENT_RETRY_BACKOFF_MS", meaning: "the first wait before that, in milliseconds" },
    Variable { name: "AGENT_USE_AI_CORRECTION", meaning: "whether models may correct a refused call" },
    Variable { name: "PLAN_RETRY_ENABLED", meaning: "whether a plan that cannot be used is asked for again" },
    Variable { name: "PLAN_RETRY_MAX", meaning: "how often" },
    Variable {
        name: "SEMANTIC_RETRY_ENABLED",
        meaning: "whether a model may see all that is known about a refused call",
    },
    Variable { name: "SEMANTIC_RETRY_MAX_ATTEMPTS", meaning: "how often" },
    Variable { name: "SEMANTIC_RETRY_INDEPENDENT_STEPS", meaning: "whether also for steps that need no other" },
    Variable { name: "FIND_MODEL", meaning: "whether a model is looked for when none is named" },
];

/// Whether a model may be looked for.
pub(super) fn find_model(environment: Lookup<'_>) -> Result<FindModel, ConfigError> {
    let allowed = Environment(environment).flag("FIND_MODEL")?.unwrap_or(true);
    Ok(if allowed { FindModel::Allowed } else { FindModel::Off })
}

/// Lets the environment have its way with the rules.
pub(super) fn apply(policy: &mut Policy, environment: Lookup<'_>) -> Result<(), ConfigError> {
    let environment = Environment(environment);
    if let Some(times) = environment.count("AGENT_MAX_RETRIES")? {
        policy.resend.times = times;
    }
    if let Some(ms) = environment.count("AGENT_RETRY_BACKOFF_MS")? {
        policy.resend.base_ms = u64::from(ms);
    }
    let usual = Policy::default().planning.retries;
    environment.switched(("PLAN_RETRY_ENABLED", "PLAN_RETRY_MAX"), usual, &mut policy.planning.retries)?;
    let usual = Mending::default().context;
    let names = ("SEMANTIC_RETRY_ENABLED", "SEMANTIC_RETRY_MAX_ATTEMPTS");
    environment.switched(names, usual, &mut policy.mending.context)?;
    match environment.flag("SEMANTIC_RETRY_INDEPENDENT_STEPS")? {
        Some(true) => policy.mending.independent_steps = IndependentSteps::Mended,
        Some(false) => policy.mending.independent_steps = IndependentSteps::Left,
        None => {}
    }
    if environment.flag("AGENT_USE_AI_CORRECTION")? == Some(false) {
        policy.mending.feedback = 0;
        policy.mending.context = 0;
    }
    Ok(())
}

struct Environment<'a>(Lookup<'a>);

impl Environment<'_> {
    /// The variable under the first of its names that is set, and which that is. Empty counts as not set.
    fn find(&self, name: &str) -> Option<(String, String)> {
        PREFIXES.into_iter().find_map(|prefix| {
            let variable = format!("{prefix}{name}");
            let value = (self.0)(&variable).filter(|value| !value.is_empty())?;
            Some((variable, value))
        })
    }

    /// A count with a switch: off is none, on is at least the usual number unless a count says otherwise.
    fn switched(&self, names: (&str, &str), usual: u32, place: &mut u32) -> Result<(), ConfigError> {
        let (switch, count) = names;
        match (self.flag(switch)?, self.count(count)?) {
            (Some(false), _) => *place = 0,
            (_, Some(count)) => *place = count,
            (Some(true), None) if *place == 0 => *place = usual,
            (Some(true) | None, None) => {}
        }
        Ok(())
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        let Some((variable, value)) = self.find(name) else { return Ok(None) };
        match value.to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(ConfigError::Variable { variable, value, wanted: "write `true` or `false`" }),
        }
    }

    fn count(&self, name: &str) -> Result<Option<u32>, ConfigError> {
        let Some((variable, value)) = self.find(name) else { return Ok(None) };
        match value.parse() {
            Ok(count) => Ok(Some(count)),
            Err(_) => {
                Err(ConfigError::Variable { variable, value, wanted: "write a whole number that is not negative" })
            }
        }
    }
}
