//! Help pages of `plan` and `runs explain`.

use super::help;

#[test]
fn plan_has_a_help_page() {
    insta::assert_snapshot!(help(&["plan"]), @"
    exit status 0
    --- stdout
    Check and draw plans

    Usage: reknit plan <COMMAND>

    Commands:
      check  List all problems of a plan, without running it
      draw   Draw the steps of a plan or of a run, and which step needs which
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
}

#[test]
fn plan_check_has_a_help_page() {
    insta::assert_snapshot!(help(&["plan", "check"]), @r#"
    exit status 0
    --- stdout
    List all problems of a plan, without running it

    Usage: reknit plan check [OPTIONS] <FILE>

    Arguments:
      <FILE>
              The plan as YAML, JSON or a model's answer; `-` reads standard input

    Options:
          --tools <FILE>
              A JSON file with tools, used instead of the configured ones

          --json
              Print JSON

          --journal <FILE>
              The journal file [default: reknit/journal.db in your data folder]

          --config <FILE>
              The configuration file [default: reknit.toml in the current folder]

          --tool <NAME=URL>
              A tool, in addition to those in the configuration

          --model-url <URL>
              The base URL of an OpenAI-compatible server, used instead of the configured models

          --model <NAME>
              The name of the model on that server

              [default: default]

          --model-key-env <VARIABLE>
              The environment variable that holds its API key

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit plan check plan.yaml
      reknit tools check --json > tools.json && reknit plan check plan.yaml --tools tools.json
      cat answer.txt | reknit plan check --json -

    Exit status: 0 the plan is valid, 1 the plan has problems, 2 bad usage.

    A plan:
      request: What are my shares worth in won?
      inputs:
        shares: 100                               a default, or {type, default, description}
      steps:
        - id: quote
          tool: stock-tool/get_stock_quote        or only the capability, if one tool has it
          with: {symbol: TSLA}
        - id: convert
          tool: convert_currency
          do: turn the dollars into won           the purpose of the step
          with: {amount: "{{inputs.shares * quote.current_price}}", from: USD, to: KRW}
          after: quote                            one id or a list; references are added by themselves
      outputs:
        won: convert.converted                    an expression over steps and inputs

    Tools (--tools):
      {"stock-tool": [{"name": "get_stock_quote", "schema": {...}, "output_summary": {...}}], ...}
      For each tool the body of its answer to GET /api/capabilities; `schema` is the JSON Schema of the parameters.

    JSON (--json):
      {"ok", "checked", "steps", "repairs", "fixes", "problems": [{"code", "step"?, "path", "message", "hint"?}]}
        checked  "tools", or "structure" if no tools are known
        repairs  the repairs of the JSON of a model's answer
        fixes    names that were corrected: [{"step", "of", "before", "after"}]
        code     not_a_plan, with "line" and "column" if they are known, or another stable code: cycle, bad_value, ...
    "#);
}

#[test]
fn draw_and_explain_have_help_pages() {
    insta::assert_snapshot!(help(&["plan", "draw"]), @"
    exit status 0
    --- stdout
    Draw the steps of a plan or of a run, and which step needs which

    Usage: reknit plan draw [OPTIONS] <PLAN|RUN>

    Arguments:
      <PLAN|RUN>  A plan file, `-` for standard input, the id of a run or its first characters, or `last`

    Options:
          --svg             Print an SVG document
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help

    Examples:
      reknit plan draw plan.yaml
      reknit plan draw last --svg > run.svg

    A line for each step, after those that it needs. A lane leads from a step down to each step that needs it:

      ○    price  shop/price
      │ ○  stock  shop/stock
      │ │
      └─○  order  shop/order

    Marks: ○ planned, ✓ done, ✗ failed, - skipped, > running, · waiting.
    ");
    insta::assert_snapshot!(help(&["runs", "explain"]), @"
    exit status 0
    --- stdout
    Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost

    Usage: reknit runs explain [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its first characters, or `last`

    Options:
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help
    ");
}
