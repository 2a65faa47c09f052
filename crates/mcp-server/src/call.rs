//! One call of a capability, as a run with one step.

use std::sync::Arc;

use reknit::runtime::Runtime;
use reknit_engine::{Policy, Started, Synthesis};
use reknit_protocol::{Object, Plan, PlanInput, Step, Value};

use crate::offer::OfferedCapability;

pub(crate) const STEP: &str = "call";

/// The start of a run that makes one call. The arguments are inputs of the plan, so that a text in them that looks like a reference
/// is sent as it is.
pub(crate) fn start_of_call(runtime: &Runtime, called: &OfferedCapability, arguments: &Object) -> Started {
    let key = format!("{}/{}", called.tool, called.capability);
    let (mut parameters, mut inputs) = (Object::new(), Object::new());
    for (at, (name, value)) in arguments.iter().enumerate() {
        if *value == Value::Null {
            parameters.insert(name, Value::Null);
        } else {
            let input = if is_plain(name) { name.to_owned() } else { format!("argument_{at}") };
            parameters.insert(name, format!("{{{{inputs.{input}}}}}"));
            inputs.insert(input, value.clone());
        }
    }
    let step = Step::new(STEP, called.tool.clone(), called.capability.as_str(), "").with_parameters(parameters);
    // What the client wants is all in the call: it supports corrections.
    let request = format!("{key} {}", Value::Object(arguments.clone()));
    let mut plan = Plan::new(key, request.as_str(), vec![step]);
    plan.inputs = inputs.iter().map(|(name, _)| (name.to_owned(), PlanInput::default())).collect();
    let started = runtime.started(&request, Some(plan));
    Started { inputs, policy: without_written_answer(&started.policy), ..started }
}

/// The policy of a run whose result is read by a program: no model writes an answer.
pub(crate) fn without_written_answer(policy: &Policy) -> Arc<Policy> {
    Arc::new(Policy { synthesis: Synthesis::Template, ..policy.clone() })
}

/// Whether an expression can refer to an input of this name without quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
