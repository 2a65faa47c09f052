//! The arguments of `reknit rules`.

use clap::{Args, Subcommand};

use super::FileArguments;

pub(super) const DETAILS: &str = "\
If a plan leaves a parameter open and a model finds its value in an earlier result, the run stores where it was found. A stored
rule is inferred: it fills the parameter of calls that only read, and a person approves any other call that uses it, unless the
call is undeclared and the value is a plain text. `rules accept` says that a rule is right: calls then use it without approval,
except `unsafe` ones, which always ask. `rules forget` removes a rule. Both hold for runs that start afterwards.

Examples:
  reknit rules list
  reknit rules accept 3f9a20c1d4
  reknit rules forget 3f9a20c1d4";

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the stored rules, accepted ones first
    List {
        /// Print JSON, one rule per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Accept rules: calls that are not unsafe use them without approval
    Accept(RuleArguments),
    /// Remove rules
    Forget(RuleArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RuleArguments {
    /// The ids of the rules, or their first characters
    #[arg(value_name = "RULE", required = true)]
    pub(crate) rules: Vec<String>,
    /// Print the rules as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) journal: FileArguments,
}
