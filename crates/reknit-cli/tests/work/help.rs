//! The help pages.

mod machine;
mod plans;
mod runs;
mod start;
mod tools;

use crate::world::World;

/// The help page of a command, with each argument and option on the line of its text: the layout is that of clap.
fn help(arguments: &[&str]) -> String {
    let world = World::new();
    let page = world.reknit(&[arguments, &["--help"]].concat());
    assert_eq!(page, world.reknit(&[&["help"], arguments].concat()), "both ways to ask give the same page");
    let page =
        if arguments == ["ask"] { page } else { without_options_of_ask(&page, &world.reknit(&["ask", "--help"])) };
    let page =
        page.replace("\n\n          ", "\n          ").replace("\n\n      -", "\n      -").replace("\n\n  -", "\n  -");
    page.replace("\n          ", "  ")
}

/// A page with only the names of the options that `reknit ask` has in the same words: its page has their text.
fn without_options_of_ask(page: &str, ask: &str) -> String {
    let shared: Vec<String> = options(ask).into_iter().filter(|option| page.contains(option)).collect();
    if shared.len() < 2 {
        return page.to_owned();
    }
    let page = shared.iter().fold(page.to_owned(), |page, option| page.replacen(option, "", 1));
    let names: Vec<&str> = shared.iter().filter_map(|option| option.split_whitespace().next()).collect();
    let help = "  -h, --help\n          Print help (see a summary with '-h')\n";
    page.replacen(help, &format!("{help}\n      as in `reknit ask`: {}\n", names.join(" ")), 1)
}

/// The options of a page, each with its text.
fn options(page: &str) -> Vec<String> {
    let (mut options, mut is_inside): (Vec<String>, bool) = (Vec::new(), false);
    for line in page.split_inclusive('\n') {
        let is_first = line.starts_with("      --");
        is_inside = is_first || (is_inside && (line.starts_with("          ") || line == "\n"));
        match options.last_mut() {
            Some(option) if is_inside && !is_first => option.push_str(line),
            _ if is_inside => options.push(line.to_owned()),
            _ => {}
        }
    }
    options
}

#[test]
fn the_program_has_a_help_page() {
    insta::assert_snapshot!(help(&[]), @r#"
    exit status 0 --- stdout
    Runs requests with tools and repairs what fails

    Usage: reknit <COMMAND>

    Commands:
      init         Write a configuration, a plan and an agent that run at once
      ask          Let a model plan a request, and run the plan with tools
      run          Run a plan
      agent        Start an agent, which calls tools in turns and ends with a report
      chat         Talk with an agent: it calls tools, answers, and remembers what was said
      plan         Check and draw plans
      test         Run recorded tests, and make a test of any run
      chaos        Run a test, a plan or an agent with every fault at every step, and report what it does not mend
      runs         List, show, explain, compare, count, export, import, resume, retry, fork, cancel, approve, deny, settle, delete and prune runs
      rules        List, test and accept rules: what earlier runs learned from the corrections of models
      gate         Run recorded runs through the rules about calls: what would a person be asked?
      keys         List, settle and forget business keys: which deeds are done or under way
      tools        Connect, list, show, find, call and check tools
      mcp          Offer the tools to an MCP client, such as an editor or an agent: every call mended, journalled and approved
      serve        Serve the HTTP API: start, follow and control runs, and mend calls of other programs
      worker       Drive runs on this machine for a Restate server, together with other workers
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
      -h, --help  Print help (see a summary with '-h')
      -V, --version  Print version

    Examples:
      reknit demo                           watch a run fail and repair itself, without an API key
      reknit init                           write a configuration, a plan and an agent that run at once
      reknit ask "weather in Seoul?"        let a model plan a request, and run the plan with your tools
      reknit run plan.yaml                  run a plan that you wrote
      reknit agent clerk.md "order 7?"      start an agent, which calls tools in turns and ends with a report
      reknit runs explain last              the last run in plain words
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
    let page = short.replace("exit status 0 --- stdout\n", "exit status 2 --- stderr\n");
    assert_eq!(World::new().reknit(&[]), page);
}
