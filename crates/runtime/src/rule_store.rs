//! The file with learned rules: read before runs start, and changed after runs that prove a rule wrong or teach one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use reknit_engine::{Policy, RuleFileError, Run, read_rule_file, write_rule_file};
use reknit_mend::{BookChange, RuleBook};

use crate::telemetry::log::TARGET;

/// Why a file with rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleStoreError {
    /// It cannot be read.
    #[error("cannot read the rules in `{}`", .path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write the rules in `{}`", .path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// Why it cannot be written.
        source: io::Error,
    },
    /// It has errors.
    #[error("cannot use the rules in `{}`", .path.display())]
    Invalid {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        source: RuleFileError,
    },
}

/// A file with learned rules. A file that does not exist has none.
#[derive(Debug)]
pub struct RuleStore {
    path: PathBuf,
    accept_reads_after: u32,
    known: Mutex<KnownRules>,
}

/// What was read last.
#[derive(Debug, Default)]
struct KnownRules {
    /// The time and the size of the file that was read; `None` if there was none.
    stamp: Option<(SystemTime, u64)>,
    book: RuleBook,
    /// Rules that a tool rejected. They are not used again even if the file cannot be written.
    rejected: BTreeSet<String>,
    /// The policy of the last run without its rules, and with them: runs share it.
    policy: Option<(Arc<Policy>, Arc<Policy>)>,
}

impl RuleStore {
    /// Reads a file. Rules for calls that only read accept themselves after confirmations from this many runs; 0 is never.
    pub fn open(path: &Path, accept_reads_after: u32) -> Result<Self, RuleStoreError> {
        let stamp = stamp_of(path);
        let known = KnownRules { stamp, book: read(path)?, ..KnownRules::default() };
        Ok(Self { path: path.to_owned(), accept_reads_after, known: Mutex::new(known) })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rules, as they are in the file now.
    pub fn load(&self) -> Result<RuleBook, RuleStoreError> {
        read(&self.path)
    }

    /// Changes the rules in the file. Other processes that change it wait. If nothing changes, nothing is written.
    pub fn change<T>(&self, change: impl FnOnce(&mut RuleBook) -> T) -> Result<T, RuleStoreError> {
        let failed = |source| RuleStoreError::Write { path: self.path.clone(), source };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Unlocked when it is closed. The file itself is replaced, so a lock on it would protect nothing.
        let lock = File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let before = read(&self.path)?;
        let mut book = before.clone();
        let outcome = change(&mut book);
        if book != before {
            replace(&self.path, &write_rule_file(&book)).map_err(failed)?;
        }
        Ok(outcome)
    }

    /// The policy of a new run, with the accepted rules. A file that has become unusable is reported, and the rules that were
    /// read before are used.
    pub(crate) fn policy(&self, base: &Arc<Policy>) -> Arc<Policy> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp_of(&self.path);
        if stamp != known.stamp {
            match read(&self.path) {
                Ok(book) => (known.book, known.policy) = (book, None),
                Err(error) => {
                    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                    tracing::warn!(target: TARGET, "{error}; the rules read before are used: {source}");
                }
            }
            known.stamp = stamp;
        }
        if let Some((without, with)) = &known.policy
            && Arc::ptr_eq(without, base)
        {
            return Arc::clone(with);
        }
        let mut rules = known.book.for_runs();
        rules.retain(|rule| !known.rejected.contains(&rule.id));
        let policy =
            if rules.is_empty() { Arc::clone(base) } else { Arc::new(Policy { rules, ..Policy::clone(base) }) };
        known.policy = Some((Arc::clone(base), Arc::clone(&policy)));
        policy
    }

    /// Retires the rules that a tool rejected in a run that has ended, and learns from its corrections if rules may accept
    /// themselves. What cannot be written is reported.
    pub(crate) fn learn_from(&self, run: &Run) {
        let rejected: Vec<&str> = run.rejected_rules().collect();
        if !rejected.is_empty() {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.rejected.extend(rejected.iter().map(|rule| (*rule).to_owned()));
            known.policy = None;
        }
        let lessons = if self.accept_reads_after > 0 { run.lessons() } else { Vec::new() };
        if rejected.is_empty() && lessons.is_empty() {
            return;
        }
        let outcome = self.change(|book| {
            let mut changes = Vec::new();
            for id in &rejected {
                let Some(rule) = book.get(id).cloned() else { continue };
                let error = run.rule_rejection(id).unwrap_or_default();
                if book.retire(&rule, &format!("rejected in run {}: {error}", run.started().run)) {
                    changes.push(BookChange::Retired(rule.id));
                }
            }
            changes.extend(lessons.iter().flat_map(|lesson| book.learn(lesson, self.accept_reads_after)));
            changes
        });
        let path = self.path.display();
        match outcome {
            Ok(changes) => changes.iter().for_each(|change| match change {
                BookChange::Retired(rule) => tracing::warn!(target: TARGET, "rule {rule} in `{path}` is retired"),
                BookChange::Accepted(rule) => tracing::info!(target: TARGET, "rule {rule} in `{path}` is accepted"),
                BookChange::Proposed(_) | BookChange::Judged(_) => {}
            }),
            Err(error) => {
                let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::warn!(target: TARGET, "{error}: {source}");
            }
        }
    }
}

fn stamp_of(path: &Path) -> Option<(SystemTime, u64)> {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

fn read(path: &Path) -> Result<RuleBook, RuleStoreError> {
    let text = match fs::metadata(path).and_then(|data| require_file(&data)).and_then(|()| fs::read_to_string(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RuleBook::default()),
        Err(source) => return Err(RuleStoreError::Read { path: path.to_owned(), source }),
    };
    read_rule_file(&text).map_err(|source| RuleStoreError::Invalid { path: path.to_owned(), source })
}

/// A pipe or a device would be read forever.
fn require_file(data: &fs::Metadata) -> io::Result<()> {
    if data.is_file() { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")) }
}

/// Replaces a file. A reader sees the old text or the new one, never a part of one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let part = path.with_extension(format!("part-{}", std::process::id()));
    fs::write(&part, text)?;
    if let Ok(data) = fs::metadata(&path) {
        fs::set_permissions(&part, data.permissions())?;
    }
    fs::rename(&part, &path)
}
