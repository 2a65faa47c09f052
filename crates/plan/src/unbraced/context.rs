//! What is known about the parameter that a text is written for.

use reknit_protocol::spelling::folded;
use reknit_protocol::{Segment, Value};

use super::is_listed;
use crate::StepIndex;

/// Parameters that hold text for people, in any language and with any signs.
const FREE_TEXT: &str = "text message body content comment note description prompt";

/// Parameters that hold code or patterns, in which `$1`, `{name}` or `*word*` have a meaning of their own.
const CODE: &str = "code script sql regex regexp pattern expression formula template selector jsonpath xpath jq \
    glob command snippet program";

/// Parameters that hold names of fields, events or rights, which are often written with a dot.
const DOTTED_NAMES: &str = "field fields column columns path key keys sort sortby orderby groupby select event \
    events topic scope scopes property properties attribute attributes metric metrics filename";

/// Words of SQL: a text with two of them is a query and not a search for words.
const SQL: [&str; 6] = ["SELECT ", " FROM ", " WHERE ", "INSERT INTO ", "UPDATE ", "DELETE "];

/// What is known about the parameter that a text is written for.
pub(crate) struct ParameterContext<'a> {
    pub(crate) step: StepIndex,
    /// The steps that it depends on, as far as the plan says so.
    pub(crate) dependencies: &'a [StepIndex],
    /// The steps whose fields a text may mean without naming the step.
    pub(crate) nearby: &'a [StepIndex],
    /// The name of the parameter, or of the innermost field.
    pub(crate) name: &'a str,
    pub(crate) schema: Option<&'a Value>,
}

impl ParameterContext<'_> {
    /// Whether the schema lists this very text as a value.
    pub(super) fn allows(&self, text: &str) -> bool {
        let is_listed = |values: &[Value]| values.iter().any(|value| value.as_str() == Some(text));
        let schema = self.schema;
        schema.and_then(|schema| schema.get("enum")?.as_array()).is_some_and(is_listed)
            || schema.and_then(|schema| schema.get("const")?.as_str()) == Some(text)
    }

    /// Whether the value cannot be a string, as far as the schema says.
    pub(super) fn rejects_strings(&self) -> bool {
        let types = self.schema.map(crate::announced::types).unwrap_or_default();
        !types.is_empty() && !types.contains(&"string")
    }

    /// Whether signs have a meaning of their own in the text.
    pub(super) fn is_code(&self, text: &str) -> bool {
        is_pattern(self.name) || SQL.iter().filter(|word| text.to_ascii_uppercase().contains(**word)).count() > 1
    }

    /// Whether values of the parameter are often written with a dot.
    pub(super) fn has_dotted_names(&self) -> bool {
        is_listed(DOTTED_NAMES, &folded(self.name))
    }

    pub(super) fn depends_on(&self, index: StepIndex) -> bool {
        self.dependencies.contains(&index)
    }
}

pub(crate) fn is_free_text(name: &str) -> bool {
    is_listed(FREE_TEXT, &folded(name))
}

pub(crate) fn is_pattern(name: &str) -> bool {
    name.split(['_', '-', '.', ' ']).any(|word| is_listed(CODE, &folded(word)))
}

pub(crate) fn innermost_name(segments: &[Segment]) -> &str {
    let key = segments.iter().rev().find_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    key.unwrap_or_default()
}
