//! Where the value of a parameter comes from, as text.

use reknit_bind::{Backing, InputSource, Provenance, ResolvedBy};

use crate::terminal_text::one_line;

/// The width to which a value is cut, in columns.
const VALUE_COLUMNS: usize = 160;

/// Where a value comes from.
pub(crate) fn origin_text(origin: &Provenance) -> String {
    match origin {
        Provenance::Literal => "from the plan".to_owned(),
        Provenance::Reference { step, path } => format!("from {step} at {path}"),
        Provenance::Wired { step, path } => format!("wired from {step} at {path}"),
        Provenance::Expression { text, inputs, .. } => {
            let inputs: Vec<String> = inputs
                .iter()
                .map(|input| match &input.source {
                    InputSource::Literal => input.value.to_string(),
                    InputSource::Reference { step, path } => format!("{} from {step} at {path}", input.value),
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
            Backing::Inferred => format!("inferred by a model ({rung})"),
        },
    }
}
