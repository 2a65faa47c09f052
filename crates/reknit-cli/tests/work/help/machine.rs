//! Help pages of `models`, `worker`, `doctor` and the statistics and transfer of runs.

use super::help;

#[test]
fn worker_has_a_help_page() {
    insta::assert_snapshot!(help(&["worker"]), @r"
    exit status 0 --- stdout
    Drive runs on this machine for a Restate server, together with other workers

    Usage: reknit worker [OPTIONS] --restate <URL> --blobs <FOLDER>

    Options:
          --restate <URL>             The admin API of the Restate server, where the worker registers itself
          --blobs <FOLDER>            The folder for large values, which all workers share
          --listen <ADDRESS>          The address to listen at [default: 127.0.0.1:9080]
          --advertise <URL>           Where Restate reaches the workers, if not at `--listen`: the address of their load balancer
          --identity-key <KEY>        Serve only the server with this public key, which signs its requests; may be repeated
          --journal <FILE>            The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>           A tool, in addition to those in the configuration
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help

    A worker advances runs and performs their effects when a Restate server asks it to. It needs the same configuration (tools, models,
    keys) as the other workers and as `reknit serve --engine restate=URL`, which starts runs. It keeps nothing: it can be killed and
    replaced at any moment. Several workers share an address through a load balancer, and a folder for large values: docs/scale.md.

    Examples:
      reknit worker --restate http://127.0.0.1:9070 --blobs /var/lib/reknit/blobs
      reknit worker --restate http://127.0.0.1:9070 --blobs /mnt/blobs --listen 10.0.0.5:9080 --advertise http://balancer:9080
      reknit serve --engine restate=http://127.0.0.1:8080

    Exit status: 0 the worker was told to stop, 1 it failed, 2 not started.
    ");
}

#[test]
fn models_has_a_help_page() {
    insta::assert_snapshot!(help(&["models"]), @"
    exit status 0 --- stdout
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
#[expect(clippy::too_many_lines, reason = "the pages are long")]
fn doctor_stats_export_and_import_have_help_pages() {
    insta::assert_snapshot!(help(&["doctor"]), @r#"
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    Count what fails and what mends it, by tool, class of failure and rung

    Usage: reknit runs stats [OPTIONS]

    Options:
          --since <TIME>    Only runs that started in this time until now, like `2h` or `7d`
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help

    A line for each tool and each class of its failures. MENDED BY `resend 2 of 3`: the rung changed the call or sent it again three
    times, and the call then succeeded twice. TRIED: what never helped. NOT MENDED: the steps that ended with such a failure.

    Examples:
      reknit runs stats --since 7d
      reknit runs stats --json
    ");
    insta::assert_snapshot!(help(&["runs", "export"]), @"
    exit status 0 --- stdout
    Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report

    Usage: reknit runs export [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its short form in `runs list`, or `last`

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
    exit status 0 --- stdout
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
