//! Values of the maximum depth must not overflow the stack of a small thread, even in a debug build.

use std::hash::{BuildHasher, RandomState};

use reknit_protocol::{MAX_DEPTH, ParseProblem, Path, Value};

/// The stack of worker threads in many servers; a main thread has eight times as much.
const SMALL_STACK: usize = 1 << 20;

/// A number inside `depth` levels, which take their brackets from the patterns in turn.
fn nested(open: &[&str], close: &[&str], depth: usize) -> String {
    let mut text = String::new();
    (0..depth).for_each(|level| text.push_str(open[level % open.len()]));
    text.push('1');
    (0..depth).rev().for_each(|level| text.push_str(close[level % close.len()]));
    text
}

/// Arrays only, objects only, and both alternating.
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
fn every_operation_on_the_deepest_value_fits_a_small_stack() {
    on_a_small_stack(|| {
        for text in shapes(MAX_DEPTH) {
            let value = Value::parse(&text).expect("it has the maximum depth");
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
fn one_more_level_is_refused_at_its_opening_bracket() {
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
fn depth_counts_levels_and_not_brackets() {
    let wide = format!("[{}1]", "[1],".repeat(2 * MAX_DEPTH));
    let value = Value::parse(&wide).expect("two levels are not deep");
    assert_eq!(value.at(&Path::root().index(7).index(0)), Some(&Value::from(1)));
}
