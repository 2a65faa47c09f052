//! Ids and names as newtypes, so that one kind cannot be passed for another.

/// Defines newtypes for ids that are strings in JSON.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Wraps any text, without validation.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(out)
            }
        }

        impl $crate::shape::Wire for $name {
            fn read(value: $crate::Value, path: &$crate::Path) -> Result<Self, $crate::ShapeError> {
                <String as $crate::shape::Wire>::read(value, path).map(Self)
            }

            fn write(&self) -> $crate::Value {
                self.as_str().into()
            }
        }

        $crate::shape::wire!($name);
    )*};
}

ids! {
    /// The id of a plan.
    PlanId,
    /// The id of one run.
    RunId,
    /// The id of a step, unique within its plan: `step-1`.
    StepId,
    /// The name of a tool or agent: `weather-service`.
    ToolName,
    /// The name of a capability, unique within its tool or agent: `get_weather`.
    CapabilityName,
    /// The name of a configured model on a server: `local`, `groq-70b`. The user chooses it, not the provider.
    TargetName,
    /// The id of a model's tool call and of its result, unique within one answer. Where a provider gives no ids, the first
    /// call of each answer is `call_1`.
    ToolCallId,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Value;

    #[test]
    fn an_id_is_a_string_in_json_and_in_messages_and_nothing_else_is_one() {
        let id = StepId::new("step-1");
        assert_eq!(id.to_value(), Value::from("step-1"));
        assert_eq!(StepId::from_value(&Value::from("step-1")), Ok(id.clone()));
        assert_eq!(format!("{id} {id:?}"), r#"step-1 "step-1""#);
        let error = StepId::from_value(&Value::from(1)).unwrap_err();
        assert_eq!(error.to_string(), "`$`: expected a string, found a number");
    }

    #[test]
    fn an_id_is_found_in_a_map_by_its_text() {
        let steps = HashMap::from([(StepId::from("a"), 1)]);
        assert_eq!(steps.get("a"), Some(&1));
    }
}
