//! The arguments of `reknit rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::FileArguments;

pub(super) const DETAILS: &str = "\
Two kinds of rules are learned from models. If a plan leaves a parameter open and a model finds its value in an earlier result, the
run stores where it was found: an inferred rule fills the parameter of calls that only read, and a person approves any other call that
uses it, unless the call is undeclared and the value is a plain text. If a model corrects a call that a tool rejected, a rule for that
kind of error is proposed: it is read from the runs in the journal, and used once it is accepted, which puts it into the file that
`rules.file` names. `rules accept` says that a rule is right: calls then use it without a model and without approval, except `unsafe` ones,
which always ask. `rules reject` says that it is wrong, and `rules forget` removes it. All hold for runs that start afterwards.

Examples:
  reknit rules list
  reknit rules show 3f9a20c1d4
  reknit rules accept 3f9a20c1d4
  reknit rules test
  reknit rules export > rules.yaml";

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the rules, accepted ones first, and what the runs in the journal propose
    List {
        /// Print JSON, one rule per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        sources: RuleSources,
    },
    /// Show a rule with what speaks for and against it, and what it saves
    Show {
        /// The id of the rule, or its first characters
        #[arg(value_name = "RULE")]
        rule: String,
        #[command(flatten)]
        sources: RuleSources,
    },
    /// Accept rules: calls that are not unsafe use them without approval
    Accept(RuleArguments),
    /// Reject rules: they are not used, and not proposed again
    Reject(RuleArguments),
    /// Remove rules; the runs in the journal may propose them again
    Forget(RuleArguments),
    /// Try rules on the corrections in the journal: where they would have helped and where they would have harmed
    Test {
        /// The ids of the rules, or their first characters [default: all that are not retired]
        #[arg(value_name = "RULE")]
        rules: Vec<String>,
        #[command(flatten)]
        sources: RuleSources,
    },
    /// Print rules as a file that others can import
    Export {
        /// The ids of the rules, or their first characters [default: all that are accepted]
        #[arg(value_name = "RULE")]
        rules: Vec<String>,
        #[command(flatten)]
        sources: RuleSources,
    },
    /// Add the rules of a file as proposals
    Import {
        /// The file
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        sources: RuleSources,
    },
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
    pub(crate) sources: RuleSources,
}

#[derive(Debug, Args)]
pub(crate) struct RuleSources {
    /// How many runs of the journal are read, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}
