//! Mappings that runs learned, for later runs.

use crate::blob::digest;

/// The length of the id of a mapping, in hexadecimal digits.
const ID_DIGITS: usize = 10;

/// Where a run found a value for a parameter that its plan left open. A newer mapping replaces an older one for the same
/// producer, consumer and parameter, unless a person has accepted the older one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMapping {
    /// The capability whose answer had the value.
    pub producer: String,
    /// The capability whose parameter took the value.
    pub consumer: String,
    pub parameter: String,
    /// The expression that finds the value in the answer, returned byte for byte.
    pub expression: String,
}

/// Before the producer of a mapping that only the runs of one owner use.
const OWNER: &str = "owner:";

impl StoredMapping {
    /// The mapping as it is stored for the runs of an owner: nobody learns from the runs of others.
    pub(crate) fn of_owner(&self, owner: Option<&str>) -> Self {
        let Some(owner) = owner else { return self.clone() };
        Self { producer: format!("{}{}", owner_prefix(owner), self.producer), ..self.clone() }
    }

    /// An id that follows from all fields: a mapping with another expression has another id, so nobody accepts what they have
    /// not seen.
    pub fn id(&self) -> String {
        // The lengths keep apart what belongs to different fields.
        let fields = [&self.producer, &self.consumer, &self.parameter, &self.expression];
        let text = fields.map(|field| format!("{}:{field}", field.len())).concat();
        digest(&text).chars().take(ID_DIGITS).collect()
    }
}

fn owner_prefix(owner: &str) -> String {
    format!("{OWNER}{}/", digest(owner))
}

/// A mapping in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedMapping {
    pub mapping: StoredMapping,
    /// When a run learned it, in milliseconds since 1970.
    pub learned_ms: i64,
    /// When a person accepted it. Until then it is only inferred.
    pub accepted_ms: Option<i64>,
}

impl LearnedMapping {
    /// The mapping as runs of this owner use it. `None` if others learned it, unless a person has accepted it for all.
    pub(crate) fn for_owner(self, owner: Option<&str>) -> Option<Self> {
        let producer = &self.mapping.producer;
        if let Some(own) = owner.and_then(|owner| producer.strip_prefix(&owner_prefix(owner))) {
            let producer = own.to_owned();
            return Some(Self { mapping: StoredMapping { producer, ..self.mapping }, ..self });
        }
        let is_for_all = !producer.starts_with(OWNER) && (owner.is_none() || self.accepted_ms.is_some());
        is_for_all.then_some(self)
    }
}
