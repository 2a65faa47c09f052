//! Properties that hold for any text.

use proptest::prelude::*;

use super::{facts_in, lines};
use crate::facts::MAX_FACTS;

/// Sentences of words that occur in errors, so that phrases match in part and in full.
fn sentence() -> impl Strategy<Value = String> {
    let words = "must be one of <= `a` 'b \"c\" expected got [ ] , or 5 -1.5 is required unknown field ü cannot unmarshal \
                 into type . : e.g. format \n \\";
    let words = prop::sample::select(words.split(' ').collect::<Vec<_>>());
    prop::collection::vec(words, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_text_gives_a_bounded_number_of_facts(text in prop_oneof![sentence(), any::<String>()]) {
        prop_assert!(facts_in(&text, None).len() <= MAX_FACTS);
        prop_assert!(lines(400, &text).len() <= MAX_FACTS);
    }

    #[test]
    fn any_body_gives_a_bounded_number_of_facts(
        key in prop::sample::select(vec!["errors", "detail", "issues", "invalid-params", "error", "amount", "violations"]),
        inner in prop::sample::select(vec!["loc", "path", "field", "message", "source", "instancePath", "ctx", "params"]),
        value in prop::sample::select(vec!["[]", "{}", "null", "1", "\"x\"", "[[1]]", "[\"is required\"]", "{\"pointer\": \"/a\"}"]),
        text in sentence(),
    ) {
        let words = reknit_protocol::Value::from(text.as_str());
        let body = format!(r#"{{"{key}": [{{"{inner}": {value}, "msg": {words}, "message": {words}}}], "{inner}": {value}}}"#);
        prop_assert!(lines(422, &body).len() <= MAX_FACTS);
        let body = format!(r#"{{"{key}": {{"{inner}": {value}, "a": [{words}]}}}}"#);
        prop_assert!(lines(422, &body).len() <= MAX_FACTS);
    }
}

#[test]
fn a_text_of_a_megabyte_takes_bounded_time() {
    let text = "amount must be one of 'a', ".repeat(40_000);
    let started = std::time::Instant::now();
    assert!(facts_in(&text, None).len() <= MAX_FACTS);
    assert!(started.elapsed().as_secs() < 120, "it took {:?}", started.elapsed());
}
