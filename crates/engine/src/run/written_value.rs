//! How the plan writes a value that was fitted to its schema. The mends of the step say it, so nothing else is stored.

use reknit_expressions::Provenance;
use reknit_mend::Rung;
use reknit_protocol::Path;

use super::view::StepView;
use crate::question_facts::describe_origin;

impl StepView {
    /// Where the value of a parameter comes from, in words: `from the plan, where it is "North"`.
    pub fn describe_origin(&self, parameter: &str) -> Option<String> {
        let (_, origin) = self.provenance.iter().find(|(known, _)| known == parameter)?;
        let words = describe_origin(origin);
        Some(match self.written_in_plan(parameter) {
            Some(written) => format!("{words}, where it is {written}"),
            None => words,
        })
    }

    /// The JSON in the plan, if another spelling of it is in the call.
    pub fn written_in_plan(&self, parameter: &str) -> Option<&str> {
        let is_of_plan = |(known, origin): &(String, Provenance)| known == parameter && *origin == Provenance::Literal;
        if !self.provenance.iter().any(is_of_plan) {
            return None;
        }
        let place = format!("{}: ", Path::root().key(parameter));
        let sent = format!(" -> {}", self.parameters.get(parameter)?);
        let mut fits = self.mends.iter().rev().filter(|mend| mend.rung == Rung::Schema && mend.is_applied());
        fits.find_map(|mend| written_before(&mend.description, &place, &sent))
    }
}

/// The text between a place and the value that was sent in a list such as `$.a: "5" -> 5; $.b: "North" -> "north"`.
fn written_before<'a>(changes: &'a str, place: &str, sent: &str) -> Option<&'a str> {
    let is_first = |at: usize| at == 0 || changes.get(..at).is_some_and(|before| before.ends_with("; "));
    let (at, _) = changes.match_indices(place).find(|(at, _)| is_first(*at))?;
    let rest = changes.get(at + place.len()..)?;
    let ends =
        |at: usize| rest.get(at + sent.len()..).is_some_and(|after| after.is_empty() || after.starts_with("; $"));
    let (end, _) = rest.match_indices(sent).find(|(at, _)| ends(*at))?;
    rest.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_value_is_read_from_the_changes() {
        let changes = r#"$.a: "5" -> 5; $.region: "x; $.a: 1 -> 2" -> "x"; $.aa: "7" -> 7"#;
        for (place, sent, expected) in [
            ("$.a: ", " -> 5", Some("\"5\"")),
            ("$.aa: ", " -> 7", Some("\"7\"")),
            ("$.region: ", " -> \"x\"", Some(r#""x; $.a: 1 -> 2""#)),
            ("$.a: ", " -> 6", None),
            ("$.b: ", " -> 5", None),
            ("$.gion: ", " -> \"x\"", None),
        ] {
            assert_eq!(written_before(changes, place, sent), expected, "{place}{sent}");
        }
    }
}
