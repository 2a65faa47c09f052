//! What people look at before they accept or reject learned rules: the rules, what runs propose, and what speaks for and against.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::Run;
use reknit_journal::{Journal, RunFilter, RunSummary, StorageError};
use reknit_mend::{LearnedRule, Lesson, RuleBook, RuleState, Rung, propose_rules};
use reknit_protocol::RunId;

use crate::rule_store::{RuleStore, RuleStoreError};
use crate::saved_run::load_run;

/// The rules of a file and of the runs in a journal.
#[derive(Debug, Default)]
pub struct RuleReview {
    /// The rules as the files have them.
    pub book: RuleBook,
    /// All rules with the evidence of the runs: those of the file, accepted ones first, then what the runs propose.
    pub rules: Vec<LearnedRule>,
    /// The corrections in the runs.
    pub lessons: Vec<Lesson>,
    /// How many runs this build cannot restore. They count for nothing.
    pub unread: u64,
}

/// Why rules cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum RuleReviewError {
    #[error(transparent)]
    Rules(#[from] RuleStoreError),
    #[error("cannot read the journal")]
    Journal(#[from] StorageError),
}

/// What a rule saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleSavings {
    /// How many model calls the corrections needed from which it was learned.
    pub model_calls: u32,
    /// How often it corrected a call.
    pub uses: usize,
    /// How many model calls these uses saved: each what the corrections by models have cost on average.
    pub saved: usize,
}

impl RuleReview {
    /// Reads the rules, and the corrections of the newest runs. Runs that `kept` knows are not read again.
    pub async fn load(
        journal: &Journal,
        store: Option<&RuleStore>,
        runs: u32,
        kept: &KeptLessons,
    ) -> Result<Self, RuleReviewError> {
        let book = store.map(RuleStore::load).transpose()?.unwrap_or_default();
        let (lessons, unread) = kept.newest(journal, runs).await?;
        let judged = |rule: &LearnedRule| rule.clone().with_evidence(rule.evaluate(&lessons));
        let mut rules: Vec<LearnedRule> = book.rules.iter().map(judged).collect();
        rules.sort_by_key(|rule| rule.state != RuleState::Accepted);
        rules.extend(new_proposals(&book, &lessons));
        Ok(Self { book, rules, lessons, unread })
    }

    pub fn lesson(&self, place: &str) -> Option<&Lesson> {
        self.lessons.iter().find(|lesson| lesson.place == place)
    }

    pub fn savings(&self, rule: &LearnedRule) -> RuleSavings {
        let verdicts = rule.evaluate(&self.lessons);
        let is_use = |lesson: &&Lesson| lesson.rung == Rung::Rules && verdicts.helps.contains(&lesson.place);
        let uses = self.lessons.iter().filter(is_use).count();
        let learned = verdicts.helps.len() - uses;
        let saved = (verdicts.model_calls as usize * uses).checked_div(learned).unwrap_or_default();
        RuleSavings { model_calls: verdicts.model_calls, uses, saved }
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

/// The corrections in runs of one journal, each read once for each state of its run.
#[derive(Debug, Default)]
pub struct KeptLessons(Mutex<HashMap<RunId, (u64, RunLessons)>>);

/// The corrections of a run; `None` if this build cannot restore it.
type RunLessons = Option<Arc<[Lesson]>>;

/// How many runs are kept.
const MAX_KEPT: usize = 2_000;

impl KeptLessons {
    /// The corrections of the newest runs, the oldest first, and how many runs this build cannot restore.
    async fn newest(&self, journal: &Journal, runs: u32) -> Result<(Vec<Lesson>, u64), StorageError> {
        let (mut lessons, mut unread) = (Vec::new(), 0);
        for run in journal.runs(&RunFilter::newest(runs)).await?.iter().rev() {
            match self.of(journal, run).await {
                Some(found) => lessons.extend(found.iter().cloned()),
                None => unread += 1,
            }
        }
        Ok((lessons, unread))
    }

    async fn of(&self, journal: &Journal, run: &RunSummary) -> RunLessons {
        if let Some((_, lessons)) = self.0.lock().get(&run.run).filter(|(len, _)| *len == run.len) {
            return lessons.clone();
        }
        let lessons: RunLessons = match load_run(journal, &run.run).await {
            // A fork repeats what its origin did, and teaches nothing.
            Ok(saved) if saved.machine.fork().is_some() => Some(Arc::default()),
            Ok(saved) => Some(saved.machine.as_run().map(Run::lessons).unwrap_or_default().into()),
            Err(_) => None,
        };
        let mut kept = self.0.lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(run.run.clone(), (run.len, lessons.clone()));
        lessons
    }
}
