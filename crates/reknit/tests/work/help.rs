//! The help pages.

use crate::world::World;

fn help(arguments: &[&str]) -> String {
    let world = World::new();
    let page = world.reknit(&[arguments, &["--help"]].concat());
    assert_eq!(page, world.reknit(&[&["help"], arguments].concat()), "both ways to ask give the same page");
    page
}

#[test]
fn of_the_program() {
    insta::assert_snapshot!(help(&[]), @r#"
    exit status 0
    --- stdout
    Runs a request over tools and mends what breaks

    Usage: reknit <COMMAND>

    Commands:
      ask          Plan a request with a model and run it over tools
      run          Run a plan
      agent        Ask an agent, which works in turns and ends with a report
      plan         Look at plans
      runs         List, show, resume, cancel and decide runs
      tools        Look at the tools
      models       List the models that are asked, and where their keys are
      config       Look at the settings
      demo         See a run break and be mended: four tools on loopback, no key needed
      repair       Read JSON from a model's answer and mend what is broken
      eval         Evaluate an expression over a JSON document
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      reknit demo                           see a run break and be mended, without a key
      reknit ask "weather in Seoul?"        plan a request with a model and run it over your tools
      reknit run plan.yaml                  run a plan that is written already
      reknit plan check plan.yaml           what is wrong with a plan, before anything runs
      reknit agent clerk.md "order 7?"      ask an agent, which calls tools in turns and reports
      reknit runs list                      what has run, and what can be resumed
      reknit repair --explain answer.txt    read JSON from a model's answer, and say what was mended

    Environment:
      REKNIT_CONFIG      the configuration file
      REKNIT_JOURNAL     the journal file
      REKNIT_FIND_MODEL  whether a model is looked for when none is named
      REKNIT_LOG         how much is written about runs to standard error: error, warn, info or debug
      NO_COLOR           no colour in the terminal

    An option beats a variable, and a variable beats the configuration. Every setting of the configuration has a variable:
    `reknit config reference` names them all, and `reknit config show` says what counts.
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
fn of_ask() {
    insta::assert_snapshot!(help(&["ask"]), @r#"
    exit status 0
    --- stdout
    Plan a request with a model and run it over tools

    Usage: reknit ask [OPTIONS] <REQUEST>

    Arguments:
      <REQUEST>
              What you want, in your words

    Options:
          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

          --answer <WHO>
              Who writes the answer

              Possible values:
              - model:    A model, from the results
              - template: Code: what was done, mended and left out, one line each
              - raw:      Nobody: the results as JSON

          --json
              Print the whole answer as JSON

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit ask "How much is 100 EUR in won?"
      reknit ask --tool weather=http://127.0.0.1:8085 --model-url http://127.0.0.1:8080/v1 "Weather in Seoul?"

    Exit status: 0 complete, 1 failed, 2 bad usage, 3 partial, 4 impossible, 5 a limit was reached,
    6 waiting for a person, 130 cancelled.
    "#);
}

#[test]
fn of_run() {
    insta::assert_snapshot!(help(&["run"]), @r#"
    exit status 0
    --- stdout
    Run a plan

    Usage: reknit run [OPTIONS] <PLAN>

    Arguments:
      <PLAN>
              The plan, as YAML, JSON or a model's words; standard input if it is `-`

    Options:
          --input <NAME=VALUE>
              A value for an input of the plan, in place of its default

          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

          --answer <WHO>
              Who writes the answer

              Possible values:
              - model:    A model, from the results
              - template: Code: what was done, mended and left out, one line each
              - raw:      Nobody: the results as JSON

          --json
              Print the whole answer as JSON

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit run plan.yaml --input shares=200
      reknit run --tool weather=http://127.0.0.1:8085 --answer template plan.json
      cat plan.json | reknit run --json -

    Exit status: 0 complete, 1 failed, 2 bad usage, 3 partial, 4 impossible, 5 a limit was reached,
    6 waiting for a person, 130 cancelled.
    "#);
}

#[test]
fn of_demo() {
    insta::assert_snapshot!(help(&["demo"]), @r#"
    exit status 0
    --- stdout
    See a run break and be mended: four tools on loopback, no key needed

    Usage: reknit demo [OPTIONS]

    Options:
          --live
              Ask the configured models instead of the scripted one

          --serve
              Only start the four tools, and say how to use them

          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

          --answer <WHO>
              Who writes the answer

              Possible values:
              - model:    A model, from the results
              - template: Code: what was done, mended and left out, one line each
              - raw:      Nobody: the results as JSON

          --json
              Print the whole answer as JSON

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit demo
      reknit demo --live --model-url http://127.0.0.1:8080/v1
      reknit demo --serve

    Exit status: 0 the story ended as it should; otherwise, and with `--live`, as that of `reknit ask`.
    "#);
}

#[test]
fn of_plan() {
    insta::assert_snapshot!(help(&["plan"]), @r#"
    exit status 0
    --- stdout
    Look at plans

    Usage: reknit plan <COMMAND>

    Commands:
      check  Tell everything that is wrong with a plan, without running it
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    "#);
}

#[test]
fn of_checking_a_plan() {
    insta::assert_snapshot!(help(&["plan", "check"]), @r#"
    exit status 0
    --- stdout
    Tell everything that is wrong with a plan, without running it

    Usage: reknit plan check [OPTIONS] <FILE>

    Arguments:
      <FILE>
              The plan, as YAML, JSON or a model's words; standard input if it is `-`

    Options:
          --tools <FILE>
              A list of tools as JSON, in place of asking those that are configured

          --json
              Print JSON

          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit plan check plan.yaml
      reknit tools check --json > tools.json && reknit plan check plan.yaml --tools tools.json
      cat answer.txt | reknit plan check --json -

    Exit status: 0 it can run, 1 something is wrong with it, 2 bad usage.

    A plan:
      request: What are my shares worth in won?
      inputs:
        shares: 100                               a default, or {type, default, description}
      steps:
        - id: quote
          tool: stock-tool/get_stock_quote        or only the capability, where one tool has it
          with: {symbol: TSLA}
        - id: convert
          tool: convert_currency
          do: turn the dollars into won           what the step is for
          with: {amount: "{{inputs.shares * quote.current_price}}", from: USD, to: KRW}
          after: quote                            one id or a list; what is read from is known anyway
      outputs:
        won: convert.converted                    an expression over steps and inputs

    Tools (--tools):
      {"stock-tool": [{"name": "get_stock_quote", "schema": {...}, "output_summary": {...}}], ...}
      For each tool what it answers to GET /api/capabilities; `schema` is the JSON Schema of the parameters.

    JSON (--json):
      {"ok", "checked", "steps", "repairs", "fixes", "problems": [{"code", "step"?, "path", "message", "hint"?}]}
        checked  "tools", or "structure" if no tools are known
        repairs  what a model's words had to be repaired in
        fixes    names that were put right: [{"step", "of", "before", "after"}]
        code     not_a_plan, with "line" and "column" where they are known, or a word that never changes: cycle, bad_value, ...
    "#);
}

#[test]
fn of_tools() {
    insta::assert_snapshot!(help(&["tools"]), @"
    exit status 0
    --- stdout
    Look at the tools

    Usage: reknit tools <COMMAND>

    Commands:
      check  Ask each tool what it can do, and list what does not say what it does to the world
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
    insta::assert_snapshot!(help(&["tools", "check"]), @r#"
    exit status 0
    --- stdout
    Ask each tool what it can do, and list what does not say what it does to the world

    Usage: reknit tools check [OPTIONS]

    Options:
          --json                      Print what they can do as JSON, for `reknit plan check --tools`
          --journal <FILE>            The journal; the default is reknit/journal.db in your data folder
          --config <FILE>             The configuration; the default is reknit.toml in this folder
          --tool <NAME=URL>           A tool, in addition to those of the configuration
          --model-url <URL>           A server that speaks the OpenAI protocol, in place of the configured models
          --model <NAME>              The model to ask there [default: default]
          --model-key-env <VARIABLE>  The variable of the environment that holds its key
      -h, --help                      Print help
    "#);
}

#[test]
fn of_models() {
    insta::assert_snapshot!(help(&["models"]), @r#"
    exit status 0
    --- stdout
    List the models that are asked, and where their keys are

    Usage: reknit models [OPTIONS]
           reknit models <COMMAND>

    Commands:
      check  Ask each model one tiny question, and say how that went
      help   Print this message or the help of the given subcommand(s)

    Options:
          --config <FILE>             The configuration; the default is reknit.toml in this folder
          --model-url <URL>           A server that speaks the OpenAI protocol, in place of the configured models
          --model <NAME>              The model to ask there [default: default]
          --model-key-env <VARIABLE>  The variable of the environment that holds its key
      -h, --help                      Print help

    Without a model in the configuration or on the command line one is looked for: by the first of these keys that is set,
    OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY,
    TOGETHER_API_KEY, OPENROUTER_API_KEY; else on this machine, on the usual ports of Ollama (11434), llama.cpp (8080),
    LM Studio (1234) and vLLM (8000). REKNIT_FIND_MODEL=false turns that off.
    "#);
}

#[test]
fn of_runs() {
    insta::assert_snapshot!(help(&["runs"]), @r#"
    exit status 0
    --- stdout
    List, show, resume, cancel and decide runs

    Usage: reknit runs <COMMAND>

    Commands:
      list     What has run, newest first
      show     What became of a run: each step, its parameters and where they come from, each attempt
      resume   Go on with a run that was stopped
      cancel   End a run; what is under way may still answer
      approve  Allow what a run waits for
      deny     Refuse what a run waits for [alias: reject]
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    "#);
}

#[test]
fn of_what_shows_runs() {
    insta::assert_snapshot!(help(&["runs", "list"]), @"
exit status 0
--- stdout
What has run, newest first

Usage: reknit runs list [OPTIONS]

Options:
      --limit <N>       At most so many [default: 20]
      --all             However many there are
      --json            Print JSON, one run per line
      --journal <FILE>  The journal; the default is reknit/journal.db in your data folder
      --config <FILE>   The configuration; the default is reknit.toml in this folder
  -h, --help            Print help
");
    insta::assert_snapshot!(help(&["runs", "show"]), @r#"
    exit status 0
    --- stdout
    What became of a run: each step, its parameters and where they come from, each attempt

    Usage: reknit runs show [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id, the beginning of it, or `last`

    Options:
          --step <STEP>     Only this step
          --events          List the events of the journal
          --llm             Print what models were asked and what they answered, word for word, if the run may show it
          --json            Print JSON
          --journal <FILE>  The journal; the default is reknit/journal.db in your data folder
          --config <FILE>   The configuration; the default is reknit.toml in this folder
      -h, --help            Print help
    "#);
}

#[test]
fn of_what_goes_on_with_runs() {
    insta::assert_snapshot!(help(&["runs", "resume"]), @r#"
    exit status 0
    --- stdout
    Go on with a run that was stopped

    Usage: reknit runs resume [OPTIONS] <RUN>

    Arguments:
      <RUN>
              The id, the beginning of it, or `last`

    Options:
          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

          --answer <WHO>
              Who writes the answer

              Possible values:
              - model:    A model, from the results
              - template: Code: what was done, mended and left out, one line each
              - raw:      Nobody: the results as JSON

          --json
              Print the whole answer as JSON

      -h, --help
              Print help (see a summary with '-h')
    "#);
}

#[test]
fn of_what_ends_runs() {
    insta::assert_snapshot!(help(&["runs", "cancel"]), @r#"
    exit status 0
    --- stdout
    End a run; what is under way may still answer

    Usage: reknit runs cancel [OPTIONS] <RUN>

    Arguments:
      <RUN>
              The id, the beginning of it, or `last`

    Options:
          --journal <FILE>
              The journal; the default is reknit/journal.db in your data folder

          --config <FILE>
              The configuration; the default is reknit.toml in this folder

          --tool <NAME=URL>
              A tool, in addition to those of the configuration

          --model-url <URL>
              A server that speaks the OpenAI protocol, in place of the configured models

          --model <NAME>
              The model to ask there

              [default: default]

          --model-key-env <VARIABLE>
              The variable of the environment that holds its key

          --answer <WHO>
              Who writes the answer

              Possible values:
              - model:    A model, from the results
              - template: Code: what was done, mended and left out, one line each
              - raw:      Nobody: the results as JSON

          --json
              Print the whole answer as JSON

      -h, --help
              Print help (see a summary with '-h')
    "#);
}

#[test]
fn of_what_decides_about_runs() {
    insta::assert_snapshot!(help(&["runs", "approve"]), @"
    exit status 0
    --- stdout
    Allow what a run waits for

    Usage: reknit runs approve [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id, the beginning of it, or `last`
      [STEP]  Only this step

    Options:
          --journal <FILE>  The journal; the default is reknit/journal.db in your data folder
          --config <FILE>   The configuration; the default is reknit.toml in this folder
      -h, --help            Print help
    ");
    insta::assert_snapshot!(help(&["runs", "deny"]), @"
    exit status 0
    --- stdout
    Refuse what a run waits for

    Usage: reknit runs deny [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id, the beginning of it, or `last`
      [STEP]  Only this step

    Options:
          --journal <FILE>  The journal; the default is reknit/journal.db in your data folder
          --config <FILE>   The configuration; the default is reknit.toml in this folder
      -h, --help            Print help
    ");
}
