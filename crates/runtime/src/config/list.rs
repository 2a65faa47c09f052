//! The one list of settings. The parser, the environment, `config show`, the reference page and the builder follow it.

/// Hands the list to another macro. A row is
///
/// ```text
/// /// What it does, in one sentence.
/// method(kind) "section.key" = "VARIABLE" | "other.name" => place, other.place;
/// ```
///
/// `method` is its name in the builder, or `_` for what only the command line does. The variable stands after `REKNIT_` or `GOMIND_`; without one it follows from the
/// name. Other names are those of fields in configurations of other orchestrators. The first place is the one that is
/// shown.
macro_rules! each_setting {
    ($then:ident) => {
        $then! {
            /// Calls of tools that a run may make.
            tool_calls(count) "limits.tool-calls" => policy.limits.tool_calls;
            /// Questions to models that a run may ask, one of which is kept for the answer.
            model_calls(count) "limits.model-calls" => policy.limits.model_calls;
            /// What the models of a run may cost, in the unit of their prices; then each needs a price.
            money(money) "limits.money" => policy.limits.money;
            /// How long a run may take; time in which it waits for a person does not count.
            active_time(positive_time) "limits.active-time" => policy.limits.active_ms;
            /// Calls of one run that may be under way at once.
            calls_at_once(positive) "limits.calls-at-once" => policy.limits.calls_at_once;
            /// How long one step may take in all, from when its inputs are there; a plan may say otherwise of a step.
            step_time(positive_time) "limits.step-time" => policy.limits.step_ms;
            /// How long one call may take.
            call_time(positive_time) "limits.call-time" => policy.limits.call_ms;
            /// How long calls under way may still take when a run is cancelled.
            drain_time(time) "limits.drain-time" => policy.limits.drain_ms;
            /// How long a person may take to decide; after that the answer is no.
            person_time(positive_time) "limits.person-time" => policy.limits.person_ms;
            /// Calls of all runs of a process that may be under way at once.
            calls_in_all(positive) "limits.calls-in-all" => call_limits.in_all;
            /// Calls of one tool that may be under way at once, over all runs of a process.
            calls_per_tool(positive) "limits.calls-per-tool" => call_limits.per_tool;
            /// Questions to one model that may be under way at once, over all runs of a process.
            calls_per_model(positive) "limits.calls-per-model" => call_limits.per_model;

            /// How often a failed call is sent again unchanged, after the first time.
            resends(count) "resend.times" = "AGENT_MAX_RETRIES" | "retry_config.max_retries"
                => policy.resend.times;
            /// The wait before a failed call is sent again; it doubles. The variable takes milliseconds.
            first_wait(time) "resend.first-wait" = "AGENT_RETRY_BACKOFF_MS" | "retry_config.backoff_duration"
                => policy.resend.base_ms;
            /// The longest wait that doubling comes to.
            longest_wait(time) "resend.longest-wait" => policy.resend.max_ms;
            /// The longest wait that a tool may ask for; beyond it the step gives up.
            wait_ceiling(time) "resend.ceiling" => policy.resend.ceiling_ms;

            /// Whether models may correct a refused call at all, by its error or by all that is known.
            corrections(switch) "mending.models" = "AGENT_USE_AI_CORRECTION" | "retry_config.use_ai"
                => switches.corrections;
            /// Whether a model may say where a value is that the plan does not give, once for each step.
            resolution(switch) "mending.resolution" => policy.mending.resolution;
            /// How freely a model chooses its words when it says where a value is.
            resolution_temperature(temperature) "mending.resolution-temperature" => policy.asking.resolution.temperature;
            /// The most it then writes, in tokens; it may write 100 more for each value.
            resolution_max_tokens(positive) "mending.resolution-max-tokens" => policy.asking.resolution.max_tokens;
            /// Whether a value is looked for where an earlier run found it, and what is found is kept for later ones.
            learning(switch) "mending.learn" => policy.mending.learning;
            /// How often the facts that errors state may change the call of one step, before any model is asked.
            facts(count) "mending.facts" => policy.mending.facts;
            /// Whether a model may see the error of a refused call.
            feedback(switch) "mending.feedback-enabled" = "VALIDATION_FEEDBACK_ENABLED" | "validation_feedback.enabled"
                | "validation_feedback_enabled" | "execution_options.validation_feedback_enabled"
                => switches.feedback;
            /// How often a model may see the error of one step.
            feedback_attempts(count) "mending.feedback" = "VALIDATION_FEEDBACK_MAX" | "validation_feedback.max"
                | "validation_feedback.max_retries" | "max_validation_retries" | "execution_options.max_validation_retries"
                => policy.mending.feedback;
            /// How freely a model that sees an error chooses its words.
            feedback_temperature(temperature) "mending.feedback-temperature" => policy.asking.feedback.temperature;
            /// The most a model that sees an error writes, in tokens.
            feedback_max_tokens(positive) "mending.feedback-max-tokens" => policy.asking.feedback.max_tokens;
            /// Whether a model may see all that is known about a refused call.
            semantic_retry(switch) "mending.context-enabled" = "SEMANTIC_RETRY_ENABLED" | "semantic_retry.enabled"
                => switches.context;
            /// How often a model may see all that is known, for one step.
            semantic_retry_attempts(count) "mending.context" = "SEMANTIC_RETRY_MAX_ATTEMPTS" | "semantic_retry.max_attempts"
                => policy.mending.context;
            /// The statuses after which a model may see all that is known.
            semantic_retry_statuses(statuses) "mending.context-statuses" = "SEMANTIC_RETRY_TRIGGER_STATUS_CODES"
                | "semantic_retry.trigger_status_codes"
                => policy.mending.context_statuses;
            /// Whether it may do so for a step that needs no other, too: then only the request can help.
            semantic_retry_independent_steps(switch) "mending.independent-steps" = "SEMANTIC_RETRY_INDEPENDENT_STEPS"
                | "semantic_retry.enable_for_independent_steps"
                => policy.mending.independent_steps;
            /// How freely a model that sees all that is known chooses its words.
            semantic_retry_temperature(temperature) "mending.context-temperature" => policy.asking.context.temperature;
            /// The most a model that sees all that is known writes, in tokens.
            semantic_retry_max_tokens(positive) "mending.context-max-tokens" => policy.asking.context.max_tokens;

            /// Who is asked next: `advance` asks the next model after every failure, `prefer-primary` the same one again.
            rotation(word<RotationPolicy>) "rotation.policy" => policy.rotation.policy;
            /// Attempts at one question, the first included; six with `prefer-primary`.
            attempts(positive) "rotation.attempts" => policy.rotation.attempts;
            /// What follows when a model refuses its key: the end, or the next model.
            on_auth_error(word<OnAuthError>) "rotation.on-auth-error" => policy.rotation.on_auth_error;
            /// The longest wait for which `prefer-primary` stays with a model.
            short_wait(time) "rotation.short-wait" => policy.rotation.short_wait_ms;
            /// The longest wait for a model that is at its limit.
            longest_model_wait(time) "rotation.longest-wait" => policy.rotation.max_wait_ms;

            /// How many calls there must be before their failures close the way to a service or a model.
            breaker_calls(positive) "breaker.calls" => rests.tools.calls, rests.models.calls;
            /// How many of a hundred of those calls must fail.
            breaker_percent(percent) "breaker.percent" => rests.tools.percent, rests.models.percent;
            /// How far back calls count for that.
            breaker_window(positive_time) "breaker.window" => rests.tools.window_ms, rests.models.window_ms;
            /// How long nobody calls a service or a model that failed so often.
            breaker_rest(positive_time) "breaker.rest" => rests.tools.rest_ms, rests.models.rest_ms;
            /// How long a model rests after two failures in a row, with `prefer-primary`; it doubles.
            breaker_first_rest(positive_time) "breaker.first-rest" => rests.models.first_rest_ms;
            /// The longest rest that a service or a model may ask for itself.
            longest_cool_down(time) "breaker.longest-cool-down"
                => rests.tools.longest_cool_down_ms, rests.models.longest_cool_down_ms;

            /// Whether a plan that cannot be used is asked for again.
            plan_retry(switch) "plan.retry-enabled" = "PLAN_RETRY_ENABLED" | "plan_parse_retry_enabled"
                => switches.plan_retry;
            /// How often a plan that cannot be used is asked for again.
            plan_retries(count) "plan.retries" = "PLAN_RETRY_MAX" | "plan_parse_max_retries" => policy.planning.retries;
            /// How freely a planner chooses its words.
            plan_temperature(temperature) "plan.temperature" => policy.asking.plan.temperature;
            /// The most a planner writes, in tokens.
            plan_max_tokens(positive) "plan.max-tokens" => policy.asking.plan.max_tokens;
            /// Whether only some tools are shown to the planner where there are many.
            choose_tools(switch) "plan.choose" = "TIERED_RESOLUTION_ENABLED" => switches.choice;
            /// From how many capabilities on only some tools are shown.
            choose_from(count) "plan.choose-from" = "TIERED_MIN_TOOLS" => policy.planning.choose_from;
            /// How freely a model that chooses tools chooses its words.
            choice_temperature(temperature) "plan.choose-temperature" => policy.asking.choice.temperature;
            /// The most a model that chooses tools writes, in tokens.
            choice_max_tokens(positive) "plan.choose-max-tokens" => policy.asking.choice.max_tokens;

            /// A folder with prompts of your own: `plan.txt`, `answer.txt` and so on in the place of ours.
            prompts_folder(text) "prompts.folder" => prompts;

            /// Who writes the answer: a model, a template, or nobody, and the results come as they are.
            answer_by(word<Synthesis>) "answer.by" => policy.synthesis;
            /// How freely a model that writes the answer chooses its words.
            answer_temperature(temperature) "answer.temperature" => policy.asking.answer.temperature;
            /// The most a model that writes the answer writes, in tokens.
            answer_max_tokens(positive) "answer.max-tokens" => policy.asking.answer.max_tokens;

            /// The turn that is the last one: there only the report may be given.
            max_turns(positive) "session.max-turns" | "max_turns" => session.max_turns;
            /// Attempts in one turn, the first included.
            max_retries(positive) "session.max-retries" | "max_retries" => session.max_retries;
            /// The most a model may answer in one turn, in tokens; doubled once if an answer is cut.
            max_output_tokens(positive) "session.max-output-tokens" | "max_output_tokens" => session.max_output_tokens;
            /// The longest one attempt of a turn may take.
            llm_timeout(positive_time) "session.llm-timeout" | "llm_timeout" => session.llm_timeout_ms;
            /// How freely models choose their words in a turn; `default` is as each provider likes.
            session_temperature(temperature_or_default) "session.temperature" => session.temperature;
            /// How much models think before they answer in a turn; `default` is as each provider likes.
            reasoning(word<Option<Effort>>) "session.reasoning" => session.effort;
            /// The most of one result that goes into the conversation, in bytes.
            result_bytes(positive) "session.result-bytes" => session.result_bytes;

            /// What is done about a call that may have happened, where its tool does not say what it does.
            undeclared(word<Undeclared>) "effects.undeclared" => policy.effects.undeclared;
            /// What calls do to the world, against or beyond what tools say: `agent/capability` or `agent`.
            effects(classes) "effects.classes" => policy.effects.classes;

            /// Whether a person can be asked; if not, what only a person could decide is left undone.
            ask_people(switch) "people.ask" => policy.people;

            /// The journal; reknit/journal.db in your data folder if there is none.
            journal_path(text) "journal.path" = "JOURNAL" => journal;
            /// How sure the journal is that what it wrote survives a loss of power.
            durability(word<Durability>) "journal.durability" => durability;

            /// How much is written about runs to standard error.
            log_level(word<Level>) "log.level" = "LOG" => log.level;
            /// What a line of the log looks like: words, or a JSON object.
            log_format(word<Form>) "log.format" => log.form;

            /// Whether `reknit runs show --llm` shows what models were asked and what they answered, word for word.
            llm_debug(switch) "llm-debug.enabled" | "llm_debug_enabled" => policy.llm_debug;

            /// Whether a command looks for a model when none is named: by the keys in the environment, then on this machine.
            _(switch) "find-model" => find_model;
        }
    };
}

pub(super) use each_setting;

/// What each section is about, in the order of the list.
pub(super) const SECTIONS: [(&str, &str); 15] = [
    ("limits", "What runs may spend."),
    ("resend", "Calls that failed in passing."),
    ("mending", "Calls that were refused."),
    ("rotation", "Who is asked when a model fails."),
    ("breaker", "When services and models are given a rest."),
    ("plan", "How plans are made."),
    ("prompts", "The words in which models are asked."),
    ("answer", "Who writes the answer."),
    ("session", "How agents turn and end, where their own files do not say so."),
    ("effects", "What calls do to the world."),
    ("people", "Questions to people."),
    ("journal", "Where runs are kept."),
    ("log", "What is written about runs while they run; docs/telemetry.md has the rest."),
    ("llm-debug", "What people may see of questions to models."),
    ("", "Above all sections."),
];
