//! `--explain`: what was mended, for people.

use crate::run::run;

fn explain(text: &str) -> String {
    run(&["repair", "--explain"], text)
}

#[test]
fn nothing_to_fix_is_said() {
    insta::assert_snapshot!(explain("{\"a\": 1}"), @r#"
    exit status 0
    --- stdout
    {"a": 1}
    --- stderr
    nothing to fix
    "#);
}

#[test]
fn every_fix_is_listed_with_its_place() {
    let text = "Sure:\n```json\n{\n  // the order\n  'symbol': 'TSLA'\n  shares: 100,\n  \"urgent\": True,\n}\n```\n";
    insta::assert_snapshot!(explain(text), @r#"
    exit status 0
    --- stdout
    {"symbol":"TSLA","shares":100,"urgent":true}
    --- stderr
    fixed 8 places:
      $          dropped a comment                    // the order
      $          read other quotes as double quotes   ' -> "
      $.symbol   read other quotes as double quotes   ' -> "
      $          put in a missing comma               ,
      $          quoted a key                         shares -> "shares"
      $.urgent   read a literal of another language   True -> true
      $          dropped an extra comma               ,
      $          took the JSON from a fenced block    Sure:\n```json\n{\n  // the orde… -> {\n  // the order\n  'symbol': '…
    "#);
}

#[test]
fn a_cut_text_is_listed_and_warned_about() {
    insta::assert_snapshot!(explain("[{\"a\": 1}, {\"a\": \"two"), @r#"
    exit status 0
    --- stdout
    [{"a":1},{"a":"two"}]
    --- stderr
    fixed 2 places:
      $[1].a   closed a text that ends early   "two -> two
      $[1]     closed a text that ends early   [{"a": 1}, {"a": "two -> }]
    warning: the text was cut; what came after its end is missing
    "#);
}
