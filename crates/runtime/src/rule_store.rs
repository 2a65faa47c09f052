//! The file with learned rules: read before runs start, and changed by people and by runs that prove a rule wrong or teach one.

mod files;
mod waiting_changes;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use reknit_config::{Config, ConfigError, RuleSettings};
use reknit_engine::{EventKind, Machine, Overview, Policy, Run};
use reknit_journal::{Journal, RunFilter, StatusFilter};
use reknit_mend::{BookChange, LearnedRule, RuleBook, RuleState};
use reknit_protocol::RunId;
use tokio::sync::watch;

pub use self::files::RuleStoreError;
use self::files::{RuleFiles, stamp_of};
use self::waiting_changes::{RejectedRule, WaitingChanges};
use crate::replay::from_row;
use crate::telemetry::log::TARGET;

/// How many of the newest runs that have ended are looked at when a process starts.
const RUNS_AT_START: u32 = 100;

/// A file with learned rules. A file that does not exist has none.
///
/// What runs note about rules, and what they propose, is in a second file beside it (`rules.yaml.learned`), so that the file that
/// people keep changes only if a rule changes its state.
#[derive(Debug)]
pub struct RuleStore {
    files: RuleFiles,
    accept_reads_after: u32,
    known: Mutex<KnownRules>,
    waiting: Mutex<WaitingChanges>,
    /// The number of the last change of a run that was written, or given up.
    written: watch::Sender<u64>,
}

/// What was read last.
#[derive(Debug, Default)]
struct KnownRules {
    /// The time and the size of the file that was read; `None` if there was none.
    stamp: Option<(SystemTime, u64)>,
    book: RuleBook,
    /// The policy of the last run without its rules, and with them: runs share it.
    policy: Option<SharedPolicy>,
}

#[derive(Debug)]
struct SharedPolicy {
    without: Arc<Policy>,
    with: Arc<Policy>,
    /// How many rejections had waited so far.
    rejections: u64,
}

impl RuleStore {
    /// The file of a configuration, if one is set. Fails if it cannot be used, or if rules should accept themselves and there is no
    /// file.
    pub(crate) fn configured(config: &Config) -> Result<Option<Self>, ConfigError> {
        let RuleSettings { file, enabled, accept_reads_after } = &config.rules;
        match file {
            Some(path) if *enabled => {
                Self::open(path, *accept_reads_after).map(Some).map_err(|error| ConfigError::Rules(Box::new(error)))
            }
            None if *accept_reads_after > 0 && *enabled => Err(ConfigError::Invalid {
                origin: config.origin_of("rules.accept-reads-after"),
                problem: "there is no file for the rules; set `rules.file`, for example to \"reknit-rules.yaml\""
                    .to_owned(),
            }),
            Some(_) | None => Ok(None),
        }
    }

    /// Reads a file. Rules for calls that only read accept themselves after confirmations from this many runs; 0 is never.
    pub fn open(path: &Path, accept_reads_after: u32) -> Result<Self, RuleStoreError> {
        let files = RuleFiles::new(path);
        let stamp = stamp_of(path);
        let known = KnownRules { stamp, book: files.read_main()?.book, policy: None };
        let (known, waiting) = (Mutex::new(known), Mutex::default());
        Ok(Self { files, accept_reads_after, known, waiting, written: watch::Sender::new(0) })
    }

    pub fn path(&self) -> &Path {
        &self.files.main
    }

    /// The rules as they are now: those of the file, and what runs propose.
    pub fn load(&self) -> Result<RuleBook, RuleStoreError> {
        self.files.read_all()
    }

    /// Changes the rules in the file, as a person wants it: also new proposals are in the file afterwards. Other processes that change
    /// it wait, and this waits for them, but not for long. If nothing changes, nothing is written.
    ///
    /// The change is made again if somebody saves the file meanwhile.
    pub fn change<T>(&self, change: impl FnMut(&mut RuleBook) -> T) -> Result<T, RuleStoreError> {
        self.files.change(|_| true, change)
    }

    /// A person accepts a rule that they have seen. Returns whether they have: by now the file may have another rule under this id, or a
    /// tool may have rejected it.
    pub fn accept(&self, seen: &LearnedRule) -> Result<bool, RuleStoreError> {
        self.change_seen(seen, |book| book.accept(seen))
    }

    /// A person rejects a rule that they have seen: it is not used, and not proposed again. Returns as [`RuleStore::accept`] does.
    pub fn reject(&self, seen: &LearnedRule) -> Result<bool, RuleStoreError> {
        self.change_seen(seen, |book| _ = book.retire(seen, "rejected by a person"))
    }

    fn change_seen(&self, seen: &LearnedRule, mut change: impl FnMut(&mut RuleBook)) -> Result<bool, RuleStoreError> {
        self.change(|book| {
            let is_seen = book.get(&seen.id).is_none_or(|known| known.version() == seen.version());
            if is_seen {
                change(book);
            }
            is_seen
        })
    }

    /// The policy of a new run, with the accepted rules. A file that has become unusable is reported, and the rules that were
    /// read before are used.
    pub(crate) fn policy(&self, base: &Arc<Policy>) -> Arc<Policy> {
        let mut known = self.known.lock();
        self.refresh(&mut known);
        let waiting = self.waiting.lock();
        let rejections = waiting.rejections_so_far();
        if let Some(shared) = &known.policy
            && Arc::ptr_eq(&shared.without, base)
            && shared.rejections == rejections
        {
            return Arc::clone(&shared.with);
        }
        let mut rules = known.book.for_runs();
        rules.retain(|rule| !waiting.is_rejected(rule));
        let with = if rules.is_empty() { Arc::clone(base) } else { Arc::new(Policy { rules, ..Policy::clone(base) }) };
        known.policy = Some(SharedPolicy { without: Arc::clone(base), with: Arc::clone(&with), rejections });
        with
    }

    /// Reads the file if it has changed; returns whether its rules are used.
    fn refresh(&self, known: &mut KnownRules) -> bool {
        let stamp = stamp_of(&self.files.main);
        if stamp == known.stamp {
            return true;
        }
        known.stamp = stamp;
        match self.files.read_main() {
            Ok(main) => {
                (known.book, known.policy) = (main.book, None);
                true
            }
            Err(error) => {
                tracing::warn!(target: TARGET, "{error}; the rules read before are used: {}", cause_of(&error));
                false
            }
        }
    }

    /// Notes the rules that a tool rejected in a run or session. From now on no run starts with them; the file is changed in the
    /// background. Returns the number of the change, for [`RuleStore::is_written`].
    pub(crate) fn note_rejections(self: &Arc<Self>, machine: &Machine) -> Option<u64> {
        // What a fork repeats is known from its origin, and a copy of an answer is no evidence.
        if machine.fork().is_some() {
            return None;
        }
        let rejections: Vec<RejectedRule> = RejectedRule::of_machine(machine);
        (!rejections.is_empty()).then(|| self.add(|waiting| waiting.add_rejections(rejections)))
    }

    /// Learns from the corrections of a run that has ended, in the background, if rules may accept themselves.
    pub(crate) fn learn_from(self: &Arc<Self>, run: &Run) -> Option<u64> {
        let teaches = self.accept_reads_after > 0 && run.started().fork.is_none() && run.has_corrections();
        teaches.then(|| self.add(|waiting| waiting.add_run(run)))
    }

    /// Notes the rejections in the newest runs that have ended: their process may have been killed before it could. Those that are
    /// known change nothing.
    pub(crate) async fn note_rejections_in(self: &Arc<Self>, journal: &Journal) {
        // Whoever uses the file reports that it cannot be read, and so does whoever needs the journal.
        let Ok(book) = self.load() else { return };
        if book.rules.iter().all(|rule| rule.state == RuleState::Proposed) {
            return;
        }
        let ended = RunFilter::of_status(StatusFilter::Ended, RUNS_AT_START);
        let Ok(runs) = journal.runs(&ended).await else { return };
        let mut rejections = Vec::new();
        for run in &runs {
            let Ok(Some(ending)) = journal.ending(&run.run).await else { continue };
            let rejected = rejected_rules(&ending);
            if rejected.is_empty() {
                continue;
            }
            let Some(policy) = started_policy(journal, &run.run).await else { continue };
            rejections.extend(RejectedRule::of_policy(&rejected, &policy, &run.run));
        }
        rejections.retain(|rejected: &RejectedRule| !rejected.is_known_in(&book));
        if !rejections.is_empty() {
            let change = self.add(|waiting| waiting.add_rejections(rejections));
            self.wait_until_written(change).await;
        }
    }

    /// Adds a change, and starts to write unless somebody does.
    fn add(self: &Arc<Self>, add: impl FnOnce(&mut WaitingChanges)) -> u64 {
        let mut waiting = self.waiting.lock();
        add(&mut waiting);
        let number = waiting.next_number();
        if waiting.start_writing() {
            let store = Arc::clone(self);
            // Not on a worker: another program may hold the file, and candidates for rules take time.
            tokio::task::spawn_blocking(move || store.write_waiting());
        }
        number
    }

    /// Waits until a change is written or given up.
    pub(crate) async fn wait_until_written(&self, number: u64) {
        // The sender lives as long as this store.
        let _ = self.written.subscribe().wait_for(|written| *written >= number).await;
    }

    /// Writes what waits, until nothing does.
    fn write_waiting(&self) {
        let _give_up = GiveUpOnPanic(self);
        loop {
            let lock = || self.waiting.lock();
            let Some(batch) = lock().take_batch() else { return };
            let lessons: Vec<_> = batch.runs.iter().flat_map(Run::lessons).collect();
            let outcome = self.files.change(
                |rule| rule.state != RuleState::Proposed,
                |book| {
                    let rejected = batch.rejections.iter().filter_map(|rejected| rejected.apply(book));
                    let mut changes: Vec<BookChange> = rejected.collect();
                    changes.extend(lessons.iter().flat_map(|lesson| book.learn(lesson, self.accept_reads_after)));
                    changes
                },
            );
            // Before the rejections stop waiting: otherwise a run could start with a rule that is retired.
            let is_known = outcome.is_ok() && self.refresh(&mut self.known.lock());
            self.report(&outcome);
            lock().end_batch(&batch, is_known);
            self.written.send_replace(batch.number);
        }
    }

    fn report(&self, outcome: &Result<Vec<BookChange>, RuleStoreError>) {
        let path = self.path().display();
        match outcome {
            Ok(changes) => changes.iter().for_each(|change| match change {
                BookChange::Retired(rule) => tracing::warn!(target: TARGET, "rule {rule} in `{path}` is retired"),
                BookChange::Accepted(rule) => tracing::info!(target: TARGET, "rule {rule} in `{path}` is accepted"),
                BookChange::Proposed(_) | BookChange::Judged(_) => {}
            }),
            Err(error) => tracing::warn!(target: TARGET, "{error}: {}", cause_of(error)),
        }
    }
}

/// Lets nobody wait for a task that panicked.
struct GiveUpOnPanic<'s>(&'s RuleStore);

impl Drop for GiveUpOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let number = self.0.waiting.lock().give_up();
            self.0.written.send_replace(number);
        }
    }
}

/// The rules that a tool rejected, in what was stored when a run ended, each with the error.
fn rejected_rules(ending: &str) -> BTreeMap<String, String> {
    if !ending.contains("\"rejected_rules\"") {
        return BTreeMap::new();
    }
    let overview = serde_json::from_str::<Overview>(ending).ok();
    overview.and_then(|overview| overview.rejected_rules().cloned()).unwrap_or_default()
}

/// The policy that a run started with: its rules may have been corrected since.
async fn started_policy(journal: &Journal, run: &RunId) -> Option<Arc<Policy>> {
    let first = journal.events_page(run, 0, 1).await.ok()?.pop()?;
    match from_row(&first).ok()?.kind {
        EventKind::Started(started) => Some(started.policy),
        EventKind::SessionStarted(started) => Some(started.policy),
        _ => None,
    }
}

fn cause_of(error: &RuleStoreError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
