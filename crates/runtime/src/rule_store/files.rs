//! The files with rules: reading, locking and replacing them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use reknit_engine::{RuleFileError, edit_rule_file, read_rule_file, write_rule_file};
use reknit_mend::{LearnedRule, RuleBook, RuleState};

use crate::telemetry::log::TARGET;

/// How long another process may hold the lock. It writes two small files.
const LOCK_LIMIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

const MAX_BYTES: u64 = 4 << 20;

/// How often a change is made anew because somebody saved the file meanwhile.
const MAX_SAVES: u32 = 5;

/// Why a file with rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleStoreError {
    #[error("cannot read the rules in `{}`", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write the rules in `{}`", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot use the rules in `{}`", .path.display())]
    Invalid { path: PathBuf, source: RuleFileError },
}

/// The file that people keep, the one in which runs note what they learn, and the lock for both.
#[derive(Debug)]
pub(super) struct RuleFiles {
    pub(super) main: PathBuf,
    notes: PathBuf,
    lock: PathBuf,
}

/// A file and its rules.
#[derive(Debug, Default)]
pub(super) struct RuleText {
    text: String,
    pub(super) book: RuleBook,
}

impl RuleFiles {
    pub(super) fn new(main: &Path) -> Self {
        let beside = |ending: &str| {
            let mut name = main.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Self { notes: beside(".learned"), lock: beside(".lock"), main: main.to_owned() }
    }

    pub(super) fn read_main(&self) -> Result<RuleText, RuleStoreError> {
        read(&self.main)
    }

    /// The rules of both files.
    pub(super) fn read_all(&self) -> Result<RuleBook, RuleStoreError> {
        let main = self.read_main()?;
        Ok(merge(&main.book, &self.read_notes()?.book))
    }

    /// Notes that are damaged are made anew: they can be learned again.
    fn read_notes(&self) -> Result<RuleText, RuleStoreError> {
        match read(&self.notes) {
            Err(error @ RuleStoreError::Invalid { .. }) => {
                let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::warn!(target: TARGET, "{error}; what runs have noted there is forgotten: {source}");
                Ok(RuleText::default())
            }
            notes => notes,
        }
    }

    /// Changes the rules. A new or changed rule that is not in the file of people gets there if `is_kept` says so.
    pub(super) fn change<T>(
        &self,
        is_kept: impl Fn(&LearnedRule) -> bool,
        mut change: impl FnMut(&mut RuleBook) -> T,
    ) -> Result<T, RuleStoreError> {
        let _lock = self.lock()?;
        for _ in 0..MAX_SAVES {
            let (main, notes) = (self.read_main()?, self.read_notes()?);
            let before = merge(&main.book, &notes.book);
            let mut after = before.clone();
            let outcome = change(&mut after);
            if after == before {
                return Ok(outcome);
            }
            let is_kept = |rule: &LearnedRule| before.get(&rule.id) != Some(rule) && is_kept(rule);
            let (new_main, new_notes) = split(&main.book, &after, is_kept);
            if new_main != main.book {
                let text = edit_rule_file(&main.text, &new_main);
                // An editor takes no lock.
                if self.read_main()?.text != main.text {
                    continue;
                }
                replace(&self.main, &text).map_err(|source| self.unwritable(source))?;
            }
            if new_notes != notes.book {
                replace(&self.notes, &notes_text(&new_notes)).map_err(|source| self.unwritable(source))?;
            }
            return Ok(outcome);
        }
        Err(self.unwritable(io::Error::other("somebody else saves it again and again")))
    }

    fn unwritable(&self, source: io::Error) -> RuleStoreError {
        RuleStoreError::Write { path: self.main.clone(), source }
    }

    /// Locks both files for other processes that use this lock. It is unlocked when it is closed.
    fn lock(&self) -> Result<File, RuleStoreError> {
        // The files themselves are replaced, so a lock on them would protect nothing.
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&self.lock);
        let file = open.map_err(|source| self.unwritable(source))?;
        let end = Instant::now() + LOCK_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(source)) => return Err(self.unwritable(source)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                    let problem = format!("another process holds `{}`", self.lock.display());
                    return Err(self.unwritable(io::Error::new(io::ErrorKind::TimedOut, problem)));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            }
        }
    }
}

/// The rules of people, each with what runs noted about it, and the proposals of runs.
fn merge(main: &RuleBook, notes: &RuleBook) -> RuleBook {
    let with_notes = |rule: &LearnedRule| {
        let Some(known) = notes.get(&rule.id).filter(|known| known.has_same_content(rule)) else { return rule.clone() };
        let is_as_before = known.state == rule.state;
        let mut evidence = if is_as_before { known.evidence.clone() } else { rule.evidence.clone() };
        // Rejections are known even if somebody accepted the rule by hand, and removed what was noted.
        for run in rule.evidence.rejections.iter().chain(&known.evidence.rejections) {
            if !evidence.rejections.contains(run) {
                evidence.rejections.push(run.clone());
            }
        }
        LearnedRule { evidence, ..rule.clone() }
    };
    let is_proposal = |rule: &&LearnedRule| rule.state == RuleState::Proposed && main.get(&rule.id).is_none();
    let proposals = notes.rules.iter().filter(is_proposal).cloned();
    RuleBook { rules: main.rules.iter().map(with_notes).chain(proposals).collect() }
}

/// What belongs into which file. A rule of people whose state is as before keeps its text: only what is noted about it is new.
fn split(main: &RuleBook, after: &RuleBook, is_kept: impl Fn(&LearnedRule) -> bool) -> (RuleBook, RuleBook) {
    let (mut people, mut notes) = (RuleBook::default(), RuleBook::default());
    for rule in &after.rules {
        match main.get(&rule.id) {
            Some(before) if before.for_runs() == rule.for_runs() => {
                people.rules.push(before.clone());
                // Rejections stay in the notes, so that they are known if somebody removes the evidence by hand.
                if before.evidence != rule.evidence || !rule.evidence.rejections.is_empty() {
                    notes.rules.push(rule.clone());
                }
            }
            known if known.is_some() || is_kept(rule) => {
                people.rules.push(rule.clone());
                if !rule.evidence.rejections.is_empty() {
                    notes.rules.push(rule.clone());
                }
            }
            _ => notes.rules.push(rule.clone()),
        }
    }
    (people, notes)
}

fn notes_text(book: &RuleBook) -> String {
    let rules = write_rule_file(book);
    let rules = rules.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    format!("# What runs noted about rules, and what they propose. It can be deleted; do not commit it.\n{rules}\n")
}

pub(super) fn stamp_of(path: &Path) -> Option<(SystemTime, u64)> {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

fn read(path: &Path) -> Result<RuleText, RuleStoreError> {
    let text = match fs::metadata(path).and_then(|data| require_file(&data)).and_then(|()| fs::read_to_string(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RuleText::default()),
        Err(source) => return Err(RuleStoreError::Read { path: path.to_owned(), source }),
    };
    match read_rule_file(&text) {
        Ok(book) => Ok(RuleText { text, book }),
        Err(source) => Err(RuleStoreError::Invalid { path: path.to_owned(), source }),
    }
}

/// A pipe or a device would be read forever, and a large file takes as much memory at the start of each run.
fn require_file(data: &fs::Metadata) -> io::Result<()> {
    let problem = match data {
        data if !data.is_file() => "it is not a regular file".to_owned(),
        data if data.len() > MAX_BYTES => format!("it is larger than {} MiB", MAX_BYTES >> 20),
        _ => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// Replaces a file. A reader sees the old text or the new one, never a part of one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let part = path.with_extension(format!("part-{}", std::process::id()));
    let mut file = File::create(&part)?;
    file.write_all(text.as_bytes())?;
    // Otherwise a power cut could leave an empty file, which is a valid one without rules.
    file.sync_all()?;
    if let Ok(data) = fs::metadata(&path) {
        fs::set_permissions(&part, data.permissions())?;
    }
    fs::rename(&part, &path)
}
