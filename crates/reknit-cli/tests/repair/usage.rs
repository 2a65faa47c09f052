//! Help, version, completions and bad usage.

use crate::run::run;

#[test]
fn the_version_is_printed() {
    assert_eq!(run(&["--version"], ""), concat!("exit status 0 --- stdout\nreknit ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn short_help_of_repair_shows_examples() {
    insta::assert_snapshot!(run(&["repair", "-h"], ""), @r#"
    exit status 0 --- stdout
    Read JSON from a model's answer and repair it

    Usage: reknit repair [OPTIONS] [FILE]

    Arguments:
      [FILE]  The text to read; standard input if missing or `-`

    Options:
          --schema <FILE>  The JSON Schema of the value
          --jsonl          Read one request per line, and print one answer per line
          --any            Read a text that contains no JSON as a string, instead of refusing it
          --explain        List the repairs on standard error
      -h, --help           Print help (see more with '--help')

    Examples:
      reknit repair answer.txt
      echo "{'price': 12,}" | reknit repair --explain
      reknit repair --schema order.schema.json answer.txt
      reknit repair --jsonl < requests.jsonl > answers.jsonl

    Exit status: 0 read, with or without repairs; 1 not readable, or does not fit the schema; 2 bad usage.
    "#);
}

#[test]
fn long_help_of_repair_describes_lines_and_codes() {
    let help = run(&["help", "repair"], "");
    assert_eq!(run(&["repair", "--help"], ""), help);
    insta::assert_snapshot!(help, @r#"
    exit status 0 --- stdout
    Read JSON from a model's answer and repair it.

    The answer may have text or a code fence around the JSON, missing commas, quotes or brackets, literals of other languages,
    comments, and more. With a schema, values are also converted without loss where their type is wrong: "5" becomes 5 where
    the schema has a number. Valid JSON that fits the schema is printed unchanged; anything else as one line of JSON.

    Usage: reknit repair [OPTIONS] [FILE]

    Arguments:
      [FILE]
              The text to read; standard input if missing or `-`

    Options:
          --schema <FILE>
              The JSON Schema of the value

          --jsonl
              Read one request per line, and print one answer per line

          --any
              Read a text that contains no JSON as a string, instead of refusing it

          --explain
              List the repairs on standard error

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit repair answer.txt
      echo "{'price': 12,}" | reknit repair --explain
      reknit repair --schema order.schema.json answer.txt
      reknit repair --jsonl < requests.jsonl > answers.jsonl

    Exit status:
      0  read, with or without repairs; with --jsonl: every line has an answer, even if it is an error
      1  the text cannot be read or contains no JSON, or its value does not fit the schema
      2  bad usage: an unknown option, a file that cannot be opened, a schema that is not valid, an output that cannot be written

    A truncated text is closed and printed, with a warning on standard error. Ask the model again instead of using it.

    Lines (--jsonl):
      A request is {"id"?, "text" | "value", "schema"?}: a text to read, or a value to fit to the schema.
      --schema applies to requests without a schema. A blank line has no answer.

      The answer is {"id"?, "value", "fixes", "completeness"?, "expressions"?}:
        fixes         the repairs: [{"path", "kind", "before", "after", "penalty", "times"?}]
        completeness  only if something is missing: "truncated" or "elided"
        expressions   only if there are any: the paths that hold an expression instead of a number

      or {"id"?, "error": {"code", "message", ...}}, after which the next line is read:
        empty         the text contains no JSON
        unreadable    the text cannot be read; with the line and column in the text
        ambiguous     two readings are equally likely; with both readings
        misfit        the value does not fit the schema; with the problems: [{"path", "message"}]
        too_deep      brackets are nested too deeply; with the line and column in the text
        too_large     the text or the line is too long
        bad_line      the line is not a request; with the line of the input, and the column if it is known
        bad_schema    the request's schema is not valid
        too_complex   the request's schema could take too much work
    "#);
}

#[test]
fn a_mistyped_command_or_option_is_bad_usage() {
    insta::assert_snapshot!(run(&["repair", "--schem", "x"], ""), @"
    exit status 2 --- stderr
    error: unexpected argument '--schem' found

      tip: a similar argument exists: '--schema'

    Usage: reknit repair --schema <FILE> [FILE]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(run(&["repair", "a.txt", "b.txt"], ""), @"
    exit status 2 --- stderr
    error: unexpected argument 'b.txt' found

    Usage: reknit repair [OPTIONS] [FILE]

    For more information, try '--help'.
    ");
}

#[test]
fn explain_and_jsonl_exclude_each_other() {
    insta::assert_snapshot!(run(&["repair", "--jsonl", "--explain"], ""), @"
    exit status 2 --- stderr
    error: the argument '--jsonl' cannot be used with '--explain'

    Usage: reknit repair --jsonl [FILE]

    For more information, try '--help'.
    ");
}

#[test]
fn completion_scripts_contain_the_options() {
    for (shell, start) in [("bash", "_reknit()"), ("zsh", "#compdef reknit"), ("fish", "# Print an optspec")] {
        let script = run(&["completions", shell], "");
        assert!(script.starts_with(&format!("exit status 0 --- stdout\n{start}")), "{shell}: {script}");
        assert!(script.contains("explain") && script.contains("jsonl"), "{shell}: {script}");
    }
    insta::assert_snapshot!(run(&["completions", "tcsh"], ""), @"
    exit status 2 --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}
