//! The ways in which models write plans that are not quite in our language.

use reknit_protocol::{Object, Value};

use crate::domains::{Scenario, ScenarioStep};

/// A damaged plan of a scenario.
pub struct DamagedPlan {
    pub kind: &'static str,
    /// The damage itself, such as `${ID.PATH}`.
    pub damage: &'static str,
    pub text: String,
}

/// Spellings of a reference, by kind. `ID` is the step, `.PATH` the path as in `a.items[0].id`, `/PATH` as in `a/items/0/id`.
const SPELLINGS: [(&str, &str); 62] = [
    ("braces", "{{ID.PATH}}"),
    ("braces", "{{ ID.PATH }}"),
    ("dollar", "$ID.PATH"),
    ("dollar", "$ID.PATH$"),
    ("dollar", "$ID.result.PATH"),
    ("dollar", "$ID.output.PATH"),
    ("shell", "${ID.PATH}"),
    ("shell", "$(ID.PATH)"),
    ("shell", "${ID.output.PATH}"),
    ("shell", "${steps.ID.PATH}"),
    ("one brace", "{ID.PATH}"),
    ("one brace", "{ ID.PATH }"),
    ("one brace", "{ID.result.PATH}"),
    ("one brace", "{steps.ID.output.PATH}"),
    ("more braces", "{{{ID.PATH}}}"),
    ("more braces", "{{{{ID.PATH}}}}"),
    ("more braces", "{{ {ID.PATH} }}"),
    ("angle", "<ID.PATH>"),
    ("angle", "<<ID.PATH>>"),
    ("angle", "<%= ID.PATH %>"),
    ("square", "[[ID.PATH]]"),
    ("square", "[ID.PATH]"),
    ("bare", "ID.PATH"),
    ("bare", "ID.output.PATH"),
    ("bare", "steps.ID.output.PATH"),
    ("bare", "results.ID.PATH"),
    ("bare", "outputs.ID.PATH"),
    ("sign", "@ID.PATH"),
    ("sign", "#ID.PATH"),
    ("sign", "%ID.PATH%"),
    ("sign", "#{ID.PATH}"),
    ("sign", "@{ID.PATH}"),
    ("actions", "${{ID.PATH}}"),
    ("actions", "${{ steps.ID.outputs.PATH }}"),
    ("actions", "${{ needs.ID.outputs.PATH }}"),
    ("json path", "$.ID.PATH"),
    ("json path", "$.steps.ID.PATH"),
    ("json path", "$.ID.output.PATH"),
    ("json path", "$['ID'].PATH"),
    ("n8n", "{{ $json.PATH }}"),
    ("n8n", "{{ $node[\"ID\"].json.PATH }}"),
    ("n8n", "={{ $('ID').item.json.PATH }}"),
    ("n8n", "$node[\"ID\"].json.PATH"),
    ("jinja", "{{ steps.ID.output.PATH }}"),
    ("jinja", "{{ ID.PATH | trim }}"),
    ("jinja", "{% ID.PATH %}"),
    ("jinja", "{{ outputs['ID'].PATH }}"),
    ("envelope", "{{ID.data.PATH}}"),
    ("envelope", "{{ID.result.PATH}}"),
    ("envelope", "{{ID.response.PATH}}"),
    ("envelope", "{{ID.output.PATH}}"),
    ("envelope", "{{ID.outputs.PATH}}"),
    ("whole step", "$ID"),
    ("whole step", "#ID"),
    ("whole step", "{ID}"),
    ("whole step", "<ID>"),
    ("call", "@{outputs('ID')?['PATH']}"),
    ("call", "${ID.PATH.toString()}"),
    ("call", "result_of('ID').PATH"),
    ("only the field", "{PATH}"),
    ("only the field", "$PATH"),
    ("words", "<PATH from ID>"),
];

/// Spellings of a whole value as an object. `ID`, `PATH` as above.
const OBJECTS: [(&str, &str); 9] = [
    ("object", r#"{"$ref": "ID.PATH"}"#),
    ("object", r##"{"$ref": "#/steps/ID/outputs/PATH"}"##),
    ("object", r#"{"ref": "ID.PATH"}"#),
    ("object", r#"{"step": "ID", "field": "PATH"}"#),
    ("object", r#"{"step_id": "ID", "path": "PATH"}"#),
    ("object", r#"{"from_step": "ID", "output": "PATH"}"#),
    ("object", r#"{"type": "reference", "step": "ID", "path": "PATH"}"#),
    ("object", r#"{"source": "ID", "key": "PATH"}"#),
    ("object", r#"{"$from": "ID.PATH"}"#),
];

/// All damaged plans of a scenario.
pub fn damaged_plans(scenario: &Scenario) -> Vec<DamagedPlan> {
    let mut plans = Vec::new();
    for (kind, damage) in SPELLINGS {
        let steps = scenario.steps.iter().map(|step| with_references(step, |id, path| spell(damage, id, path)));
        plans.push(DamagedPlan { kind, damage, text: written(&steps.collect::<Vec<_>>()) });
    }
    for (kind, damage) in OBJECTS {
        let steps = scenario.steps.iter().map(|step| with_objects(step, damage));
        plans.push(DamagedPlan { kind, damage, text: written(&steps.collect::<Vec<_>>()) });
    }
    let right: Vec<ScenarioStep> =
        scenario.steps.iter().map(|step| with_references(step, |id, path| spell("{{ID.PATH}}", id, path))).collect();
    for (damage, change) in names() {
        plans.push(DamagedPlan { kind: "names", damage, text: written(&right.iter().map(change).collect::<Vec<_>>()) });
    }
    for (damage, change) in texts() {
        plans.push(DamagedPlan { kind: "json", damage, text: change(&written(&right)) });
    }
    plans
}

fn spell(damage: &str, id: &str, path: &str) -> String {
    // A key with a space cannot follow a dot in our own language.
    let (id_path, path) = match path.contains(' ') && damage.starts_with("{{ID") {
        true => (format!("{id}[\"{path}\"]"), format!("[\"{path}\"]")),
        false => (format!("{id}.{path}"), path.to_owned()),
    };
    // A step whose id is a number needs brackets or a path after it in our own language, and has the path here.
    let damage = damage
        .replace("ID.PATH", &id_path)
        .replace("/PATH", &format!("/{}", path.replace(['.', '['], "/").replace(']', "")));
    if path.starts_with('[') { damage.replace(".PATH", &path) } else { damage }.replace("PATH", &path).replace("ID", id)
}

/// The step with each `«id.path»` replaced.
fn with_references(step: &ScenarioStep, spell: impl Fn(&str, &str) -> String) -> ScenarioStep {
    let mut step = step.clone();
    for (_, value) in step.parameters.iter_mut() {
        let Some(text) = value.as_str() else { continue };
        let mut parts = text.split(['«', '»']);
        let mut new = parts.next().unwrap_or_default().to_owned();
        while let (Some(reference), Some(after)) = (parts.next(), parts.next()) {
            let (id, path) = reference.split_once('.').expect("a step and a path");
            new.push_str(&spell(id, path));
            new.push_str(after);
        }
        *value = new.into();
    }
    step
}

/// The step with each parameter that is only a reference written as an object.
fn with_objects(step: &ScenarioStep, damage: &str) -> ScenarioStep {
    let mut step = step.clone();
    for (_, value) in step.parameters.iter_mut() {
        let whole = value.as_str().and_then(|text| text.strip_prefix('«')?.strip_suffix('»'));
        let Some((id, path)) = whole.filter(|text| !text.contains('«')).and_then(|text| text.split_once('.')) else {
            continue;
        };
        let text = spell(damage, id, path);
        *value = Value::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    with_references(&step, |id, path| spell("{{ID.PATH}}", id, path))
}

type ChangeStep = fn(&ScenarioStep) -> ScenarioStep;

/// Damage to names and plain values.
fn names() -> Vec<(&'static str, ChangeStep)> {
    vec![
        ("functions.NAME", |step| ScenarioStep {
            capability: format!("functions.{}", step.capability),
            ..step.clone()
        }),
        ("NAME()", |step| ScenarioStep { capability: format!("{}()", step.capability), ..step.clone() }),
        ("tool.NAME without a tool", |step| ScenarioStep {
            tool: String::new(),
            capability: format!("tool.{}", step.capability),
            ..step.clone()
        }),
        ("**NAME**", |step| ScenarioStep { capability: format!("**{}**", step.capability), ..step.clone() }),
        ("`TOOL`", |step| ScenarioStep { tool: format!("`{}`", step.tool), ..step.clone() }),
        ("**value**", |step| with_values(step, |text| format!("**{text}**"))),
        ("`value`", |step| with_values(step, |text| format!("`{text}`"))),
        ("**parameter**", |step| {
            let parameters = step.parameters.iter().map(|(name, value)| (format!("**{name}**"), value.clone()));
            ScenarioStep { parameters: parameters.collect(), ..step.clone() }
        }),
        ("NAME in capitals", |step| ScenarioStep { capability: step.capability.to_uppercase(), ..step.clone() }),
    ]
}

/// Changes the plain values that are no text for people.
fn with_values(step: &ScenarioStep, change: impl Fn(&str) -> String) -> ScenarioStep {
    let mut step = step.clone();
    for (name, value) in step.parameters.iter_mut() {
        let is_text = ["text", "message", "body", "content", "comment", "note", "description"].contains(&name);
        if let Some(text) = value.as_str().filter(|text| !is_text && !text.contains("{{")) {
            *value = change(text).into();
        }
    }
    step
}

type ChangeText = fn(&str) -> String;

/// Damage to the JSON itself.
fn texts() -> Vec<(&'static str, ChangeText)> {
    vec![
        ("prose and a fence", |text| format!("Sure, here is the plan:\n```json\n{text}\n```\nShall I run it?")),
        ("comments", |text| text.replace("\"steps\":", "// the steps\n\"steps\":")),
        ("trailing commas", |text| text.replace("}]", "},]")),
        ("single quotes", |text| if text.contains('\'') { text.to_owned() } else { text.replace('"', "'") }),
    ]
}

/// The plan as the planner's format has it.
fn written(steps: &[ScenarioStep]) -> String {
    let steps = steps.iter().map(|step| {
        let metadata = Object::from([
            ("capability", Value::from(step.capability.as_str())),
            ("parameters", Value::Object(step.parameters.clone())),
        ]);
        Value::Object(Object::from([
            ("step_id", Value::from(step.id.as_str())),
            ("agent_name", step.tool.as_str().into()),
            ("depends_on", step.after.iter().map(|id| Value::from(id.as_str())).collect()),
            ("metadata", Value::Object(metadata)),
        ]))
    });
    Value::Object(Object::from([("steps", steps.collect::<Value>())])).to_string()
}
