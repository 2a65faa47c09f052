//! The faults.

use reknit_protocol::{Path, ReplyBody, Segment, Value, word_enum};

/// How many fields of a reply are damaged, one at a time.
const MAX_FIELDS: usize = 4;

/// How deep fields are looked for.
const MAX_DEPTH: usize = 4;

/// A fault at a call, at a question or of the process.
#[derive(Debug, Clone, PartialEq)]
pub enum ChaosFault {
    Tool(ToolFault),
    /// Of a call: the value at this place of the reply has another type.
    WrongType(Path),
    Model(ModelFault),
    Process(ProcessFault),
}

impl ChaosFault {
    /// The name, with the place of a damaged field.
    pub fn name(&self) -> String {
        match self {
            Self::WrongType(path) => format!("wrong type of {}", field_name(path)),
            _ => self.class().to_owned(),
        }
    }

    /// The class: the name without the place.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Tool(fault) => fault.as_str(),
            Self::WrongType(_) => "wrong type",
            Self::Model(fault) => fault.as_str(),
            Self::Process(fault) => fault.as_str(),
        }
    }
}

word_enum! {
    /// A fault of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ToolFault {
        /// The request is lost, and nobody answers in time.
        Timeout = "timeout",
        /// The call takes effect, and its answer does not arrive in time.
        LateAnswer = "timeout after the effect",
        /// The connection breaks before the call takes effect.
        Reset = "reset",
        /// The call takes effect, and the connection breaks before the answer.
        LostAnswer = "reset after the effect",
        Refused = "refused",
        /// Too many requests; a date says when the next one is welcome.
        RateLimit = "429 with a date",
        Unavailable = "503",
        /// The call takes effect, and half of the answer arrives.
        HalfBody = "half a body",
        /// The answer has status 200 and is an error.
        ErrorInSuccess = "error inside a 200",
        /// What the call refers to is not there any more.
        StaleId = "stale id",
        /// The answer arrives just before the time is over.
        Slow = "slow answer",
    }
}

word_enum! {
    /// A fault of a question to a model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ModelFault {
        Timeout = "model timeout",
        /// Too many requests; a date says when the next one is welcome.
        RateLimit = "model 429 with a date",
        Unavailable = "model 503",
        /// Half of the answer arrives, because it is too long.
        Truncated = "truncated answer",
        /// The model writes prose instead of what it was asked for.
        TextOnly = "text-only answer",
        SlowStream = "slow stream",
        /// The provider fails from now on.
        Outage = "provider outage",
    }
}

word_enum! {
    /// A fault of our own process, which is started again afterwards.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ProcessFault {
        /// It is killed before the call takes effect or the model answers.
        KilledBefore = "killed before the effect",
        /// It is killed after the call has taken effect or the model has answered, and before it knows.
        KilledAfter = "killed after the effect",
        /// It is killed, and the clock is an hour ahead when it is started again.
        ClockForward = "killed, clock an hour ahead",
        /// It is killed, and the clock is an hour behind when it is started again.
        ClockBack = "killed, clock an hour behind",
    }
}

impl ProcessFault {
    /// Whether the effect takes place before the process dies.
    pub(crate) fn is_after_effect(self) -> bool {
        self != Self::KilledBefore
    }

    /// How far the clock is ahead afterwards, in milliseconds.
    pub(crate) fn clock_step_ms(self) -> i64 {
        match self {
            Self::KilledBefore | Self::KilledAfter => 0,
            Self::ClockForward => 3_600_000,
            Self::ClockBack => -3_600_000,
        }
    }
}

impl ToolFault {
    /// Whether the call takes effect although its answer is not usable.
    pub(crate) fn has_effect(self) -> bool {
        matches!(self, Self::LateAnswer | Self::LostAnswer | Self::HalfBody | Self::Slow)
    }

    /// The faults of a call with this reply. `seed` chooses which fields of the reply are damaged.
    pub(crate) fn at_call(reply: Option<&ReplyBody>, seed: u64) -> Vec<ChaosFault> {
        let mut faults: Vec<ChaosFault> = Self::ALL.iter().copied().map(ChaosFault::Tool).collect();
        let Some(body) = reply else { return faults };
        let mut fields = Vec::new();
        add_fields(&body.to_value(), &mut Path::root(), &mut fields);
        let skipped = fields.len().saturating_sub(MAX_FIELDS);
        let first = usize::try_from(seed % (skipped as u64 + 1)).unwrap_or_default();
        faults.extend(fields.into_iter().skip(first).take(MAX_FIELDS).map(ChaosFault::WrongType));
        faults
    }
}

/// The places of the members of objects, also inside the first item of a list.
fn add_fields(value: &Value, path: &mut Path, fields: &mut Vec<Path>) {
    if path.segments().len() >= MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, member) in object {
                path.push_key(key);
                fields.push(path.clone());
                add_fields(member, path, fields);
                path.pop();
            }
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                path.push_index(0);
                add_fields(first, path, fields);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The value with another type at this place.
pub(crate) fn with_wrong_type(value: &Value, path: &Path) -> Value {
    let mut damaged = value.clone();
    if let Some(field) = damaged.at_mut(path) {
        *field = match field {
            Value::Number(_) => Value::from("n/a"),
            Value::String(_) => Value::from([("text", field.clone())]),
            Value::Bool(_) => Value::from("unknown"),
            Value::Null => Value::from(0_u32),
            Value::Array(_) => Value::from("none"),
            Value::Object(_) => Value::Array(Vec::new()),
        };
    }
    damaged
}

/// The place in words for people who know the reply: `items[0].total`.
fn field_name(path: &Path) -> String {
    let parts = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => format!(".{key}"),
        Segment::Index(index) => format!("[{index}]"),
    });
    parts.collect::<Vec<_>>().concat().trim_start_matches('.').to_owned()
}
