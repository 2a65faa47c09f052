//! What a run was started with besides its request.

use reknit_engine::{ForkOrigin, ForkWrites, Metadata};
use reknit_protocol::{Object, Value};

use super::VALUE_COLUMNS;
use crate::output::one_line;

/// What a run was started with besides its request, for people: the run that it is a fork of, its metadata, what is attached.
pub(super) fn start_lines(metadata: &Metadata, fork: Option<&ForkOrigin>, attachments: &[String]) -> Vec<String> {
    let fork = fork.map(|fork| {
        let writes = if fork.writes == ForkWrites::Recorded { "; it sends only calls that read" } else { "" };
        format!("fork     of {}, from `{}` on{writes}", fork.run, fork.at)
    });
    let metadata: Vec<String> = metadata.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let list = |title: &str, texts: &[String]| {
        (!texts.is_empty()).then(|| one_line(&format!("{title:<8} {}", texts.join(", ")), VALUE_COLUMNS))
    };
    fork.into_iter().chain(list("meta", &metadata)).chain(list("attached", attachments)).collect()
}

/// The same as fields of `--json`.
pub(super) fn start_fields(metadata: &Metadata, fork: Option<&ForkOrigin>, attachments: &[String]) -> Object {
    let mut fields = Object::new();
    if !metadata.is_empty() {
        fields.insert("meta", metadata.to_object());
    }
    if let Some(fork) = fork {
        let (run, at) = (Value::from(fork.run.as_str()), fork.at.as_str().into());
        let sends_writes = (fork.writes == ForkWrites::Sent).into();
        fields.insert("fork_of", Value::from([("run", run), ("at", at), ("sends_writes", sends_writes)]));
    }
    if !attachments.is_empty() {
        fields.insert("attachments", attachments.iter().map(|text| Value::from(text.as_str())).collect::<Value>());
    }
    fields
}
