//! A plan that runs at once, over the tools of a new configuration.

use reknit_plan::{Catalogue, CatalogueEntry};
use reknit_protocol::{Object, SideEffect, Value};

use crate::setup::entries;

const DEMO: &str = "\
# Run it with `reknit run plan.yaml`, or with a value of your own: `reknit run plan.yaml --input shares=200`.
request: What are my shares worth in won?
inputs:
  shares: 100
steps:
  - id: quote
    tool: stock-tool/get_stock_quote
    with: {symbol: TSLA}
  - id: convert
    tool: currency-tool/convert_currency
    with: {amount: \"{{inputs.shares * quote.current_price}}\", from: USD, to: KRW}
    expect: result.converted > 0
outputs:
  won: convert.converted
";

const WITHOUT_TOOLS: &str = "\
# No tool that only reads was found, so this plan computes. `reknit tools list` lists the tools; docs/plans.md describes plans.
request: How much is a dozen at 2.50?
inputs:
  price: 2.5
steps:
  - id: total
    compute: {amount: \"{{12 * inputs.price}}\"}
outputs:
  amount: total.amount
";

/// How the names of capabilities begin that only read.
const READING_WORDS: [&str; 10] =
    ["get", "list", "read", "search", "find", "show", "describe", "count", "query", "fetch"];

/// A plan, and how it is run.
#[derive(Debug)]
pub(super) struct FirstPlan {
    pub(super) text: String,
    /// For people.
    pub(super) shown: String,
    /// What the command needs besides the name of the file.
    pub(super) arguments: String,
}

impl FirstPlan {
    pub(super) fn of_demo() -> Self {
        let shown = "two calls: the price of a share, and the worth of many in won".to_owned();
        Self { text: DEMO.to_owned(), shown, arguments: String::new() }
    }

    /// A plan with one call that only reads, of the capability that needs the fewest values.
    pub(super) fn of_catalogue(catalogue: &Catalogue) -> Self {
        let reading = entries(catalogue).filter(|(_, entry)| only_reads(entry));
        let is_open = |(_, input): &&(String, Object)| input.get("default").is_none();
        let reading = reading.map(|(tool, entry)| (tool.key(entry), required_inputs(entry)));
        let needed = |inputs: &[(String, Object)]| (inputs.iter().filter(is_open).count(), inputs.len());
        let Some((call, inputs)) = reading.min_by_key(|(_, inputs)| needed(inputs)) else {
            let shown = "a computation; no tool that only reads was found".to_owned();
            return Self { text: WITHOUT_TOOLS.to_owned(), shown, arguments: String::new() };
        };
        let unknown = inputs.iter().filter(is_open);
        let arguments = unknown.map(|(name, _)| format!(" --input {name}=...")).collect::<Vec<_>>().concat();
        Self { text: one_call(&call, &inputs), shown: format!("one call, of {call}"), arguments }
    }
}

/// Whether a call only reads: as it is declared, or as its name says if nothing is declared.
fn only_reads(entry: &CatalogueEntry) -> bool {
    let capability = &entry.capability;
    let name = capability.name.as_str().to_ascii_lowercase();
    let says_so = READING_WORDS.iter().any(|word| name.starts_with(word));
    let reads = capability.effect == SideEffect::Read || capability.effect.is_undeclared() && says_so;
    reads && !capability.internal && entry.withheld.is_none()
}

fn required_inputs(entry: &CatalogueEntry) -> Vec<(String, Object)> {
    let Some(schema) = entry.json_schema() else { return Vec::new() };
    let input = |name: String| {
        let property = schema.get("properties").and_then(|all| all.get(&name)).cloned().unwrap_or_default();
        let mut input = Object::new();
        let types = ["string", "number", "integer", "boolean", "array", "object"];
        if let Some(word) = property.get("type").and_then(Value::as_str).filter(|word| types.contains(word)) {
            input.insert("type", word);
        }
        if let Some(value) = example(&property) {
            input.insert("default", value);
        }
        if let Some(text) = property.get("description").and_then(Value::as_str) {
            input.insert("description", text);
        }
        (name, input)
    };
    entry.required_parameters().into_iter().map(input).collect()
}

/// A value that the schema itself names.
fn example(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key)?.as_array()?.first().cloned();
    let named = schema.get("default").or_else(|| schema.get("const")).or_else(|| schema.get("example")).cloned();
    named.or_else(|| first("examples")).or_else(|| first("enum"))
}

/// JSON is YAML, so names and values are quoted as in JSON.
fn one_call(call: &str, inputs: &[(String, Object)]) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let mut text = format!("# One call that only reads.\nrequest: {}\n", quoted(&format!("Try {call}.")));
    if !inputs.is_empty() {
        text += "inputs:\n";
        text.extend(inputs.iter().map(|(name, input)| format!("  {}: {input}\n", quoted(name))));
    }
    let parameters = |(name, _): &(String, Object)| (name.clone(), Value::from(format!("{{{{{}}}}}", reference(name))));
    let parameters: Object = inputs.iter().map(parameters).collect();
    text + &format!(
        "steps:\n  - id: call\n    tool: {}\n    with: {parameters}\noutputs:\n  result: call\n",
        quoted(call)
    )
}

/// The expression for an input.
fn reference(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_plain { format!("inputs.{name}") } else { format!("inputs[{}]", Value::from(name)) }
}

#[cfg(test)]
mod tests {
    use reknit_plan::{CatalogueTool, read_plan_file};
    use reknit_protocol::Capability;

    use super::*;

    fn entry(name: &str, effect: SideEffect, schema: &str) -> CatalogueEntry {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        CatalogueEntry::new(capability, Some(Value::parse(schema).expect("JSON"))).expect("a schema")
    }

    fn catalogue(capabilities: Vec<CatalogueEntry>) -> Catalogue {
        Catalogue { tools: vec![CatalogueTool { name: "shop".into(), description: String::new(), capabilities }] }
    }

    #[test]
    fn the_reading_capability_that_needs_the_fewest_values_is_called() {
        let catalogue = catalogue(vec![
            entry("delete_all", SideEffect::Unsafe, r#"{"type": "object"}"#),
            entry("reset", SideEffect::Undeclared, r#"{"type": "object"}"#),
            entry("get", SideEffect::Read, r#"{"required": ["id"], "properties": {"id": {"type": "integer"}}}"#),
            entry(
                "list",
                SideEffect::Read,
                r#"{"required": ["sort by"], "properties": {"sort by": {"type": "string", "enum": ["price", "name"]}}}"#,
            ),
        ]);
        let plan = FirstPlan::of_catalogue(&catalogue);
        insta::assert_snapshot!(plan.text, @r#"
        # One call that only reads.
        request: "Try shop/list."
        inputs:
          "sort by": {"type":"string","default":"price"}
        steps:
          - id: call
            tool: "shop/list"
            with: {"sort by":"{{inputs[\"sort by\"]}}"}
        outputs:
          result: call
        "#);
        assert_eq!((plan.shown.as_str(), plan.arguments.as_str()), ("one call, of shop/list", ""));
    }

    #[test]
    fn an_undeclared_capability_is_called_only_if_its_name_says_that_it_reads() {
        let undeclared = |name| catalogue(vec![entry(name, SideEffect::Undeclared, r#"{"type": "object"}"#)]);
        assert_eq!(FirstPlan::of_catalogue(&undeclared("list_pets")).shown, "one call, of shop/list_pets");
        assert!(FirstPlan::of_catalogue(&undeclared("wipe_disk")).shown.starts_with("a computation"));
    }

    #[test]
    fn a_value_that_nobody_knows_is_an_argument_of_the_command() {
        let get = entry("get", SideEffect::Read, r#"{"required": ["id"], "properties": {"id": {"type": "integer"}}}"#);
        assert_eq!(FirstPlan::of_catalogue(&catalogue(vec![get])).arguments, " --input id=...");
    }

    #[test]
    fn every_plan_can_be_read() {
        let get = entry("get", SideEffect::Read, r#"{"required": ["a b", "n"], "properties": {"n": {"default": 7}}}"#);
        for plan in [
            FirstPlan::of_demo(),
            FirstPlan::of_catalogue(&catalogue(Vec::new())),
            FirstPlan::of_catalogue(&catalogue(vec![get])),
        ] {
            assert!(read_plan_file(&plan.text).is_ok(), "{}", plan.text);
        }
    }
}
