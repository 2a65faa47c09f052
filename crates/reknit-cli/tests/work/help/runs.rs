//! Help pages of `runs` and `keys`.

use super::help;

#[test]
fn runs_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs"]), @"
    exit status 0 --- stdout
    List, show, explain, compare, count, export, import, resume, retry, fork, cancel, approve, deny, settle, delete and prune runs

    Usage: reknit runs <COMMAND>

    Commands:
      list     List runs, newest first
      show     Show a run: each step, its attempts, its parameters and where they come from
      explain  Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost
      compare  Show where a run differs from another one: status, parameters, results, repairs, the answer, calls and cost
      export   Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report
      import   Add ended runs that `runs export` printed to the journal, to look at them
      stats    Count what fails and what mends it, by tool, class of failure and rung
      resume   Continue a run that stopped or waited, or all of them
      retry    Try the failed and skipped steps of a run again; done steps stay done
      fork     Run on from any point of a run with something changed, on its recorded answers before that point, and compare the two
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
fn compare_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs", "compare"]), @r"
    exit status 0 --- stdout
    Show where a run differs from another one: status, parameters, results, repairs, the answer, calls and cost

    Usage: reknit runs compare [OPTIONS] <RUN> <OTHER>

    Arguments:
      <RUN>    The id of the run, its short form in `runs list`, or `last`
      <OTHER>  The other run, named in the same way

    Options:
          --json            Print JSON
          --journal <FILE>  The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>   The configuration file [default: reknit.toml in the current folder]
      -h, --help            Print help
    ");
}

#[test]
fn list_and_show_have_help_pages() {
    insta::assert_snapshot!(help(&["runs", "list"]), @"
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    Show a run: each step, its attempts, its parameters and where they come from

    Usage: reknit runs show [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its short form in `runs list`, or `last`

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
    exit status 0 --- stdout
    Continue a run that stopped or waited, or all of them

    Usage: reknit runs resume [OPTIONS] [RUN]

    Arguments:
      [RUN]  The id of the run, its short form in `runs list`, or `last`

    Options:
          --all  Continue every run that a process left, and every one that waits and for which there is a decision
          --at-once <N>  How many runs are driven at the same time with `--all`  [default: 8]
          --accept-changes  Continue a parked run from what this build decides for its events, although it decided otherwise before
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --journal --config --tool --model-url --model --model-key-env --answer --ask --yes --json --quiet --events

    With --all, runs that a process left, and those that wait and for which there is a decision, are continued, several at a time.
    The outcome of each is one line.

    Exit status: that of `reknit ask`; with --all 0 if every run is complete, 6 if the others wait for approval, otherwise 1.
    ");
}

#[test]
fn cancel_has_a_help_page() {
    insta::assert_snapshot!(help(&["runs", "cancel"]), @"
    exit status 0 --- stdout
    Cancel a run; calls in progress may still complete

    Usage: reknit runs cancel [OPTIONS] <RUN>

    Arguments:
      <RUN>  The id of the run, its short form in `runs list`, or `last`

    Options:
      -h, --help  Print help (see a summary with '-h')

          as in `reknit ask`: --journal --config --tool --model-url --model --model-key-env --answer --ask --yes --json --quiet --events
    ");
}

#[test]
fn approve_and_deny_have_help_pages() {
    insta::assert_snapshot!(help(&["runs", "approve"]), @r#"
    exit status 0 --- stdout
    Approve the calls that a run waits for

    Usage: reknit runs approve [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id of the run, its short form in `runs list`, or `last`
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
    exit status 0 --- stdout
    Deny the calls that a run waits for

    Usage: reknit runs deny [OPTIONS] <RUN> [STEP]

    Arguments:
      <RUN>   The id of the run, its short form in `runs list`, or `last`
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
    exit status 0 --- stdout
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
