//! Help pages of `ask`, `run`, `chat` and `demo`.

use super::help;

#[test]
fn ask_has_a_help_page() {
    insta::assert_snapshot!(help(&["ask"]), @r#"
    exit status 0 --- stdout
    Let a model plan a request, and run the plan with tools

    Usage: reknit ask [OPTIONS] <REQUEST>

    Arguments:
      <REQUEST>  The request, in plain language

    Options:
          --attach <FILE>  An image, a document or sound that the model is to look at; may be repeated
          --plan-only  Only make the plan, in the form people write; no tool is called
      -o, --output <FILE>  The file that the plan is written to, which must not exist; standard output if missing
          --run-id <ID>  The id of the run, so that the same command does nothing twice: if there is a run with this id and the same request, it is continued or its outcome is printed again
          --meta <KEY=VALUE>  Metadata of the request, such as `tenant=acme`: stored with the run, and part of its trace
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>  The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>  A tool, in addition to those in the configuration
          --model-url <URL>  The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>  The name of the model on that server  [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
          --answer <AUTHOR>  How the answer is written  Possible values:  - model:    A model writes it from the results  - template: Code lists what was done, what was repaired and what is missing  - raw:      The results as JSON
          --ask <CALLS>  Which calls you approve before they are sent  Possible values:  - rules: Those that match `[[approve]]` in the configuration  - all:   All that do not only read  - plan:  The whole plan once, from a preview; then calls that it does not have, such as corrections
          --yes  Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again
          --json  Print the whole answer as JSON
          --quiet  Print only the answer, warnings and errors: no progress, no notes, no summary
          --events  Print every event as a line of JSON on standard output while it happens; the last line is the answer
      -h, --help  Print help (see a summary with '-h')

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
    exit status 0 --- stdout
    Run a plan

    Usage: reknit run [OPTIONS] <PLAN>

    Arguments:
      <PLAN>  The plan as YAML, JSON or a model's answer; `-` reads standard input

    Options:
          --input <NAME=VALUE>  A value for an input of the plan; overrides its default
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --run-id --meta --journal --config --tool --model-url --model --model-key-env --answer --ask --yes --json --quiet --events

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
    exit status 0 --- stdout
    Watch a run fail and repair itself, with four local tools and without an API key

    Usage: reknit demo [OPTIONS]

    Options:
          --live  Use the configured models instead of the scripted one
          --serve  Only start the four tools, and print how to use them
          --call <CAPABILITY>  Only answer one call of a tool, such as `geocode`: its parameters are read from standard input
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --run-id --journal --config --tool --model-url --model --model-key-env --answer --ask --yes --json --quiet --events

    Examples:
      reknit demo
      reknit demo --live --model-url http://127.0.0.1:8080/v1
      reknit demo --serve

    Exit status: 0 the demo ended as expected; otherwise, and with `--live`, that of `reknit ask`.
    ");
}

#[test]
fn chat_has_a_help_page() {
    insta::assert_snapshot!(help(&["chat"]), @r"
    exit status 0 --- stdout
    Talk with an agent: it calls tools, answers, and remembers what was said

    Usage: reknit chat [OPTIONS] [FILE]

    Arguments:
      [FILE]  The agent file [default: agent.md in the current folder, or an agent with all tools]

    Options:
          --continue [<RUN>]  Go on with a conversation: the id of its run, or the newest one
          --json  Print each answer as a line of JSON: the whole report
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --meta --journal --config --tool --model-url --model --model-key-env --ask --yes --quiet --events

    Examples:
      reknit chat                          talk with agent.md, or with an agent that has all tools
      reknit chat clerk.md
      reknit chat --continue               go on with the newest conversation
      printf 'Where is order 7?\nAnd order 8?\n' | reknit chat clerk.md

    Each line is a message. /help lists the commands, /exit or Ctrl-D leaves. Ctrl-C stops an answer, and at the prompt it leaves.
    A conversation is one run: every message and call is in the journal, and `reknit runs show` shows them.

    Exit status: 0, or 2 not started, 6 waiting for approval. If the messages come from a pipe: that of `reknit agent` for the last one.
    ");
}
