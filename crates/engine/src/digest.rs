//! Hashes that are the same on every platform.

use reknit_protocol::{RunId, Sha256, hex};
use serde::Serialize;

/// The hash of a value as JSON, or a text with the error if the value cannot be serialized.
pub(crate) fn digest_of(value: &impl Serialize) -> String {
    match serde_json::to_vec(value) {
        Ok(bytes) => hex(&Sha256::digest(&bytes)),
        Err(error) => format!("cannot be serialized: {error}"),
    }
}

/// The hash of several texts. Each is preceded by its length, so different splits have different hashes.
pub fn digest_of_texts(texts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finish()
}

/// The idempotency key of a call: it depends on the run, the step and the number of corrections.
pub(crate) fn idempotency_key(run: &str, step: &str, correction: u32) -> String {
    short_digest(&["key", run, step, &correction.to_string()])
}

/// The business key of a call: it depends on the capability and on the values that identify the deed.
pub(crate) fn business_key_id(agent: &str, capability: &str, values: &str) -> String {
    short_digest(&["business key", agent, capability, values])
}

/// The first half of the hash of several texts, as 32 hexadecimal digits.
pub(crate) fn short_digest(texts: &[&str]) -> String {
    let hash = digest_of_texts(texts);
    hex(hash.get(..16).unwrap_or(&hash))
}

/// The seed of a run whose id the caller chose.
pub(crate) fn seed_of(run: &RunId) -> u64 {
    first_number(&digest_of_texts(&["seed", run.as_str()]))
}

/// A pseudo-random number below `limit` that depends on the seed and the name alone.
pub(crate) fn jitter(seed: u64, name: &str, limit: u64) -> u64 {
    let hash = digest_of_texts(&["jitter", &seed.to_string(), name]);
    let number = first_number(&hash);
    if limit == 0 { 0 } else { number % limit }
}

fn first_number(hash: &[u8; 32]) -> u64 {
    hash.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte))
}
