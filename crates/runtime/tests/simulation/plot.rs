//! What is to be done in a simulated world: small runs and sessions over one tool, whose capabilities have every side effect.

use std::sync::Arc;

use reknit_engine::{
    ApprovalPolicy, ApprovalRule, AskScope, Earlier, MACHINE_VERSION, Metadata, Policy, SessionRules, SessionStarted,
    SessionTexts, Started, Synthesis, Templates, UndeclaredPolicy,
};
use reknit_mend::PeoplePolicy;
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
use reknit_protocol::{Capability, KeyRule, Object, Plan, RunId, SideEffect, Step, Value};
use reknit_runtime::RunStart;

use crate::random::Random;

/// The capabilities of the tool `t`. Those that end in `_order` have a business key, those that end in `_job` start a job.
const CAPABILITIES: [(&str, SideEffect); 11] = [
    ("read", SideEffect::Read),
    ("idempotent", SideEffect::Idempotent),
    ("keyed", SideEffect::Keyed),
    ("undeclared", SideEffect::Undeclared),
    ("unknown", SideEffect::Unknown),
    ("unsafe", SideEffect::Unsafe),
    ("unsafe_again", SideEffect::Unsafe),
    ("refund_order", SideEffect::Keyed),
    ("charge_order", SideEffect::Unsafe),
    ("keyed_job", SideEffect::Keyed),
    ("unsafe_job", SideEffect::Unsafe),
];

/// The window of business keys: longer than any simulation, with all steps of its clocks.
const KEY_WINDOW_S: u64 = 90 * 24 * 60 * 60;

/// One run or session of a simulated world.
#[derive(Debug, Clone)]
pub(crate) struct PlottedRun {
    pub(crate) id: RunId,
    pub(crate) start: RunStart,
    /// The plan of a run, which a model may have to write.
    pub(crate) plan: Option<Plan>,
    /// The calls of each turn of a session: the name and the arguments.
    pub(crate) turns: Vec<Vec<(String, String)>>,
}

/// Everything that is to be done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plot {
    pub(crate) runs: Vec<PlottedRun>,
}

impl Plot {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let (catalogue, templates) = (Arc::new(catalogue()), Arc::new(Templates::default()));
        let count = 1 + random.below(4);
        let runs = (1..=count).map(|number| {
            let id = format!("run-{number}");
            if random.one_in(4) {
                draw_session(&id, &catalogue, &templates, random)
            } else {
                draw_run(&id, &catalogue, &templates, random)
            }
        });
        Self { runs: runs.collect() }
    }

    /// The run whose request a text contains.
    pub(crate) fn find(&self, text: &str) -> Option<&PlottedRun> {
        self.runs.iter().find(|run| text.contains(&request(run.id.as_str())))
    }
}

fn request(run: &str) -> String {
    format!("do the work of {run}")
}

fn catalogue() -> Catalogue {
    let entry = |(name, class): (&str, SideEffect)| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        if name.ends_with("_order") {
            capability.business_key = Some(KeyRule { window_s: KEY_WINDOW_S, ..KeyRule::new(["order"]) });
        }
        CatalogueEntry::new(capability, None).expect("a capability without a schema is valid")
    };
    let capabilities = CAPABILITIES.map(entry).to_vec();
    Catalogue { tools: vec![CatalogueTool { name: "t".into(), description: String::new(), capabilities }] }
}

fn draw_policy(random: &mut Random) -> Policy {
    let synthesis = *random.pick(&[Synthesis::Template, Synthesis::Template, Synthesis::Model]);
    let mut policy = Policy { synthesis, ..Policy::default() };
    policy.limits.call_ms = *random.pick(&[30_000, 10_000, 60_000]);
    policy.limits.calls_at_once = *random.pick(&[5, 1, 2]);
    if random.one_in(8) {
        policy.limits.active_ms = Some(random.between(5_000, 60_000));
    }
    if random.one_in(8) {
        policy.limits.step_ms = Some(random.between(2_000, 30_000));
    }
    policy.people = *random.pick(&[PeoplePolicy::Ask, PeoplePolicy::Ask, PeoplePolicy::Ask, PeoplePolicy::Nobody]);
    policy.effects.undeclared =
        *random.pick(&[UndeclaredPolicy::BySource, UndeclaredPolicy::SendAgain, UndeclaredPolicy::Ask]);
    policy.approvals = match random.below(16) {
        0 => ApprovalPolicy { ask: AskScope::All, rules: Vec::new() },
        1 => ApprovalPolicy { ask: AskScope::Plan, rules: Vec::new() },
        2 | 3 => {
            let class = Some(*random.pick(&[SideEffect::Keyed, SideEffect::Unsafe]));
            ApprovalPolicy { ask: AskScope::Rules, rules: vec![ApprovalRule { class, ..ApprovalRule::default() }] }
        }
        _ => ApprovalPolicy::default(),
    };
    policy
}

/// The parameters of a call. The tool refuses `x` below 1.
fn draw_parameters(run: &str, capability: &str, random: &mut Random) -> Object {
    let mut parameters = Object::from([("run", Value::from(run))]);
    if capability.ends_with("_order") {
        parameters.insert("order", Value::from(1 + u32::try_from(random.below(2)).expect("small")));
    }
    let x = if random.one_in(8) { 0 } else { 1 + u32::try_from(random.below(9)).expect("small") };
    parameters.insert("x", Value::from(x));
    parameters
}

fn draw_run(id: &str, catalogue: &Arc<Catalogue>, templates: &Arc<Templates>, random: &mut Random) -> PlottedRun {
    let count = 1 + random.below(5);
    let steps = (0..count).map(|index| {
        let (capability, _) = *random.pick(&CAPABILITIES);
        let mut parameters = draw_parameters(id, capability, random);
        let other = (index > 0).then(|| format!("s{}", random.below(index)));
        if let Some(other) = other.as_ref().filter(|_| random.one_in(4)) {
            // The other step may be a loop, whose result is a list.
            parameters.insert("x", Value::from(format!("{{{{{other}.v ?? 4}}}}")));
        }
        let mut step = Step::new(format!("s{index}").as_str(), "t", capability, "").with_parameters(parameters);
        draw_controls(&mut step, id, random);
        match other.filter(|_| random.one_in(3)) {
            Some(other) => step.after(other.as_str()),
            None => step,
        }
    });
    let plan = Plan::new("p", "a simulation", steps.collect());
    let is_given = !random.one_in(4);
    let started = Started {
        run: id.into(),
        request: request(id),
        plan: is_given.then(|| plan.clone()),
        plan_author: PlanAuthor::Person,
        inputs: Object::new(),
        attachments: Vec::new(),
        agents: Vec::new(),
        metadata: Metadata::default(),
        catalogue: Arc::clone(catalogue),
        targets: vec!["a".into(), "b".into()],
        policy: Arc::new(draw_policy(random)),
        templates: Arc::clone(templates),
        mappings: Vec::new(),
        seed: random.next(),
        trace_parent: None,
        fork: None,
        earlier: Earlier::default(),
        machine_version: MACHINE_VERSION,
    };
    PlottedRun { id: id.into(), start: started.into(), plan: Some(plan), turns: Vec::new() }
}

/// Lets a step run for each item of a list, poll, or verify its effect.
fn draw_controls(step: &mut Step, run: &str, random: &mut Random) {
    let control = |text: &str| Value::parse(text).expect("JSON");
    let reads = step.capability() == Some("read");
    match random.below(8) {
        0 => {
            // The tool refuses 0.
            let list = *random.pick(&["[1, 2, 3]", "[4, 0]", "[5, 6, 7, 8, 9, 10]", "[]"]);
            step.metadata.insert("foreach", list);
            step.metadata.insert("at_once", Value::from(1 + u32::try_from(random.below(3)).expect("small")));
            let mut parameters = step.parameters().cloned().unwrap_or_default();
            parameters.insert("x", "{{item}}");
            step.metadata.insert("parameters", parameters);
        }
        1..=4 if reads => {
            step.metadata.insert("until", control(r#"{"condition": "result.v > 4", "wait": "3 s", "times": 4}"#));
        }
        1 | 2 if !reads => {
            let verify = format!(
                r#"{{"tool": "t/read", "with": {{"run": "{run}", "x": 1}}, "expect": "reply.v > 3", "wait": "2 s", "times": 3}}"#
            );
            step.metadata.insert("verify", control(&verify));
        }
        _ => {}
    }
}

/// Whose run it is: some belong to nobody.
pub(crate) fn owner_of(run: &str) -> Option<&'static str> {
    let number: usize = run.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    [None, Some("ann"), Some("bob")][number % 3]
}

fn draw_session(id: &str, catalogue: &Arc<Catalogue>, templates: &Arc<Templates>, random: &mut Random) -> PlottedRun {
    let turns = (0..random.below(4)).map(|_| {
        let calls = (0..=random.below(2)).map(|_| {
            let (capability, _) = *random.pick(&CAPABILITIES);
            (format!("t__{capability}"), Value::Object(draw_parameters(id, capability, random)).to_string())
        });
        calls.collect()
    });
    let turns = turns.collect();
    let started = SessionStarted {
        run: id.into(),
        agent: "clerk".to_owned(),
        prompt: "You are a clerk.".to_owned(),
        input: request(id),
        attachments: Vec::new(),
        metadata: Metadata::default(),
        agents: Vec::new(),
        catalogue: Arc::clone(catalogue),
        unavailable: Vec::new(),
        targets: vec!["a".into(), "b".into()],
        rules: SessionRules { max_turns: 5, ..SessionRules::default() },
        policy: Arc::new(draw_policy(random)),
        templates: Arc::clone(templates),
        words: Arc::new(SessionTexts::default()),
        seed: random.next(),
        trace_parent: None,
        fork: None,
        machine_version: MACHINE_VERSION,
    };
    PlottedRun { id: id.into(), start: started.into(), plan: None, turns }
}
