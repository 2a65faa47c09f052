//! Help pages of `tools` and `callbacks`.

use super::help;

#[test]
fn tools_has_a_help_page() {
    insta::assert_snapshot!(help(&["tools"]), @"
    exit status 0 --- stdout
    Connect, list, show, find, call and check tools

    Usage: reknit tools <COMMAND>

    Commands:
      list      List all capabilities, with their side effect classes
      show      Show a capability: what it does, what it needs and what it returns
      search    Find capabilities by words, the best match first
      call      Call a capability once, and print its result
      add       Connect a service: find out what it is, and write its entry into the configuration
      accept    Accept a changed definition or a new capability, which is withheld until then
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
    exit status 0 --- stdout
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
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    Receive the calls with which tools report the end of a job

    Usage: reknit callbacks serve [OPTIONS]

    Options:
          --listen <ADDRESS>  The address to listen at [default: 127.0.0.1:8099]
          --journal <FILE>    The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>     The configuration file [default: reknit.toml in the current folder]
      -h, --help              Print help
    ");
}
