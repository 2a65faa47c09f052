//! What the configuration declares about parameters and results.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// What a parameter is for, the role that needs a person most first: of two roles of a value, the first one counts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ParameterRole {
        /// Who, where or which: a wrong one means another person, place or thing.
        Target = "target",
        /// How much: a wrong one means another sum.
        Quantity = "quantity",
        /// What the call does: `dry_run`.
        Switch = "switch",
        Content = "content",
    }
}

/// The role of a parameter that the configuration declares: an entry of `[[roles]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleRule {
    /// `tool/capability` or `tool`; `*` stands for any text.
    pub capability: String,
    /// The parameter or a part of it, without the numbers of items: `payment.to.iban`.
    pub parameter: String,
    pub role: ParameterRole,
}

/// Results whose values count as evidence: an entry of `[[trust]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRule {
    /// `tool/capability` or `tool`; `*` stands for any text.
    pub capability: String,
    /// The fields, without the numbers of items: `customer.email`. The whole result if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}
