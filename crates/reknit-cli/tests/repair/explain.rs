//! `reknit repair --explain`.

use crate::run::run;

fn explain(text: &str) -> String {
    run(&["repair", "--explain"], text)
}

#[test]
fn explain_reports_that_nothing_was_fixed() {
    insta::assert_snapshot!(explain("{\"a\": 1}"), @r#"
    exit status 0 --- stdout
    {"a": 1}
    --- stderr
    nothing to fix
    "#);
}

#[test]
fn every_fix_is_listed_with_its_path() {
    let text = "Sure:\n```json\n{\n  // the order\n  'symbol': 'TSLA'\n  shares: 100,\n  \"urgent\": True,\n}\n```\n";
    insta::assert_snapshot!(explain(text), @r#"
    exit status 0 --- stdout
    {"symbol":"TSLA","shares":100,"urgent":true}
    --- stderr
    fixed 8 places:
      $          dropped a comment                          // the order
      $          replaced other quotes with double quotes   ' -> "
      $.symbol   replaced other quotes with double quotes   ' -> "
      $          added a missing comma                      ,
      $          added quotes around a key                  shares -> "shares"
      $.urgent   converted a literal of another language    True -> true
      $          dropped an extra comma                     ,
      $          took the JSON from a fenced block          Sure:\n```json\n{\n  // the orde… -> {\n  // the order\n  'symbol': '…
    "#);
}

#[test]
fn a_truncated_text_has_a_fix_and_a_warning() {
    insta::assert_snapshot!(explain("[{\"a\": 1}, {\"a\": \"two"), @r#"
    exit status 0 --- stdout
    [{"a":1},{"a":"two"}]
    --- stderr
    fixed 2 places:
      $[1].a   closed a text that was cut off   "two -> two
      $[1]     closed a text that was cut off   [{"a": 1}, {"a": "two -> }]
    warning: the text is truncated; the value is incomplete
    "#);
}
