//! The help pages.

use crate::world::World;

fn help(arguments: &[&str]) -> String {
    let world = World::new();
    let page = world.reknit(&[arguments, &["--help"]].concat());
    assert_eq!(page, world.reknit(&[&["help"], arguments].concat()), "both ways to ask give the same page");
    page
}

#[test]
fn the_program_has_a_help_page() {
    insta::assert_snapshot!(help(&[]), @r#"
    exit status 0
    --- stdout
    Runs requests with tools and repairs what fails

    Usage: reknit <COMMAND>

    Commands:
      init         Write a configuration, a plan and an agent that run at once
      ask          Let a model plan a request, and run the plan with tools
      run          Run a plan
      agent        Start an agent, which calls tools in turns and ends with a report
      plan         Check and draw plans
      runs         List, show, explain, count, export, import, resume, retry, cancel, approve, deny, settle, delete and prune runs
      rules        List, accept and forget rules: where earlier runs found values that plans left open
      keys         List, settle and forget business keys: which deeds are done or under way
      tools        Connect, list, show, find, call and check tools
      mcp          Offer the tools to an MCP client, such as an editor or an agent: every call mended, journalled and approved
      serve        Serve the HTTP API: start, follow and control runs, and mend calls of other programs
      tokens       Make, list and remove the tokens of `reknit serve`
      callbacks    Receive the calls with which tools report the end of a long job
      models       List the models, and where their API keys come from
      config       Show settings
      doctor       Check configuration, keys, models, tools, journal, disk and clock, and say what to type
      trust        Trust a configuration file in the current folder to decide where API keys are sent
      demo         Watch a run fail and repair itself, with four local tools and without an API key
      repair       Read JSON from a model's answer and repair it
      eval         Evaluate an expression over a JSON document
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      reknit demo                           watch a run fail and repair itself, without an API key
      reknit init                           write a configuration, a plan and an agent that run at once
      reknit ask "weather in Seoul?"        let a model plan a request, and run the plan with your tools
      reknit run plan.yaml                  run a plan that you wrote
      reknit plan check plan.yaml           list the problems of a plan without running it
      reknit agent clerk.md "order 7?"      start an agent, which calls tools in turns and ends with a report
      reknit mcp                            offer your tools to an MCP client, with every call mended
      reknit runs list                      list runs, also those that can be resumed
      reknit runs explain last              the last run in plain words
      reknit doctor                         check models, tools and journal, and say what to type
      reknit repair --explain answer.txt    read JSON from a model's answer, and list the repairs

    Environment:
      REKNIT_CONFIG      the configuration file
      REKNIT_JOURNAL     the journal file
      REKNIT_FIND_MODEL  `false`: do not search for a model when none is configured
      REKNIT_LOG         the log level on standard error: error, warn, info or debug
      NO_COLOR           turns off colours in the terminal

    An option overrides a variable, and a variable overrides the configuration file. Every setting has a variable:
    `reknit config reference` lists them all, and `reknit config show` prints the effective settings.
    "#);
}

#[test]
fn no_command_is_bad_usage_and_shows_the_short_help() {
    let short = World::new().reknit(&["-h"]);
    assert!(!short.contains("Environment:"), "{short}");
    let page = short.replace("exit status 0\n--- stdout\n", "exit status 2\n--- stderr\n");
    assert_eq!(World::new().reknit(&[]), page);
}

#[test]
#[expect(clippy::too_many_lines, reason = "the page is long")]
fn ask_has_a_help_page() {
    insta::assert_snapshot!(help(&["ask"]), @r#"
    exit status 0
    --- stdout
    Let a model plan a request, and run the plan with tools

    Usage: reknit ask [OPTIONS] <REQUEST>

    Arguments:
      <REQUEST>
              The request, in plain language

    Options:
          --attach <FILE>
              An image, a document or sound that the model is to look at; may be repeated

          --plan-only
              Only make the plan, in the form people write; no tool is called

      -o, --output <FILE>
              The file that the plan is written to, which must not exist; standard output if missing

          --run-id <ID>
              The id of the run, so that the same command does nothing twice: if there is a run with this id and the same request, it is continued or its outcome is printed again

          --meta <KEY=VALUE>
              Metadata of the request, such as `tenant=acme`: stored with the run, and part of its trace

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

          --answer <AUTHOR>
              How the answer is written

              Possible values:
              - model:    A model writes it from the results
              - template: Code lists what was done, what was repaired and what is missing
              - raw:      The results as JSON

          --ask <CALLS>
              Which calls you approve before they are sent

              Possible values:
              - rules: Those that match `[[approve]]` in the configuration
              - all:   All that do not only read
              - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections

          --yes
              Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again

          --json
              Print the whole answer as JSON

          --quiet
              Print only the answer, warnings and errors: no progress, no notes, no summary

          --events
              Print every event as a line of JSON on standard output while it happens; the last line is the answer

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit ask "How much is 100 EUR in won?"
      reknit ask --attach invoice.pdf "Pay this invoice."
      reknit ask --tool weather=http://127.0.0.1:8085 --model-url http://127.0.0.1:8080/v1 "Weather in Seoul?"
      reknit ask --plan-only -o plan.yaml "How much is 100 EUR in won?" && reknit run plan.yaml

    Exit status: 0 complete, 1 failed, 2 not started, 3 partial, 4 impossible, 5 a limit was reached,
    6 waiting for approval, 130 cancelled.
    "#);
}

#[test]
fn run_has_a_help_page() {
    insta::assert_snapshot!(help(&["run"]), @"
    exit status 0
    --- stdout
    Run a plan

    Usage: reknit run [OPTIONS] <PLAN>

    Arguments:
      <PLAN>
              The plan as YAML, JSON or a model's answer; `-` reads standard input

    Options:
          --input <NAME=VALUE>
              A value for an input of the plan; overrides its default

          --run-id <ID>
              The id of the run, so that the same command does nothing twice: if there is a run with this id and the same request, it is continued or its outcome is printed again

          --meta <KEY=VALUE>
              Metadata of the request, such as `tenant=acme`: stored with the run, and part of its trace

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

          --answer <AUTHOR>
              How the answer is written

              Possible values:
              - model:    A model writes it from the results
              - template: Code lists what was done, what was repaired and what is missing
              - raw:      The results as JSON

          --ask <CALLS>
              Which calls you approve before they are sent

              Possible values:
              - rules: Those that match `[[approve]]` in the configuration
              - all:   All that do not only read
              - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections

          --yes
              Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again

          --json
              Print the whole answer as JSON

          --quiet
              Print only the answer, warnings and errors: no progress, no notes, no summary

          --events
              Print every event as a line of JSON on standard output while it happens; the last line is the answer

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit run plan.yaml --input shares=200
      reknit run --tool weather=http://127.0.0.1:8085 --answer template plan.json
      cat plan.json | reknit run --json -

    Exit status: 0 complete, 1 failed, 2 not started, 3 partial, 4 impossible, 5 a limit was reached,
    6 waiting for approval, 130 cancelled.
    ");
}

#[test]
fn demo_has_a_help_page() {
    insta::assert_snapshot!(help(&["demo"]), @"
    exit status 0
    --- stdout
    Watch a run fail and repair itself, with four local tools and without an API key

    Usage: reknit demo [OPTIONS]

    Options:
          --live
              Use the configured models instead of the scripted one

          --serve
              Only start the four tools, and print how to use them

          --call <CAPABILITY>
              Only answer one call of a tool, such as `geocode`: its parameters are read from standard input

          --run-id <ID>
              The id of the run, so that the same command does nothing twice: if there is a run with this id and the same request, it is continued or its outcome is printed again

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

          --answer <AUTHOR>
              How the answer is written

              Possible values:
              - model:    A model writes it from the results
              - template: Code lists what was done, what was repaired and what is missing
              - raw:      The results as JSON

          --ask <CALLS>
              Which calls you approve before they are sent

              Possible values:
              - rules: Those that match `[[approve]]` in the configuration
              - all:   All that do not only read
              - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections

          --yes
              Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again

          --json
              Print the whole answer as JSON

          --quiet
              Print only the answer, warnings and errors: no progress, no notes, no summary

          --events
              Print every event as a line of JSON on standard output while it happens; the last line is the answer

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit demo
      reknit demo --live --model-url http://127.0.0.1:8080/v1
      reknit demo --serve

    Exit status: 0 the demo ended as expected; otherwise, and with `--live`, that of `reknit ask`.
    ");
}

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
fn tools_has_a_help_page() {
    insta::assert_snapshot!(help(&["tools"]), @"
    exit status 0
    --- stdout
    Connect, list, show, find, call and check tools

    Usage: reknit tools <COMMAND>

    Commands:
      list      List all capabilities, with their side effect classes
      show      Show a capability: what it does, what it needs and what it returns
      search    Find capabilities by words, the best match first
      call      Call a capability once, and print its result
      add       Connect a service: find out what it is, and write its entry into the configuration
      accept    Accept the changed definition of a capability, which is withheld until then
      sign-in   Sign in at an MCP server with `auth = \"oauth\"`, in a browser
      sign-out  Sign out: remove the stored tokens of an MCP server
      check     List the capabilities of each tool, with every problem, and those that declare no side effect class
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      reknit tools add http://127.0.0.1:8000                   connect a service, and write its entry into reknit.toml
      reknit tools list                                        list all capabilities
      reknit tools search refund an order                      find capabilities by words
      reknit tools show shop/create_order                      show what a capability needs
      reknit tools call shop/get_item item_id=7                call it once; the call is journalled and mended like any other
    ");
    insta::assert_snapshot!(help(&["tools", "check"]), @"
    exit status 0
    --- stdout
    List the capabilities of each tool, with every problem, and those that declare no side effect class

    Usage: reknit tools check [OPTIONS]

    Options:
          --json                      Print the capabilities as JSON, for `reknit plan check --tools`
          --journal <FILE>            The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>           A tool, in addition to those in the configuration
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help
    ");
}

#[test]
fn callbacks_has_help_pages() {
    insta::assert_snapshot!(help(&["callbacks"]), @"
    exit status 0
    --- stdout
    Receive the calls with which tools report the end of a long job

    Usage: reknit callbacks <COMMAND>

    Commands:
      serve  Receive the calls with which tools report the end of a job
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      reknit callbacks serve
      reknit callbacks serve --listen 0.0.0.0:8099

    Calls carry a signed URL in the header `x-reknit-callback` if `url` in `[callbacks]` is set. A tool that works on a job calls
    it when the job has ended. docs/tools.md describes it.
    ");
    insta::assert_snapshot!(help(&["callbacks", "serve"]), @"
    exit status 0
    --- stdout
    Receive the calls with which tools report the end of a job

    Usage: reknit callbacks serve [OPTIONS]

    Options:
          --listen <ADDRESS>  The address to listen at [default: 127.0.0.1:8099]
          --journal <FILE>    The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>     The configuration file [default: reknit.toml in the current folder]
      -h, --help              Print help
    ");
}

#[test]
fn models_has_a_help_page() {
    insta::assert_snapshot!(help(&["models"]), @"
    exit status 0
    --- stdout
    List the models, and where their API keys come from

    Usage: reknit models [OPTIONS]
           reknit models <COMMAND>

    Commands:
      check  Send each model a short question, and print whether it answers
      help   Print this message or the help of the given subcommand(s)

    Options:
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help

    If neither the configuration nor the command line names a model, Reknit uses the first API key that is set: OPENAI_API_KEY,
    ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY, TOGETHER_API_KEY or
    OPENROUTER_API_KEY. Without a key it looks for a server on this machine, on the default ports of Ollama (11434), llama.cpp
    (8080), LM Studio (1234) and vLLM (8000). REKNIT_FIND_MODEL=false turns this off.
    ");
}

#[test]
fn runs_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs"]), @"
    exit status 0
    --- stdout
    List, show, explain, count, export, import, resume, retry, cancel, approve, deny, settle, delete and prune runs

    Usage: reknit runs <COMMAND>

    Commands:
      list     List runs, newest first
      show     Show a run: each step, its attempts, its parameters and where they come from
      explain  Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost
      export   Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report
      import   Add ended runs that `runs export` printed to the journal, to look at them
      stats    Count what fails and what mends it, by tool, class of failure and rung
      resume   Continue a run that stopped or waited, or all of them
      retry    Try the failed and skipped steps of a run again; done steps stay done
      close    End a parked run, which this build cannot continue; its events are kept
      cancel   Cancel a run; calls in progress may still complete
      approve  Approve the calls that a run waits for
      deny     Deny the calls that a run waits for [alias: reject]
      settle   Say what became of a call that may have taken effect, instead of sending it again
      delete   Delete a run; its id stays in use
      prune    Remove old runs that have ended, and make the journal smaller
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
}

#[test]
fn list_and_show_have_help_pages() {
    insta::assert_snapshot!(help(&["runs", "list"]), @"
    exit status 0
    --- stdout
    List runs, newest first

    Usage: reknit runs list [OPTIONS]

    Options:
          --status <STATUS>  Only runs with this status, or one of several: `failed,partial` [possible values: running, waiting, stopped, parked, complete, partial, failed, impossible, cancelled, budget_exhausted, success, failure, closed]
          --since <TIME>     Only runs that started in this time until now, like `2h` or `7d`
          --tool <TOOL>      Only runs that used this tool: `shop` or `shop/refund`
          --search <TEXT>    Only runs whose request contains this text
          --limit <N>        The most runs to list [default: 20]
          --all              List all runs
          --json             Print JSON, one run per line
          --journal <FILE>   The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>    The configuration file [default: reknit.toml in the current folder]
      -h, --help             Print help

    Examples:
      reknit runs list --status failed,partial --since 2d
      reknit runs list --status waiting
      reknit runs list --tool shop --search refund --all
    ");
    insta::assert_snapshot!(help(&["runs", "show"]), @"
    exit status 0
    --- stdout
    Show a run: each step, its attempts, its parameters and where they come from

    Usage: reknit runs show [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its first characters, or `last`

    Options:
          --step <STEP>     Show only this step
          --events          List the events of the journal
          --llm             Print the full prompts and answers of models; a journal of another user shows them if LLM debugging is enabled for the run
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help
    ");
}

#[test]
fn resume_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs", "resume"]), @"
    exit status 0
    --- stdout
    Continue a run that stopped or waited, or all of them

    Usage: reknit runs resume [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The id of the run, its first characters, or `last`

    Options:
          --all
              Continue every run that a process left, and every one that waits and for which there is a decision

          --at-once <N>
              How many runs are driven at the same time with `--all`

              [default: 8]

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

          --answer <AUTHOR>
              How the answer is written

              Possible values:
              - model:    A model writes it from the results
              - template: Code lists what was done, what was repaired and what is missing
              - raw:      The results as JSON

          --ask <CALLS>
              Which calls you approve before they are sent

              Possible values:
              - rules: Those that match `[[approve]]` in the configuration
              - all:   All that do not only read
              - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections

          --yes
              Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again

          --json
              Print the whole answer as JSON

          --quiet
              Print only the answer, warnings and errors: no progress, no notes, no summary

          --events
              Print every event as a line of JSON on standard output while it happens; the last line is the answer

          --accept-changes
              Continue a parked run from what this build decides for its events, although it decided otherwise before

      -h, --help
              Print help (see a summary with '-h')

    With --all, runs that a process left, and those that wait and for which there is a decision, are continued, several at a time.
    The outcome of each is one line.

    Exit status: that of `reknit ask`; with --all 0 if every run is complete, 6 if the others wait for approval, otherwise 1.
    ");
}

#[test]
fn cancel_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs", "cancel"]), @"
    exit status 0
    --- stdout
    Cancel a run; calls in progress may still complete

    Usage: reknit runs cancel [OPTIONS] <RUN>

    Arguments:
      <RUN>
              The id of the run, its first characters, or `last`

    Options:
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

          --answer <AUTHOR>
              How the answer is written

              Possible values:
              - model:    A model writes it from the results
              - template: Code lists what was done, what was repaired and what is missing
              - raw:      The results as JSON

          --ask <CALLS>
              Which calls you approve before they are sent

              Possible values:
              - rules: Those that match `[[approve]]` in the configuration
              - all:   All that do not only read
              - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections

          --yes
              Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again

          --json
              Print the whole answer as JSON

          --quiet
              Print only the answer, warnings and errors: no progress, no notes, no summary

          --events
              Print every event as a line of JSON on standard output while it happens; the last line is the answer

      -h, --help
              Print help (see a summary with '-h')
    ");
}

#[test]
fn approve_and_deny_have_help_pages() {
    insta::assert_snapshot!(help(&["runs", "approve"]), @r#"
    exit status 0
    --- stdout
    Approve the calls that a run waits for

    Usage: reknit runs approve [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id of the run, its first characters, or `last`
      [STEP]  Decide only about this step

    Options:
          --journal <FILE>    The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>     The configuration file [default: reknit.toml in the current folder]
          --edit <JSON>       Approve the call with all its parameters replaced by these
          --set <NAME=VALUE>  Approve the call with this parameter changed
      -h, --help              Print help

    Examples:
      reknit runs approve last
      reknit runs approve last pay --set amount=50
      reknit runs approve last pay --edit '{"amount": 50, "to": "ann"}'
    "#);
    insta::assert_snapshot!(help(&["runs", "deny"]), @"
    exit status 0
    --- stdout
    Deny the calls that a run waits for

    Usage: reknit runs deny [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id of the run, its first characters, or `last`
      [STEP]  Decide only about this step

    Options:
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
          --reason <TEXT>   Why not: part of the answer, and an agent's model reads it
      -h, --help            Print help
    ");
}

#[test]
fn keys_has_a_help_page() {
    insta::assert_snapshot!(help(&["keys"]), @r#"
    exit status 0
    --- stdout
    List, settle and forget business keys: which deeds are done or under way

    Usage: reknit keys <COMMAND>

    Commands:
      list    List the business keys whose windows are not over, the newest first
      settle  Say that the deed of a pending key is done: equal calls return the receipt
      forget  Free keys: their deeds may be done again
      help    Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    A capability may name the parameters that identify a deed (`[[keys]]` in the configuration). A call whose deed another call has
    done is not sent: it returns the receipt of that call. While the outcome of the other call is unknown, the key is pending, and
    an equal call waits. A pending key becomes free when its window is over, when its call turns out to have had no effect, or when
    you say so: `keys forget` frees a key, so that the deed may be done again; `keys settle` says that the deed is done.

    Examples:
      reknit keys list
      reknit keys settle 3f9a20c1d4 --result '{"refund": 12}'
      reknit keys forget 3f9a20c1d4
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

#[test]
#[expect(clippy::too_many_lines, reason = "the pages are long")]
fn doctor_stats_export_and_import_have_help_pages() {
    insta::assert_snapshot!(help(&["doctor"]), @r#"
    exit status 0
    --- stdout
    Check configuration, keys, models, tools, journal, disk and clock, and say what to type

    Usage: reknit doctor [OPTIONS]

    Options:
          --offline                   Ask neither models nor tools
          --json                      Print JSON
          --journal <FILE>            The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>           A tool, in addition to those in the configuration
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help

    Each model is sent a short question, and each tool is asked for its capabilities. Nothing is changed.

    JSON (--json):
      {"ok", "findings": [{"area", "level", "message", "command"?}]}
        area   configuration, keys, models, tools, journal, disk or clock
        level  ok, note or problem

    Exit status: 0 nothing has to be done, 1 there are problems, 2 bad usage.
    "#);
    insta::assert_snapshot!(help(&["runs", "stats"]), @"
    exit status 0
    --- stdout
    Count what fails and what mends it, by tool, class of failure and rung

    Usage: reknit runs stats [OPTIONS]

    Options:
          --since <TIME>    Only runs that started in this time until now, like `2h` or `7d`
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help

    A line for each tool and each class of its failures. `resend 2 of 3`: the rung changed the call or sent it again three times, and the
    next call succeeded twice. NOT MENDED: the steps that ended with such a failure.

    Examples:
      reknit runs stats --since 7d
      reknit runs stats --json
    ");
    insta::assert_snapshot!(help(&["runs", "export"]), @"
    exit status 0
    --- stdout
    Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report

    Usage: reknit runs export [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its first characters, or `last`

    Options:
          --unredacted      Print everything: also secrets, and the texts of models
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help

    Values whose name says that they are secret, and texts that look like API keys, are replaced. The texts that models wrote are only
    printed if LLM debugging was enabled for the run (`[llm-debug] enabled`).

    Example:
      reknit runs export last > run.jsonl && reknit runs import --journal other.db run.jsonl
    ");
    insta::assert_snapshot!(help(&["runs", "import"]), @"
    exit status 0
    --- stdout
    Add ended runs that `runs export` printed to the journal, to look at them

    Usage: reknit runs import [OPTIONS] <FILE>

    Arguments:
      <FILE>  The JSON lines; `-` reads standard input

    Options:
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help
    ");
}
