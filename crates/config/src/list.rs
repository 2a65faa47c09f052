//! The one list of settings. The file reader, the environment, `config show`, the reference page and the builder follow it.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_engine::{AgentMending, AskScope, GuardLevel, Synthesis, UndeclaredPolicy, UnfitResults};
use reknit_journal::Durability;
use reknit_model_api::{Effort, OnAuthError, RotationPolicy};
use reknit_protocol::SideEffect;
use reknit_registry::RedisUrl;
use reknit_tools::PinPolicy;
use tracing::level_filters::LevelFilter;

use super::builder::Argument as _;
use super::field::Field as _;
use super::kind::SettingKind::{
    MetadataKeys, Money, RedisAddress, RegistryNamespace, ServiceNames, SideEffects, Size, Statuses, Switch,
    Temperature, TemperatureOrDefault, Text, WebhookAddress,
};
use super::kind::{COUNT, DURATION, PERCENT, POSITIVE, POSITIVE_DURATION, word};
use super::log::Form;
use super::setting::assign;
use super::webhook_url::WebhookUrl;
use super::{ByteSize, ConfigBuilder, Setting, SettingOrigin};

/// Defines [`SETTINGS`] and the methods of [`ConfigBuilder`]. A row is
///
/// ```text
/// /// Description, one sentence per row, shown on the reference page and as the documentation of the builder's method.
/// method(argument: kind) "section.key" = "VARIABLE" | "other.name" => field, other.field;
/// ```
///
/// `method` is the name of the builder's method and `argument` the type that it takes; a setting that is only for the
/// command line has no method. The environment variable is `REKNIT_` and `VARIABLE`; with `GOMIND_`, the prefix of the
/// orchestrator whose settings are also read, it works too. Without `VARIABLE` it is derived from the key. The
/// other names are those of fields in the configurations of other orchestrators, and former names. A setting
/// writes to all of its fields, and the first one is shown.
macro_rules! settings {
    ($(
        #[doc = $description:literal]
        $($method:ident)? ($argument:ty: $kind:expr) $name:literal $(= $variable:literal)? $(| $alias:literal)*
            => $($field:ident).+ $(, $($other:ident).+)*;
    )*) => {
        /// All settings.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            description: $description.trim_ascii(),
            kind: $kind,
            aliases: &[$($alias),*],
            variable: concat!($($variable)?),
            get: |config| config.$($field).+.to_value(),
            set: |config, value| {
                assign(&mut config.$($field).+, value);
                $(assign(&mut config.$($other).+, value);)*
            },
        }),*];

        impl ConfigBuilder {$($(
            #[doc = $description]
            ///
            #[doc = concat!("`", $name, "` in a file.")]
            #[must_use]
            pub fn $method(self, value: $argument) -> Self {
                self.change(|config| config.with($name, value.into_value(), SettingOrigin::Program))
            }
        )?)*}

        /// For each setting with a method: its name, a builder on which the method was called, and the same value in a file.
        #[cfg(test)]
        pub(super) fn builders_with_samples() -> Vec<(&'static str, ConfigBuilder, String)> {
            use super::tests::builder::Sample as _;
            vec![$($((
                $name,
                ConfigBuilder::default().$method(<$argument>::sample()),
                super::show::toml(&<$argument>::sample().into_value()),
            ),)?)*]
        }
    };
}

settings! {
    /// Maximum number of tool calls per run.
    tool_calls(u32: COUNT) "limits.tool-calls" => policy.limits.tool_calls;
    /// Maximum number of model calls per run; one of them is reserved for writing the answer.
    model_calls(u32: COUNT) "limits.model-calls" => policy.limits.model_calls;
    /// Maximum cost of a run's model calls, in the currency of the prices; every model then needs a price.
    money(f64: Money) "limits.money" => policy.limits.money;
    /// Maximum duration of a run, without the time it waits for a person or a job.
    active_time(Duration: POSITIVE_DURATION) "limits.active-time" => policy.limits.active_ms;
    /// Maximum number of concurrent tool calls per run.
    calls_at_once(u32: POSITIVE) "limits.calls-at-once" => policy.limits.calls_at_once;
    /// Maximum number of items of one `foreach`; a plan of yours may set its own for a step, and its items add to `tool-calls`.
    max_items(u32: POSITIVE) "limits.max-items" => policy.limits.max_items;
    /// Maximum duration of a step, from when its inputs are available; a plan may set its own for a step.
    step_time(Duration: POSITIVE_DURATION) "limits.step-time" => policy.limits.step_ms;
    /// Timeout of one tool call.
    call_time(Duration: POSITIVE_DURATION) "limits.call-time" => policy.limits.call_ms;
    /// How long calls in progress may continue after a run is cancelled.
    drain_time(Duration: DURATION) "limits.drain-time" => policy.limits.drain_ms;
    /// How long to wait for a person's decision; without one the answer is no.
    person_time(Duration: POSITIVE_DURATION) "limits.person-time" => policy.limits.person_ms;
    /// How long to wait for a job on which a tool works after it has answered a call.
    job_time(Duration: POSITIVE_DURATION) "limits.job-time" => policy.limits.job_ms;
    /// Maximum number of concurrent tool calls of all runs in a process.
    calls_in_all(u32: POSITIVE) "limits.calls-in-all" => call_limits.in_all;
    /// Maximum number of concurrent calls to one tool, over all runs in a process.
    calls_per_tool(u32: POSITIVE) "limits.calls-per-tool" => call_limits.per_tool;
    /// Maximum number of concurrent calls to one model, over all runs in a process.
    calls_per_model(u32: POSITIVE) "limits.calls-per-model" => call_limits.per_model;

    /// Maximum number of times that a failed call is sent again unchanged.
    resends(u32: COUNT) "resend.times" = "AGENT_MAX_RETRIES" | "retry_config.max_retries" => policy.resend.times;
    /// Backoff before the first retry; it doubles with every retry. The variable takes milliseconds.
    first_wait(Duration: DURATION) "resend.first-wait" = "AGENT_RETRY_BACKOFF_MS" | "retry_config.backoff_duration"
        => policy.resend.base_ms;
    /// Maximum backoff between two retries.
    longest_wait(Duration: DURATION) "resend.longest-wait" => policy.resend.max_ms;
    /// Longest wait that a tool may ask for, with `Retry-After` for example; if it asks for more, the step fails.
    longest_retry_after(Duration: DURATION) "resend.longest-retry-after" | "resend.ceiling"
        => policy.resend.max_retry_after_ms;

    /// Whether models may correct rejected calls; `false` turns off both `feedback` and `context`.
    corrections(bool: Switch) "mending.models" = "AGENT_USE_AI_CORRECTION" | "retry_config.use_ai"
        => switches.corrections;
    /// Whether a model may say, once per step, where to find values that the plan leaves out.
    resolution(bool: Switch) "mending.resolution" => policy.mending.resolution;
    /// Sampling temperature for finding missing values.
    resolution_temperature(f64: Temperature) "mending.resolution-temperature"
        => policy.asking.resolution.temperature;
    /// Maximum output tokens for finding missing values; 100 more are allowed for each value.
    resolution_max_tokens(u32: POSITIVE) "mending.resolution-max-tokens" => policy.asking.resolution.max_tokens;
    /// Whether runs remember where missing values were found, and look there first.
    learning(bool: Switch) "mending.learn" => policy.mending.learning;
    /// Maximum number of corrections per step that plain code makes from what errors state, before a model is asked.
    facts(u32: COUNT) "mending.facts" => policy.mending.facts;
    /// Maximum number of corrections per step that learned rules make, before a model is asked.
    rule_uses(u32: COUNT) "mending.rules" => policy.mending.rules;
    /// Whether a model may correct a rejected call from its error; `false` alone also turns off `context-enabled`.
    feedback(bool: Switch) "mending.feedback-enabled" = "VALIDATION_FEEDBACK_ENABLED" | "validation_feedback.enabled"
        | "validation_feedback_enabled" | "execution_options.validation_feedback_enabled"
        => switches.feedback;
    /// Maximum number of corrections per step that a model makes from the error.
    feedback_attempts(u32: COUNT) "mending.feedback" = "VALIDATION_FEEDBACK_MAX" | "validation_feedback.max"
        | "validation_feedback.max_retries" | "max_validation_retries" | "execution_options.max_validation_retries"
        => policy.mending.feedback;
    /// Sampling temperature for corrections from the error.
    feedback_temperature(f64: Temperature) "mending.feedback-temperature" => policy.asking.feedback.temperature;
    /// Maximum output tokens for corrections from the error.
    feedback_max_tokens(u32: POSITIVE) "mending.feedback-max-tokens" => policy.asking.feedback.max_tokens;
    /// Whether a model may correct a rejected call from its full context: the error, the request and earlier results.
    semantic_retry(bool: Switch) "mending.context-enabled" = "SEMANTIC_RETRY_ENABLED" | "semantic_retry.enabled"
        => switches.context;
    /// Maximum number of corrections per step that a model makes from the full context.
    semantic_retry_attempts(u32: COUNT) "mending.context" = "SEMANTIC_RETRY_MAX_ATTEMPTS"
        | "semantic_retry.max_attempts"
        => policy.mending.context;
    /// HTTP statuses after which a correction from the full context is allowed.
    semantic_retry_statuses(Vec<u16>: Statuses) "mending.context-statuses" = "SEMANTIC_RETRY_TRIGGER_STATUS_CODES"
        | "semantic_retry.trigger_status_codes"
        => policy.mending.context_statuses;
    /// Whether a correction from the full context is also allowed for a step that depends on no other step.
    semantic_retry_independent_steps(bool: Switch) "mending.independent-steps" = "SEMANTIC_RETRY_INDEPENDENT_STEPS"
        | "semantic_retry.enable_for_independent_steps"
        => policy.mending.independent_steps;
    /// Sampling temperature for corrections from the full context.
    semantic_retry_temperature(f64: Temperature) "mending.context-temperature" => policy.asking.context.temperature;
    /// Maximum output tokens for corrections from the full context.
    semantic_retry_max_tokens(u32: POSITIVE) "mending.context-max-tokens" => policy.asking.context.max_tokens;

    /// File with learned rules, which `reknit rules` changes; without one no rules are used.
    rules_file(&str: Text) "rules.file" => rules.file;
    /// Whether runs use the rules in the file.
    rules_enabled(bool: Switch) "rules.enabled" => rules.enabled;
    /// Number of runs that must confirm a rule for calls that only read before it accepts itself; 0 leaves it to people.
    rules_accept_reads_after(u32: COUNT) "rules.accept-reads-after" => rules.accept_reads_after;

    /// Which model is asked after a failure: the next one (`advance`), or the same one again (`prefer-primary`).
    rotation(RotationPolicy: word::<RotationPolicy>()) "rotation.policy" => policy.rotation.policy;
    /// Maximum number of attempts per model call, including the first; 6 with `prefer-primary`.
    attempts(u32: POSITIVE) "rotation.attempts" => policy.rotation.max_attempts;
    /// What to do when a provider rejects the API key: fail (`end`), or ask the next model (`skip`).
    on_auth_error(OnAuthError: word::<OnAuthError>()) "rotation.on-auth-error" => policy.rotation.on_auth_error;
    /// Longest wait for which `prefer-primary` stays with a rate-limited model.
    short_wait(Duration: DURATION) "rotation.short-wait" => policy.rotation.short_wait_ms;
    /// Longest wait for a rate-limited model.
    longest_model_wait(Duration: DURATION) "rotation.longest-wait" => policy.rotation.max_wait_ms;

    /// Minimum number of calls in the window before the circuit breaker can open.
    breaker_calls(u32: POSITIVE) "breaker.calls" => breakers.tools.min_calls, breakers.models.min_calls;
    /// Percentage of failed calls in the window that opens the circuit breaker.
    breaker_percent(u32: PERCENT) "breaker.percent" => breakers.tools.failure_percent, breakers.models.failure_percent;
    /// Time window in which calls and failures are counted.
    breaker_window(Duration: POSITIVE_DURATION) "breaker.window"
        => breakers.tools.window_ms, breakers.models.window_ms;
    /// How long an open circuit breaker blocks calls.
    breaker_open_for(Duration: POSITIVE_DURATION) "breaker.open-for" | "breaker.rest"
        => breakers.tools.max_open_ms, breakers.models.max_open_ms;
    /// How long a model is blocked after two failures in a row, with `prefer-primary`; it doubles every time.
    breaker_first_open_for(Duration: POSITIVE_DURATION) "breaker.first-open-for" | "breaker.first-rest"
        => breakers.models.first_open_ms;
    /// Longest cool-down that a rate-limited tool or model may ask for.
    longest_cool_down(Duration: DURATION) "breaker.longest-cool-down"
        => breakers.tools.max_cool_down_ms, breakers.models.max_cool_down_ms;

    /// Whether the planner is asked again when its plan is unusable.
    plan_retry(bool: Switch) "plan.retry-enabled" = "PLAN_RETRY_ENABLED" | "plan_parse_retry_enabled"
        => switches.plan_retry;
    /// Maximum number of times that the planner is asked again.
    plan_retries(u32: COUNT) "plan.retries" = "PLAN_RETRY_MAX" | "plan_parse_max_retries"
        => policy.planning.retries;
    /// How often the planner is asked for a plan of what is missing, if steps of its plan failed for good.
    plan_replans(u32: COUNT) "plan.replans" => policy.planning.replans;
    /// Sampling temperature of the planner.
    plan_temperature(f64: Temperature) "plan.temperature" => policy.asking.plan.temperature;
    /// Maximum output tokens of the planner.
    plan_max_tokens(u32: POSITIVE) "plan.max-tokens" => policy.asking.plan.max_tokens;
    /// Whether a model first selects the relevant tools when there are many, so that the planner sees only those.
    choose_tools(bool: Switch) "plan.choose" = "TIERED_RESOLUTION_ENABLED" => switches.choice;
    /// Number of capabilities from which on tools are selected first.
    choose_from(u32: COUNT) "plan.choose-from" = "TIERED_MIN_TOOLS" => policy.planning.choose_from;
    /// Sampling temperature for selecting tools.
    choice_temperature(f64: Temperature) "plan.choose-temperature" => policy.asking.choice.temperature;
    /// Maximum output tokens for selecting tools.
    choice_max_tokens(u32: POSITIVE) "plan.choose-max-tokens" => policy.asking.choice.max_tokens;

    /// Folder with your own prompt templates, which replace the built-in ones: `plan.txt`, `answer.txt` and so on.
    prompts_folder(&str: Text) "prompts.folder" => prompts;
    /// Keys of the metadata of requests (`--meta`) that models see, such as `tenant`; by default they see none.
    prompt_metadata(Vec<String>: MetadataKeys) "prompts.metadata" => policy.prompt_metadata;

    /// What writes the answer: a `model`, a `template`, or nothing (`raw` returns the results as JSON).
    answer_by(Synthesis: word::<Synthesis>()) "answer.by" => policy.synthesis;
    /// Sampling temperature for the answer.
    answer_temperature(f64: Temperature) "answer.temperature" => policy.asking.answer.temperature;
    /// Maximum output tokens for the answer.
    answer_max_tokens(u32: POSITIVE) "answer.max-tokens" => policy.asking.answer.max_tokens;

    /// Maximum number of turns; in the last one the agent can only give its report.
    max_turns(u32: POSITIVE) "session.max-turns" | "max_turns" => session.max_turns;
    /// Maximum number of attempts per turn, including the first.
    max_retries(u32: POSITIVE) "session.max-retries" | "max_retries" => session.max_retries;
    /// Maximum output tokens per turn; doubled for one retry if an answer is cut off.
    max_output_tokens(u32: POSITIVE) "session.max-output-tokens" | "max_output_tokens"
        => session.max_output_tokens;
    /// Timeout of one attempt in a turn.
    llm_timeout(Duration: POSITIVE_DURATION) "session.llm-timeout" | "llm_timeout" => session.llm_timeout_ms;
    /// Sampling temperature of a turn; `default` leaves it to the provider.
    session_temperature(Option<f64>: TemperatureOrDefault) "session.temperature" => session.temperature;
    /// Reasoning effort of a turn; `default` leaves it to the provider.
    reasoning(Option<Effort>: word::<Option<Effort>>()) "session.reasoning" => session.effort;
    /// Maximum duration of a session, without the time it waits for a person or a job; no limit if it is left out.
    session_time(Duration: POSITIVE_DURATION) "session.max-time" => session.max_time_ms;
    /// How far the calls of an agent may be changed: `spelling` only, or by `rules`, or by other `models` too.
    agent_mending(AgentMending: word::<AgentMending>()) "session.mending" => session.mending;
    /// Whether calls that a model writes as text are made.
    text_calls(bool: Switch) "session.text-calls" => session.calls_in_text;
    /// Whether a text without calls is the report of an agent. If not, the model is told to call the tool that reports.
    text_answers(bool: Switch) "session.text-answers" => session.text_answers;
    /// Maximum size of a tool result in the conversation, in bytes.
    result_bytes(u32: POSITIVE) "session.result-bytes" => session.result_bytes;

    /// What to do about a call with unknown outcome whose tool declares no side effects: `send-again` under the same key, `ask` a person, or `by-source`: sent again if the tool's protocol has keys (class `undeclared`), and asked about otherwise (class `unknown`).
    undeclared(UndeclaredPolicy: word::<UndeclaredPolicy>()) "effects.undeclared" => policy.effects.undeclared;
    /// Side effects of calls, by `tool/capability` or `tool`; they override what the tools declare.
    effects(BTreeMap<String, SideEffect>: SideEffects) "effects.classes" => policy.effects.classes;

    /// How strictly calls are guarded against instructions in what tools return: `off`, `targets` (who, where and which needs evidence, and what an agent does a mandate), or `strict` (how much, too). The page about hostile data explains it.
    guard_level(GuardLevel: word::<GuardLevel>()) "guard.level" => policy.effects.guard;

    /// Whether a person can be asked; if not, steps that need a person's decision are not carried out.
    ask_people(bool: Switch) "people.ask" => policy.people;

    /// What a person approves before it is sent: calls that match `[[approve]]` (`rules`), `all` but reads, or a whole `plan`.
    ask_scope(AskScope: word::<AskScope>()) "approvals.ask" => policy.approvals.ask;

    /// Address to which each question to a person is sent, signed; docs/approvals.md describes what is sent.
    approval_webhook(WebhookUrl: WebhookAddress) "approvals.webhook" => webhook.url;
    /// Environment variable with the key that signs what is sent to the webhook, and its answer.
    approval_webhook_secret_env(&str: Text) "approvals.webhook-secret-env" => webhook.secret_variable;

    /// Journal file; the default is reknit/journal.db in your data folder.
    journal_path(&str: Text) "journal.path" = "JOURNAL" => journal;
    /// What a power failure can do: nothing (`full`), lose the last events (`normal`), or damage the file (`off`).
    durability(Durability: word::<Durability>()) "journal.durability" => durability;
    /// How long after its end a run is kept; `0s` for ever. Pruned runs leave only their ids and the digests of their requests.
    keep_time(Duration: DURATION) "journal.keep-time" => keep.time;
    /// How many ended runs are kept; 0 for all. With 10,000 runs a day, the default keeps ten days.
    keep_runs(u32: COUNT) "journal.keep-runs" => keep.runs;
    /// How large the journal may become before the oldest ended runs are pruned; 0 for any size.
    keep_size(ByteSize: Size) "journal.keep-size" => keep.size;

    /// How often tools are asked again for their capabilities while a process runs; `0s` for never.
    catalogue_refresh(Duration: DURATION) "catalogue.refresh" => catalogue_refresh;
    /// Folder with the last known capabilities of each tool; the default is reknit/catalogue in your state folder.
    catalogue_folder(&str: Text) "catalogue.folder" => catalogue_folder;
    /// What a changed definition of a service leads to: nothing (`off`), a `report`, or the need to `confirm` it unless it only reads.
    catalogue_pin(PinPolicy: word::<PinPolicy>()) "catalogue.pin" => catalogue_pin;
    /// What a result that does not fit its announced schema leads to in a plan: nothing (`ignore`), a note in the answer (`warn`), or an unconfirmed step (`fail`).
    unfit_results(UnfitResults: word::<UnfitResults>()) "catalogue.unfit-results" => policy.unfit_results;

    /// Whether services are looked up in the registry. If the variable is `true`, `REDIS_URL` may name the registry too.
    discovery(bool: Switch) "discovery.enabled" => discovery.enabled;
    /// Address of the Redis server that holds the registry; without one, only configured tools are used.
    discovery_redis(RedisUrl: RedisAddress) "discovery.redis" = "REDIS_URL" => discovery.redis;
    /// First part of the keys of the registry.
    discovery_namespace(&str: RegistryNamespace) "discovery.namespace" => discovery.namespace;
    /// Names of the registered services to use; all of them if the list is empty.
    discovery_include(Vec<String>: ServiceNames) "discovery.include" => discovery.include;
    /// Names of registered services that are not used.
    discovery_exclude(Vec<String>: ServiceNames) "discovery.exclude" => discovery.exclude;

    /// Public base URL of `reknit callbacks serve`; without it no call has a callback URL.
    callback_url(&str: Text) "callbacks.url" => callbacks.url;
    /// Environment variable with the secret that signs callback URLs; the default is `REKNIT_CALLBACK_SECRET`.
    callback_secret_env(&str: Text) "callbacks.secret-env" => callbacks.secret_env;
    /// File with that secret, instead of a variable.
    callback_secret_file(&str: Text) "callbacks.secret-file" => callbacks.secret_file;

    /// Level of the log on standard error.
    log_level(LevelFilter: word::<LevelFilter>()) "log.level" = "LOG" => log.level;
    /// Format of a log line.
    log_format(Form: word::<Form>()) "log.format" => log.form;

    /// Whether exports and other users get the prompts and answers of models word for word; the journal's owner always sees them.
    llm_debug(bool: Switch) "llm-debug.enabled" | "llm_debug_enabled" => policy.llm_debug;

    /// Whether commands look for a model when none is configured: first by API keys, then on this machine.
    (bool: Switch) "find-model" => find_model;
}

/// Sections with their descriptions, in the order of the list.
pub(super) const SECTIONS: [(&str, &str); 21] = [
    ("limits", "What runs may use: calls, money, time and concurrency."),
    ("resend", "Retries of calls that failed temporarily."),
    ("mending", "Corrections of calls that a tool rejected."),
    ("rules", "Rules learned from corrections; docs/how-to/learned-rules.md describes them."),
    ("rotation", "Which model is asked when one fails."),
    ("breaker", "Circuit breakers: when a failing tool or model is not called for a while."),
    ("plan", "How plans are made."),
    ("prompts", "What models are told."),
    ("answer", "How the answer is written."),
    ("session", "Defaults for agents; the file of an agent overrides them."),
    ("effects", "Side effects of calls."),
    ("guard", "Instructions in what tools return."),
    ("people", "Questions to people."),
    ("approvals", "Approval of calls before they are sent; docs/approvals.md describes it."),
    ("journal", "Where runs are recorded."),
    ("catalogue", "What is known about the capabilities of tools."),
    ("discovery", "Services that register themselves in Redis."),
    ("callbacks", "URLs that tools call when a long job has ended; docs/tools.md describes them."),
    ("log", "The log; docs/telemetry.md describes it, with traces and metrics."),
    ("llm-debug", "Access of others to the prompts and answers of models."),
    ("", ""),
];
