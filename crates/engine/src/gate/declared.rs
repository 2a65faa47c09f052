//! What the configuration declares for the gate: the roles of parameters, and the results that its owner vouches for.

use reknit_mend::schemas_at;
use reknit_protocol::{Object, Path, Segment, SideEffect, Value};

use super::role::{RoleGuess, find_role, longest_name, type_word};
use crate::approval_rules::names_capability;
use crate::declared_roles::ParameterRole;
use crate::policy::SideEffectPolicy;
use crate::result_handle::response_data;

/// How deep roles are shown.
const DEEPEST: usize = 8;
/// How many roles are shown: a schema that contains itself in several places has no end.
const MOST_SHOWN: usize = 500;

/// The role of a parameter and how it was found, as people read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRole {
    pub parameter: String,
    pub role: String,
    pub source: String,
}

impl SideEffectPolicy {
    /// The role of a parameter that the configuration declares. The first entry that matches counts.
    pub(crate) fn declared_role(&self, tool: &str, capability: &str, parameter: &str) -> Option<ParameterRole> {
        let rule = self
            .roles
            .iter()
            .find(|rule| covers(&rule.parameter, parameter) && names_capability(&rule.capability, tool, capability))?;
        Some(rule.role)
    }

    /// Whether a value is a whole field, of a result of a capability, that the configuration trusts.
    pub(crate) fn trusts(&self, tool: &str, capability: &str, result: &Value, value: &Value) -> bool {
        let fields = self.trusted_fields(tool, capability);
        fields.is_some_and(|fields| has_field(&response_data(result), "", &fields, value))
    }

    /// What the configuration trusts of the results of a capability: `None` for nothing, no field for everything.
    pub fn trusted_fields(&self, tool: &str, capability: &str) -> Option<Vec<&str>> {
        let rules = self.trust.iter().filter(|rule| names_capability(&rule.capability, tool, capability));
        let lists: Vec<&[String]> = rules.map(|rule| rule.fields.as_slice()).collect();
        let is_whole = lists.iter().any(|fields| fields.is_empty());
        let fields = || lists.iter().copied().flatten().map(String::as_str).collect();
        (!lists.is_empty()).then(|| if is_whole { Vec::new() } else { fields() })
    }

    /// The role of each parameter that a schema names, and how it was found.
    pub fn shown_roles(&self, tool: &str, capability: &str, class: SideEffect, schema: &Value) -> Vec<ShownRole> {
        let mut shown = Vec::new();
        self.show_properties((tool, capability, class), schema, &Path::root(), &mut shown);
        shown
    }

    fn show_properties(&self, of: (&str, &str, SideEffect), root: &Value, at: &Path, shown: &mut Vec<ShownRole>) {
        let (tool, capability, class) = of;
        let properties = schemas_at(root, at).into_iter().find_map(|schema| schema.get("properties")?.as_object());
        let siblings: Object =
            properties.into_iter().flat_map(Object::keys).map(|name| (name.to_owned(), Value::Null)).collect();
        for name in properties.into_iter().flat_map(Object::keys) {
            if shown.len() >= MOST_SHOWN {
                return;
            }
            let at = at.key(name);
            let item = at.index(0);
            let is_list = !schemas_at(root, &item).is_empty();
            let at = if is_list { item } else { at };
            let schemas = &schemas_at(root, &at);
            let is_object = schemas.iter().any(|schema| schema.get("properties").is_some());
            // A schema may contain itself.
            if is_object && at.segments().len() < DEEPEST {
                self.show_properties(of, root, &at, shown);
                continue;
            }
            let parameter = key_path(&at);
            let configured = self.declared_role(tool, capability, &parameter);
            let role_of =
                |value: &Value| find_role(RoleGuess { configured, class, name, value, schemas, siblings: &siblings });
            let listed = schemas.iter().find_map(|schema| schema.get("enum")?.as_array()?.first());
            let short = match schemas.iter().find_map(|schema| type_word(schema)) {
                _ if listed.is_some() => listed.cloned().unwrap_or_default(),
                Some("boolean") => Value::Bool(true),
                Some("number" | "integer") => Value::from(1),
                _ => Value::from("a"),
            };
            let (role, source) = role_of(&short);
            let long =
                short.as_str().filter(|_| listed.is_none()).map(|_| role_of(&Value::from(longest_name() + "a")).0);
            let role = match long.filter(|long| *long != role) {
                Some(long) => format!("{role}, or {long} if it is long"),
                None => role.to_string(),
            };
            shown.push(ShownRole { parameter, role, source: source.to_string() });
        }
    }
}

/// Whether a result has the value as a whole field that is one of `fields`; all fields if there are none.
fn has_field(result: &Value, at: &str, fields: &[&str], value: &Value) -> bool {
    let is_listed = || fields.is_empty() || fields.iter().any(|known| covers(known, at));
    match result {
        Value::Object(object) => object.iter().any(|(name, inner)| {
            let at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            has_field(inner, &at, fields, value)
        }),
        Value::Array(items) => items.iter().any(|item| has_field(item, at, fields, value)),
        scalar => scalar == value && is_listed(),
    }
}

/// Whether a rule for `known` is also one for this place: the same or a part of it.
fn covers(known: &str, place: &str) -> bool {
    place.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A place without the numbers of items: `lines.price` for `lines[0].price`.
pub(crate) fn key_path(at: &Path) -> String {
    let keys = at.segments().iter().filter_map(|segment| match segment {
        Segment::Key(name) => Some(name.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_found_through_references_alternatives_and_lists() {
        let schema = Value::parse(
            r##"{"properties": {"who": {"$ref": "#/$defs/mail"}, "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "text": {"$ref": "#/$defs/text", "x-reknit-role": "content"}, "boss": {"$ref": "#/$defs/person"},
                "copies": {"type": "array", "items": {"$ref": "#/$defs/mail"}}},
                "$defs": {"mail": {"type": "string", "format": "email"}, "text": {"type": ["string", "null"]},
                "person": {"properties": {"mail": {"$ref": "#/$defs/mail"}, "boss": {"$ref": "#/$defs/person"}}}}}"##,
        );
        let shown = SideEffectPolicy::default().shown_roles("t", "c", SideEffect::Keyed, &schema.expect("JSON"));
        let roles: Vec<String> = shown.iter().take(4).map(|role| format!("{} {}", role.parameter, role.role)).collect();
        assert_eq!(roles, ["who target", "count quantity", "text content", "boss.mail target"]);
        assert_eq!(shown.last().map(|role| role.role.as_str()), Some("target"), "{shown:?}");
        assert!(shown.len() < 20, "a schema that contains itself is shown to a depth: {shown:?}");

        let names: Vec<String> = (0..40).map(|n| format!(r##""p{n}": {{"$ref": "#"}}"##)).collect();
        let schema = Value::parse(&format!(r#"{{"properties": {{{}}}}}"#, names.join(", "))).expect("JSON");
        let shown = SideEffectPolicy::default().shown_roles("t", "c", SideEffect::Unknown, &schema);
        assert_eq!(shown.len(), MOST_SHOWN);
    }
}
