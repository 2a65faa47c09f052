//! `reknit rules`: lists, accepts and forgets the mappings that runs have learned.

use std::process::ExitCode;

use reknit_journal::{Journal, LearnedMapping};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Value};

use crate::cli::{RuleArguments, RulesCommand};
use crate::failure::Failure;
use crate::print::{print_data, print_message};
use crate::setup::open_journal;
use crate::terminal_text::one_line;

/// The most ids that an error lists.
const MAX_LISTED: usize = 5;

/// Runs a `reknit rules` command.
pub(crate) async fn run(command: RulesCommand) -> Result<ExitCode, Failure> {
    match command {
        RulesCommand::List { json, journal } => {
            let rules = stored_rules(&open_journal(&journal)?).await?;
            print_rules(&rules, json)?;
            if rules.is_empty() && !json {
                print_message("the journal has no rules: no run has found a value that its plan left open\n");
            }
        }
        RulesCommand::Accept(arguments) => {
            let journal = open_journal(&arguments.journal)?;
            let chosen = chosen_rules(&journal, &arguments).await?;
            let now_ms = jiff::Timestamp::now().as_millisecond();
            for rule in &chosen {
                let is_there = journal.accept_mapping(&rule.mapping, now_ms).await.map_err(Failure::journal)?;
                require_unchanged(is_there, rule)?;
            }
            let accepted =
                |rule: LearnedMapping| LearnedMapping { accepted_ms: rule.accepted_ms.or(Some(now_ms)), ..rule };
            print_rules(&chosen.into_iter().map(accepted).collect::<Vec<_>>(), arguments.json)?;
        }
        RulesCommand::Forget(arguments) => {
            let journal = open_journal(&arguments.journal)?;
            let chosen = chosen_rules(&journal, &arguments).await?;
            for rule in &chosen {
                let is_there = journal.forget_mapping(&rule.mapping).await.map_err(Failure::journal)?;
                require_unchanged(is_there, rule)?;
            }
            print_rules(&chosen, arguments.json)?;
            if !arguments.json {
                print_message(&format!("forgot {}\n", if chosen.len() == 1 { "this rule" } else { "these rules" }));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn stored_rules(journal: &Journal) -> Result<Vec<LearnedMapping>, Failure> {
    journal.learned_mappings(u32::MAX).await.map_err(Failure::journal)
}

/// The rules that the arguments name. If one of them is unknown, nothing is changed.
async fn chosen_rules(journal: &Journal, arguments: &RuleArguments) -> Result<Vec<LearnedMapping>, Failure> {
    let rules = stored_rules(journal).await?;
    let mut chosen: Vec<LearnedMapping> = Vec::new();
    for name in &arguments.rules {
        let rule = find_rule(&rules, name)?;
        if !chosen.contains(rule) {
            chosen.push(rule.clone());
        }
    }
    Ok(chosen)
}

fn find_rule<'a>(rules: &'a [LearnedMapping], name: &str) -> Result<&'a LearnedMapping, Failure> {
    let ids: Vec<String> = rules.iter().map(|rule| rule.mapping.id()).collect();
    let found: Vec<(&LearnedMapping, &String)> =
        rules.iter().zip(&ids).filter(|(_, id)| !name.is_empty() && id.starts_with(name)).collect();
    match found.as_slice() {
        [(rule, _)] => Ok(rule),
        [] => {
            let hint = match nearest(name, ids.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? `reknit rules list` lists all rules"),
                None => "list the rules with `reknit rules list`".to_owned(),
            };
            Err(Failure::usage(format!("there is no rule `{name}`"), hint))
        }
        several => {
            let names: Vec<&str> = several.iter().take(MAX_LISTED).map(|(_, id)| id.as_str()).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several rules start with `{name}`"), hint))
        }
    }
}

/// A run may have replaced or another person removed the rule since it was read.
fn require_unchanged(is_there: bool, rule: &LearnedMapping) -> Result<(), Failure> {
    if is_there {
        return Ok(());
    }
    let message = format!("rule `{}` has changed in the meantime", rule.mapping.id());
    Err(Failure::usage(message, "look at it again with `reknit rules list`"))
}

fn print_rules(rules: &[LearnedMapping], json: bool) -> Result<(), Failure> {
    for rule in rules {
        let line = if json { Value::Object(object(rule)).to_string() } else { line(rule) };
        print_data(&(line + "\n"))?;
    }
    Ok(())
}

fn line(rule: &LearnedMapping) -> String {
    let mapping = &rule.mapping;
    let text = format!(
        "`{}` of {} is `{}` of the result of {}",
        mapping.parameter, mapping.consumer, mapping.expression, mapping.producer
    );
    format!("{}  {:<8}  {}", mapping.id(), status(rule), one_line(&text, usize::MAX))
}

fn status(rule: &LearnedMapping) -> &'static str {
    if rule.accepted_ms.is_some() { "accepted" } else { "inferred" }
}

fn object(rule: &LearnedMapping) -> Object {
    let mapping = &rule.mapping;
    let mut object = Object::from([
        ("rule", mapping.id().into()),
        ("status", status(rule).into()),
        ("consumer", mapping.consumer.as_str().into()),
        ("parameter", mapping.parameter.as_str().into()),
        ("producer", mapping.producer.as_str().into()),
        ("expression", mapping.expression.as_str().into()),
        ("learned_ms", rule.learned_ms.into()),
    ]);
    object.extend(rule.accepted_ms.map(|ms| ("accepted_ms".to_owned(), ms.into())));
    object
}
