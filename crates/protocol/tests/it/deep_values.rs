//! The deepest value a text may hold must not overflow the stack of a small thread, in a debug build.

use std::hash::{BuildHasher, RandomState};

use reknit_protocol::{MAX_DEPTH, ParseProblem, Path, Value};

/// What many servers give their workers; main threads have eight times as much.
const SMALL_STACK: usize = 1 << 20;

/// One level of nesting is one turn of the pattern; the last holds a number.
fn nested(open: &[&str], close: &[&str], depth: usize) -> String {
    let mut text = String::new();
    (0..depth).for_each(|level| text.push_str(open[level % open.len()]));
    text.push('1');
    (0..depth).rev().for_each(|level| text.push_str(close[level % close.len()]));
    text
}

/// Arrays only, objects only, both in turn.
fn shapes(depth: usize) -> [String; 3] {
    [
        nested(&["["], &["]"], depth),
        nested(&[r#"{"a":"#], &["}"], depth),
        nested(&["[", r#"{"a":"#], &["]", "}"], depth),
    ]
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(SMALL_STACK).spawn(work).expect("a thread starts");
    thread.join().expect("the work succeeds");
}

#[test]
fn everything_works_on_the_deepest_value_with_a_small_stack() {
    on_a_small_stack(|| {
        for text in shapes(MAX_DEPTH) {
            let value = Value::parse(&text).expect("it is just deep enough");
            let copy = value.clone();
            assert!(value == copy, "a copy is equal");
            assert_eq!(value.to_string(), text);
            assert_eq!(value.canonical(), text);
            assert_eq!(Value::parse(&value.to_pretty()).expect("pretty text is JSON"), value);
            let state = RandomState::new();
            assert_eq!(state.hash_one(&value), state.hash_one(&copy));
            assert_eq!(Value::from(value.to_serde()), value);
            drop(copy);
        }
    });
}

#[test]
fn one_level_more_is_refused_where_it_opens() {
    on_a_small_stack(|| {
        for text in shapes(MAX_DEPTH + 1) {
            let error = Value::parse(&text).expect_err("it is too deep");
            assert_eq!(error.problem, ParseProblem::TooDeep);
            let last_bracket = text.rfind(['[', '{']).expect("there are brackets");
            assert_eq!(error.offset, last_bracket);
        }
    });
}

#[test]
fn depth_is_counted_in_levels_and_not_in_brackets() {
    let wide = format!("[{}1]", "[1],".repeat(2 * MAX_DEPTH));
    let value = Value::parse(&wide).expect("two levels are not deep");
    assert_eq!(value.at(&Path::root().index(7).index(0)), Some(&Value::from(1)));
}
