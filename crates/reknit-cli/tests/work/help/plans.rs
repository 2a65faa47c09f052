//! Help pages of `plan`, `runs explain`, `test` and `chaos`.

use super::help;

#[test]
fn plan_has_a_help_page() {
    insta::assert_snapshot!(help(&["plan"]), @"
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    List all problems of a plan, without running it

    Usage: reknit plan check [OPTIONS] <FILE>

    Arguments:
      <FILE>  The plan as YAML, JSON or a model's answer; `-` reads standard input

    Options:
          --tools <FILE>  A JSON file with tools, used instead of the configured ones
          --json  Print JSON
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --journal --config --tool --model-url --model --model-key-env

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
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost

    Usage: reknit runs explain [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its short form in `runs list`, or `last`

    Options:
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help
    ");
}

#[test]
fn the_command_test_has_a_help_page() {
    insta::assert_snapshot!(help(&["test"]), @r#"
    exit status 0 --- stdout
    Run recorded tests, and make a test of any run

    Usage: reknit test [OPTIONS] [PATH]...
           reknit test <COMMAND>

    Commands:
      record  Make a test of a run or a session
      help    Print this message or the help of the given subcommand(s)

    Arguments:
      [PATH]...  Test files, and folders with test files [default: tests]

    Options:
          --update        Show how the expectations of failed tests would have to change, and write them after a confirmation
          --yes           Write without a confirmation
          --junit <FILE>  Also write the results to a file in the format of `JUnit`
          --json          Print JSON
      -h, --help          Print help

    Examples:
      reknit test record last -o tests/refund.yaml    make a test of the last run
      reknit test                                     run all tests in the folder `tests`
      reknit test tests/refund.yaml --junit report.xml
      reknit test --update                            review changed expectations, and write them

    A test is a file with the request, the recorded answers of tools and models, and what is expected. It needs no network and
    no API key, and time is virtual. A call that is not recorded fails the test. See docs/testing.md.

    JSON (--json):
      {"passed", "failed", "tests": [{"file", "passed", "took_ms", "mismatches": [{"what", "expected", "actual"}], "problems"}]}

    Exit status: 0 all tests passed, 1 a test failed, 2 nothing was tested: bad usage, or a file is not a test.
    "#);
}

#[test]
fn the_command_test_record_has_a_help_page() {
    insta::assert_snapshot!(help(&["test", "record"]), @r#"
    exit status 0 --- stdout
    Make a test of a run or a session

    Usage: reknit test record [OPTIONS] --output <FILE> <RUN>

    Arguments:
      <RUN>  The id of the run, its short form in `runs list`, or `last`

    Options:
      -o, --output <FILE>   The file to write
          --plan <FILE>     The plan file of the run: the test refers to it instead of containing the plan
          --agent <FILE>    The agent file of the session: the test refers to it instead of containing the agent
          --force           Replace the file if it exists
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help

    Examples:
      reknit test record last -o tests/refund.yaml
      reknit test record last --plan refund.yaml -o tests/refund.yaml    a changed plan is tested
      reknit test record last --agent clerk.md -o tests/clerk.yaml

    The test is played once before it is written. What its run did is written as `expect`: edit it, and remove what does not
    matter. Values with the name of a secret are replaced by `[redacted]`, as `reknit runs export` does.

    Exit status: 0 the test is written and does what the run did, 1 it is written but differs from the run, 2 nothing is written.
    "#);
}

#[test]
fn chaos_has_a_help_page() {
    insta::assert_snapshot!(help(&["chaos"]), @r#"
    exit status 0 --- stdout
    Run a test, a plan or an agent with every fault at every step, and report what it does not mend

    Usage: reknit chaos [OPTIONS] <FILE> [QUESTION]

    Arguments:
      <FILE>      A test, a plan or an agent
      [QUESTION]  The question to an agent

    Options:
          --input <NAME=VALUE>        A value for an input of a plan; overrides its default
          --seed <NUMBER>             Chooses jitter, waits and the fields that are damaged [default: 0]
          --allow-writes              Also call tools that change something, in the one run of a plan or an agent with your tools
          --kill-processes            Kill processes of their own with SIGKILL, with a journal in a file and in real time, instead of all tasks of the driver at once
          --json                      Print JSON
          --html <FILE>               Also write the report as a page
          --journal <FILE>            The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>           A tool, in addition to those in the configuration
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help

    Examples:
      reknit chaos tests/refund.yaml                   with the recorded answers of a test
      reknit chaos refund.yaml --input order=7         run a plan once with your tools, then with its answers
      reknit chaos clerk.md "Where is order 7?" --html report.html

    The run is repeated with each fault at each of its calls and questions: timeouts, broken connections, 429 with a date, 503,
    half bodies, errors inside a 200, wrong types, stale ids, slow answers, truncated and text-only answers of models, outages of
    their provider, our own process killed and started again, and clock steps. Time is virtual. No fault reaches your tools: the
    cases are run with the recorded answers. Each case is

      mended            the same status, results and effects as without the fault
      reported          the run says what is missing or uncertain
      open              a model would have to react to something that was never recorded
      wrong and silent  the run claims what is not true, or an effect took place twice
      cannot go on      no process can restore the run or drive it to its end, or the fault did not happen

    JSON (--json):
      {"status", "effects", "kills": "tasks" | "process", "counts", "cases": [{"effect", "of", "fault", "verdict", "status", "reason"?, "duplicates"?,
       "extra_calls", "extra_questions", "extra_ms", "extra_cost"}]}

    Exit status: 0 no case is wrong and silent or cannot go on, 1 there is one, 2 not started, or the run fails without a fault.
    "#);
}
