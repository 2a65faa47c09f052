//! `reknit rules`: what runs have learned from models, and what people say about it.

mod known;
mod listed;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use reknit_engine::{read_rule_file, write_rule_file};
use reknit_mend::{LearnedRule, RuleBook, RuleState};

use crate::output::{Failure, count, print_data, print_message};
use crate::setup::{FileArguments, require_unchanged};
use known::KnownRules;
use listed::ListedRule;

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
    rules: Vec<String>,
    /// Print the rules as JSON, one per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sources: RuleSources,
}

#[derive(Debug, Args)]
pub(crate) struct RuleSources {
    /// How many runs of the journal are read, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    runs: u32,
    #[command(flatten)]
    files: FileArguments,
}

pub(crate) async fn run(command: RulesCommand) -> Result<ExitCode, Failure> {
    match command {
        RulesCommand::List { json, sources } => list(&sources, json).await,
        RulesCommand::Show { rule, sources } => {
            let known = KnownRules::load(&sources).await?;
            print_data(&show::page(known.find(&rule)?, &known)).map(|()| ExitCode::SUCCESS)
        }
        RulesCommand::Accept(arguments) => accept(&arguments).await,
        RulesCommand::Reject(arguments) => remove(&arguments, Removal::Rejected).await,
        RulesCommand::Forget(arguments) => remove(&arguments, Removal::Forgotten).await,
        RulesCommand::Test { rules, sources } => test(&rules, &sources).await,
        RulesCommand::Export { rules, sources } => export(&rules, &sources).await,
        RulesCommand::Import { file, sources } => import(&file, &sources).await,
    }
}

async fn list(sources: &RuleSources, json: bool) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(sources).await?;
    print_rules(&known.rules, json)?;
    if known.rules.is_empty() && !json {
        print_message(
            "there are no rules: no run in the journal has found a value that its plan left open, or corrected a call with a \
             model in a way that holds for other calls\n",
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn accept(arguments: &RuleArguments) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(&arguments.sources).await?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let mut accepted = Vec::new();
    for rule in known.choose(&arguments.rules)? {
        match rule {
            ListedRule::Mapping(mapping) => {
                let is_there =
                    known.journal.accept_mapping(&mapping.mapping, now_ms).await.map_err(Failure::journal)?;
                require_unchanged(is_there, "rule", &rule.id())?;
            }
            ListedRule::Rule(seen) => {
                let is_there = known.store()?.accept(seen).map_err(known::unusable)?;
                require_unchanged(is_there, "rule", &rule.id())?;
                if !seen.evidence.harms.is_empty() {
                    let harms = count(seen.evidence.harms.len() as u64, "correction");
                    print_message(&format!(
                        "note: rule {} gives other values than {harms} in the journal; see `reknit rules show {}`\n",
                        seen.id, seen.id
                    ));
                }
            }
        }
        accepted.push(rule.accepted(now_ms));
    }
    print_rules(&accepted, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

/// Why a rule is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// It is wrong, and not proposed again.
    Rejected,
    /// It may be proposed again.
    Forgotten,
}

async fn remove(arguments: &RuleArguments, removal: Removal) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(&arguments.sources).await?;
    let chosen = known.choose(&arguments.rules)?;
    for rule in &chosen {
        match rule {
            ListedRule::Mapping(mapping) => {
                let is_there = known.journal.forget_mapping(&mapping.mapping).await.map_err(Failure::journal)?;
                require_unchanged(is_there, "rule", &rule.id())?;
            }
            ListedRule::Rule(seen) => {
                let store = known.store()?;
                let is_there = match removal {
                    Removal::Rejected => store.reject(seen),
                    Removal::Forgotten => {
                        store.change(|book| book.rules.retain(|known| known.id != seen.id)).map(|()| true)
                    }
                };
                require_unchanged(is_there.map_err(known::unusable)?, "rule", &rule.id())?;
            }
        }
    }
    let number = chosen.len();
    print_rules(chosen, arguments.json)?;
    if !arguments.json {
        let done = if removal == Removal::Rejected { "rejected" } else { "forgot" };
        print_message(&format!("{done} {}\n", if number == 1 { "this rule" } else { "these rules" }));
    }
    Ok(ExitCode::SUCCESS)
}

async fn test(names: &[String], sources: &RuleSources) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(sources).await?;
    let mut is_harmful = false;
    let mut tested = 0;
    for rule in &known.learned(names, |rule| rule.state != RuleState::Retired)? {
        let verdicts = rule.evaluate(&known.review.lessons);
        is_harmful |= rule.state == RuleState::Accepted && !verdicts.harms.is_empty();
        tested += 1;
        let (helps, harms) = (verdicts.helps.len(), verdicts.harms.len());
        print_data(&format!("{}  {:<8}  helps {helps}, harms {harms}\n", rule.id, rule.state))?;
        for place in &verdicts.harms {
            print_data(&show::harm(rule, place, &known.review))?;
        }
    }
    let lessons = count(known.review.lessons.len() as u64, "correction");
    print_message(&format!("{} on {lessons} in the journal\n", count(tested, "rule")));
    Ok(if is_harmful { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn export(names: &[String], sources: &RuleSources) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(sources).await?;
    let rules = known.learned(names, |rule| rule.state == RuleState::Accepted)?;
    print_data(&write_rule_file(&RuleBook { rules })).map(|()| ExitCode::SUCCESS)
}

async fn import(file: &Path, sources: &RuleSources) -> Result<ExitCode, Failure> {
    let known = KnownRules::load(sources).await?;
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("cannot read `{}`: {error}", file.display()), "give a file of `reknit rules export`")
    })?;
    let book = read_rule_file(&text).map_err(|error| {
        Failure::usage(format!("cannot use the rules in `{}`: {error}", file.display()), "correct these lines")
    })?;
    let proposed = known::new_rules(&book, &known.review.book).map_err(|conflicts| {
        let hint =
            "give the rules in one of the files other ids, or leave `id` out: then it follows from what the rule does";
        Failure::usage(format!("`{}` has other rules under known ids: {}", file.display(), conflicts.join(", ")), hint)
    })?;
    for (before, rule) in &proposed {
        if *before != rule.id {
            print_message(&format!(
                "note: `{before}` is imported as {}, the id that follows from what it does\n",
                rule.id
            ));
        }
    }
    let proposed: Vec<LearnedRule> = proposed.into_iter().map(|(_, rule)| rule).collect();
    let store = known.store()?;
    store.change(|book| proposed.iter().cloned().for_each(|rule| book.put(rule))).map_err(known::unusable)?;
    print_rules(&proposed.iter().cloned().map(ListedRule::Rule).collect::<Vec<_>>(), false)?;
    let rules = count(proposed.len() as u64, "new rule");
    print_message(&format!(
        "{rules} proposed; look at them with `reknit rules show`, and accept them with `reknit rules accept`\n"
    ));
    Ok(ExitCode::SUCCESS)
}

fn print_rules<'a>(rules: impl IntoIterator<Item = &'a ListedRule>, json: bool) -> Result<(), Failure> {
    for rule in rules {
        let line = if json { rule.json().to_string() } else { rule.line() };
        print_data(&(line + "\n"))?;
    }
    Ok(())
}
