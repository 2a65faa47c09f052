//! The rules that there are: in the journal, in the file, and what the runs in the journal propose.

use reknit_journal::{Journal, RunFilter};
use reknit_mend::{LearnedRule, Lesson, RuleBook, RuleState, propose_rules};
use reknit_protocol::spelling::nearest;
use reknit_runtime::{RuleStore, RuleStoreError, load_run};

use super::listed::ListedRule;
use crate::cli::RuleSources;
use crate::failure::Failure;
use crate::print::print_message;
use crate::setup::{open_journal, read_config};

/// The most ids that an error lists.
const MAX_LISTED: usize = 5;

/// Everything that is known about rules.
pub(super) struct KnownRules {
    pub(super) journal: Journal,
    store: Option<RuleStore>,
    /// The rules of the file.
    pub(super) book: RuleBook,
    /// All rules: mappings, then the rules of the file, then proposals; accepted ones first in each.
    pub(super) rules: Vec<ListedRule>,
    /// The corrections in the journal.
    pub(super) lessons: Vec<Lesson>,
}

impl KnownRules {
    pub(super) async fn load(sources: &RuleSources) -> Result<Self, Failure> {
        let config = read_config(sources.files.config.as_deref())?;
        let store = config.rules.file.as_deref().map(|path| RuleStore::open(path, 0)).transpose().map_err(unusable)?;
        let journal = open_journal(&sources.files)?;
        let book = store.as_ref().map(RuleStore::load).transpose().map_err(unusable)?.unwrap_or_default();
        let lessons = lessons_of(&journal, sources.runs).await?;
        let mappings = journal.learned_mappings(u32::MAX).await.map_err(Failure::journal)?;
        let mut rules: Vec<ListedRule> = mappings.into_iter().map(ListedRule::Mapping).collect();
        let judged = |rule: &LearnedRule| rule.clone().with_evidence(&rule.evaluate(&lessons));
        let mut in_file: Vec<LearnedRule> = book.rules.iter().map(judged).collect();
        in_file.sort_by_key(|rule| rule.state != RuleState::Accepted);
        rules.extend(in_file.into_iter().map(ListedRule::Rule));
        rules.extend(new_proposals(&book, &lessons).into_iter().map(ListedRule::Rule));
        Ok(Self { journal, store, book, rules, lessons })
    }

    /// The file for accepted rules.
    pub(super) fn store(&self) -> Result<&RuleStore, Failure> {
        self.store.as_ref().ok_or_else(|| {
            let hint = "write in reknit.toml: [rules] and, in the next line, file = \"reknit-rules.yaml\"";
            Failure::usage("no file for rules is configured", hint)
        })
    }

    /// The rule whose id starts with a name.
    pub(super) fn find(&self, name: &str) -> Result<&ListedRule, Failure> {
        let ids: Vec<String> = self.rules.iter().map(ListedRule::id).collect();
        let found: Vec<(&ListedRule, &String)> =
            self.rules.iter().zip(&ids).filter(|(_, id)| !name.is_empty() && id.starts_with(name)).collect();
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

    /// The rules that names stand for, each once. If one of them is unknown, nothing is changed.
    pub(super) fn choose(&self, names: &[String]) -> Result<Vec<&ListedRule>, Failure> {
        let mut chosen: Vec<&ListedRule> = Vec::new();
        for name in names {
            let rule = self.find(name)?;
            if !chosen.contains(&rule) {
                chosen.push(rule);
            }
        }
        Ok(chosen)
    }

    /// The rules that names stand for, a mapping as the rule that does the same; without names, the rules about rejected calls
    /// that `is_chosen` says.
    pub(super) fn learned(
        &self,
        names: &[String],
        is_chosen: impl Fn(&LearnedRule) -> bool,
    ) -> Result<Vec<LearnedRule>, Failure> {
        let all = |rule: &&ListedRule| matches!(rule, ListedRule::Rule(rule) if is_chosen(rule));
        let chosen: Vec<&ListedRule> =
            if names.is_empty() { self.rules.iter().filter(all).collect() } else { self.choose(names)? };
        let unreadable = |rule: &ListedRule| {
            let message = format!("the expression of rule `{}` cannot be used for a rule", rule.id());
            Failure::usage(message, "look at it with `reknit rules list`")
        };
        chosen.into_iter().map(|rule| rule.as_rule().ok_or_else(|| unreadable(rule))).collect()
    }
}

/// What the journal proposes beyond the rules of the file, retired ones included.
fn new_proposals(book: &RuleBook, lessons: &[Lesson]) -> Vec<LearnedRule> {
    let explained = |place: &String| {
        let lesson = lessons.iter().find(|lesson| lesson.place == *place);
        lesson.is_some_and(|lesson| {
            let is_same =
                |rule: &LearnedRule| rule.apply(&lesson.call).is_some_and(|fix| fix.parameters == lesson.corrected);
            book.rules.iter().any(is_same)
        })
    };
    let mut proposals = propose_rules(lessons);
    proposals.retain(|rule| book.get(&rule.id).is_none() && !rule.evidence.helps.iter().all(explained));
    proposals
}

/// The corrections of the newest runs, the oldest first. A run that this build cannot restore teaches nothing, and is named.
async fn lessons_of(journal: &Journal, runs: u32) -> Result<Vec<Lesson>, Failure> {
    let mut lessons = Vec::new();
    let mut unread = 0;
    let runs = journal.runs(&RunFilter::newest(runs)).await.map_err(Failure::journal)?;
    for run in runs.iter().rev() {
        match load_run(journal, &run.run).await {
            Ok(saved) => lessons.extend(saved.machine.as_run().map(reknit_engine::Run::lessons).unwrap_or_default()),
            Err(_) => unread += 1,
        }
    }
    if unread > 0 {
        let runs = crate::usage::count(unread, "run");
        print_message(&format!("note: {runs} of the journal cannot be restored by this build and count for nothing\n"));
    }
    Ok(lessons)
}

/// The file with rules cannot be used.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the value")]
pub(super) fn unusable(error: RuleStoreError) -> Failure {
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    Failure::usage(format!("{error}: {source}"), "correct the file, or name another one with `rules.file`")
}
