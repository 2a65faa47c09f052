//! `reknit repair` without a schema.

use crate::run::{Folder, repair, run};

#[test]
fn valid_json_comes_back_byte_for_byte() {
    let text = "{ \"b\" : 1.50,\r\n\t\"a\":[ 1e400 , \"\\u0041\\/\" ]}";
    for surrounded in [text.to_owned(), format!("\n\t {text} \r\n\n")] {
        assert_eq!(repair(&surrounded), format!("exit status 0 --- stdout\n{text}\n"));
    }
}

#[test]
fn a_broken_text_becomes_one_line_of_json() {
    insta::assert_snapshot!(repair("Here you are:\n{'name': 'Kim',\n 'tags': ['a' 'b',],\n}\n"), @r#"
    exit status 0 --- stdout
    {"name":"Kim","tags":["a","b"]}
    "#);
}

#[test]
fn a_file_gives_the_same_result_as_standard_input() {
    let folder = Folder::new("a_file").with("my answer.txt", "[1, 2,]");
    insta::assert_snapshot!(folder.run(&["repair", "my answer.txt"], ""), @"
    exit status 0 --- stdout
    [1,2]
    ");
    insta::assert_snapshot!(folder.run(&["repair", "-"], "[3, 4,]"), @"
    exit status 0 --- stdout
    [3,4]
    ");
}

#[test]
fn an_unreadable_text_is_an_error_with_its_position() {
    insta::assert_snapshot!(repair("{\n  \"a\": 1,\n  \"b\": @@ }\n"), @r#"
    exit status 1 --- stderr
    error: cannot read standard input
      caused by: cannot read the text as JSON at line 3, column 8: expected a value, found `@`

      3 |   "b": @@ }
        |        ^
    "#);
}

#[test]
fn a_text_without_json_is_an_error() {
    insta::assert_snapshot!(repair(""), @"
    exit status 1 --- stderr
    error: cannot read standard input
      caused by: there is no JSON in the text: the text is empty

    hint: name a file, `reknit repair answer.txt`, or pipe one in, `cat answer.txt | reknit repair`
    ");
    insta::assert_snapshot!(repair("// nothing here\n"), @"
    exit status 1 --- stderr
    error: cannot read standard input
      caused by: there is no JSON in the text: it contains only comments or prose

    hint: name a file, `reknit repair answer.txt`, or pipe one in, `cat answer.txt | reknit repair`
    ");
    let folder = Folder::new("empty").with("empty.txt", " \n");
    insta::assert_snapshot!(folder.run(&["repair", "empty.txt"], ""), @"
    exit status 1 --- stderr
    error: cannot read `empty.txt`
      caused by: there is no JSON in the text: the text is empty
    ");
}

#[test]
fn a_text_that_is_no_json_is_refused_unless_any_text_is_wanted() {
    insta::assert_snapshot!(repair("I cannot help with that"), @"
    exit status 1 --- stderr
    error: there is no JSON in standard input, only text

    hint: read it as a text with `reknit repair --any`, or name a schema
    ");
    insta::assert_snapshot!(run(&["repair", "--any"], "I cannot help with that"), @r#"
    exit status 0 --- stdout
    "I cannot help with that"
    "#);
    for json in ["'quoted'", "[bare, words]", "42", "yes"] {
        assert!(repair(json).starts_with("exit status 0"), "{json}");
    }
}

#[test]
fn two_likely_readings_are_an_error_that_shows_both() {
    insta::assert_snapshot!(repair("Either {\"a\": 1} or {\"a\": 2}."), @r#"
    exit status 1 --- stderr
    error: standard input can be read in two ways
      - one reading is {"a":1}
      - another reading is {"a":2}

    hint: add a schema that only one reading fits: `reknit repair --schema FILE`
    "#);
}

#[test]
fn the_hint_quotes_the_file_for_a_shell() {
    let folder = Folder::new("hint").with("my answer.txt", "Either {\"a\": 1} or {\"a\": 2}.");
    insta::assert_snapshot!(folder.run(&["repair", "my answer.txt"], ""), @r#"
    exit status 1 --- stderr
    error: `my answer.txt` can be read in two ways
      - one reading is {"a":1}
      - another reading is {"a":2}

    hint: add a schema that only one reading fits: `reknit repair --schema FILE 'my answer.txt'`
    "#);
}

#[test]
fn a_truncated_text_comes_with_a_warning() {
    insta::assert_snapshot!(repair(r#"{"city": "Seoul", "items": [1, 2"#), @r#"
    exit status 0 --- stdout
    {"city":"Seoul","items":[1,2]}
    --- stderr
    warning: the text is truncated; the value is incomplete
    "#);
}

#[test]
fn an_elided_text_comes_with_a_warning() {
    insta::assert_snapshot!(repair("[1, 2, ...]"), @"
    exit status 0 --- stdout
    [1,2]
    --- stderr
    warning: the text leaves out content with `...`; the value is incomplete
    ");
}

#[test]
fn nesting_that_is_too_deep_is_an_error() {
    insta::assert_snapshot!(repair(&("[".repeat(100_000) + &"]".repeat(100_000))), @"
    exit status 1 --- stderr
    error: cannot read standard input
      caused by: the text nests deeper than 512 levels at line 1, column 513

      1 | …[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…
        |                                      ^
    ");
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_with_their_position() {
    let folder = Folder::new("no_text").with("latin1.txt", b"{\n  \"caf\xe9\": 1\n}");
    insta::assert_snapshot!(folder.run(&["repair", "latin1.txt"], ""), @"
    exit status 1 --- stderr
    error: `latin1.txt` is not UTF-8 text
      caused by: invalid byte 0xe9 at line 2, column 7 (offset 8)

    hint: convert it from its encoding, for example `iconv -f LATIN1 -t UTF-8 latin1.txt > converted`, and read `converted` instead
    ");
}

#[test]
fn a_file_that_cannot_be_opened_is_bad_usage() {
    let folder = Folder::new("missing");
    insta::assert_snapshot!(folder.run(&["repair", "missing.txt"], ""), @"
    exit status 2 --- stderr
    error: cannot read `missing.txt`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
    insta::assert_snapshot!(folder.run(&["repair", "no such folder/missing.txt"], ""), @"
    exit status 2 --- stderr
    error: cannot read `no such folder/missing.txt`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
    insta::assert_snapshot!(folder.run(&["repair", "."], ""), @"
    exit status 2 --- stderr
    error: cannot read `.`
      caused by: Is a directory (os error 21)
    ");
}

#[test]
fn a_text_that_is_too_long_is_an_error() {
    let text = " ".repeat((64 << 20) + 1);
    insta::assert_snapshot!(run(&["repair"], &text), @"
    exit status 1 --- stderr
    error: standard input is larger than 64 MiB, the limit for one input

    hint: split it into several texts and pass one per line to `reknit repair --jsonl`
    ");
}
