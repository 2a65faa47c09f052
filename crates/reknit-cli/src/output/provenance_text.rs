//! Where the value of a parameter comes from, as text.

use reknit_expressions::{Backing, InputSource, Provenance, ResolvedBy};
use reknit_plan::ITEM;
use reknit_protocol::{Path, StepId};

use crate::output::one_line;

const VALUE_COLUMNS: usize = 160;

/// Where a value comes from.
pub(crate) fn origin_text(origin: &Provenance) -> String {
    match origin {
        Provenance::Literal => "from the plan".to_owned(),
        Provenance::Reference { step, path } => format!("from {}", source_text(step, path)),
        Provenance::Wired { step, path } => format!("wired from {}", source_text(step, path)),
        Provenance::Expression { text, inputs, .. } => {
            let inputs: Vec<String> = inputs
                .iter()
                .map(|input| match &input.source {
                    InputSource::Literal => input.value.to_string(),
                    InputSource::Reference { step, path } => {
                        format!("{} from {}", input.value, source_text(step, path))
                    }
                })
                .collect();
            one_line(&format!("computed: {text}, with {}", inputs.join(" and ")), VALUE_COLUMNS)
        }
        Provenance::Text { .. } => "text that contains results".to_owned(),
        Provenance::Nested { .. } => "built from results".to_owned(),
        Provenance::Resolved { by: ResolvedBy::Model, origin } => format!("{}, found by a model", origin_text(origin)),
        Provenance::Resolved { by: ResolvedBy::Learned, origin } => {
            format!("{}, as in an earlier run; no person has accepted this rule", origin_text(origin))
        }
        Provenance::Resolved { by: ResolvedBy::Accepted, origin } => {
            format!("{}, accepted mapping", origin_text(origin))
        }
        Provenance::Inferred => "inferred by a model".to_owned(),
        Provenance::Person => "written by a person".to_owned(),
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => format!("corrected by {rung}"),
            Backing::Explained { text } => {
                one_line(&format!("corrected by {rung}; {text} gives the same value"), VALUE_COLUMNS)
            }
            Backing::Rule { rule, text } => one_line(&format!("{text}, by the learned rule {rule}"), VALUE_COLUMNS),
            Backing::Inferred => format!("inferred by a model ({rung})"),
        },
    }
}

/// A value inside the result of a step, or inside the item of a loop.
fn source_text(step: &StepId, path: &Path) -> String {
    match step.as_str() {
        ITEM if path.is_root() => "the item of the loop".to_owned(),
        ITEM => format!("the item of the loop at {path}"),
        step => format!("{step} at {path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_from_the_item_of_a_loop_is_said_to_be_that() {
        let from = |path: Path| origin_text(&Provenance::Reference { step: ITEM.into(), path });
        assert_eq!(from(Path::root()), "from the item of the loop");
        assert_eq!(from(Path::root().key("id")), "from the item of the loop at $.id");
        let other = Provenance::Reference { step: "order".into(), path: Path::root().key("id") };
        assert_eq!(origin_text(&other), "from order at $.id");
    }
}
