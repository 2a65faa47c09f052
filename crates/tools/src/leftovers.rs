//! What a program leaves behind when it ends: processes that left its process group, as with `setsid`.
//!
//! On Linux a process can adopt all that its children leave behind ([`adopt_orphans`]), so nothing that a program started gets lost.
//! A mark in the environment says which program an orphan belongs to. One without the mark of a program that runs is killed when the
//! next program ends: whoever removes the mark gains nothing. On other systems only the process group is ended.

use std::io;

use rustix::process::Pid;
use tokio::process::{Child, Command};

/// What one program leaves behind. Dropping it kills that soon.
#[derive(Debug)]
pub struct Leftovers(Option<Program>);

/// A program that was started here.
#[derive(Debug)]
struct Program {
    mark: String,
    process: Option<Pid>,
}

impl Leftovers {
    /// Starts a program.
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Child, Self)> {
        let (child, program) = adoption::spawn(&mut command)?;
        Ok((child, Self(program)))
    }

    /// Kills what is left of a program that has ended or was killed.
    pub async fn end(mut self) {
        if let Some(program) = self.0.take() {
            // It waits until they are gone, for a moment. A runtime that ends drops it, and the process does not.
            let _ = tokio::task::spawn_blocking(move || adoption::end(&program)).await;
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if let Some(program) = self.0.take() {
            // Without a thread, the next program that ends does it.
            let _ = std::thread::Builder::new().name("leftovers".to_owned()).spawn(move || adoption::end(&program));
        }
    }
}

/// Lets this process adopt what its children leave behind. It is for programs that start nothing but through this crate: what else
/// they start in process groups of their own would count as left behind.
pub fn adopt_orphans() -> io::Result<()> {
    adoption::begin()
}

/// Kills everything that was left behind, at the end of this process.
pub fn end_orphans() {
    adoption::end_all();
}

#[cfg(target_os = "linux")]
mod adoption {
    use std::collections::{HashMap, HashSet};
    use std::hash::{BuildHasher as _, RandomState};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::{Duration, Instant};
    use std::{fs, io};

    use parking_lot::Mutex;
    use rustix::process::{Pid, Signal, WaitOptions, getpgid, getpid, kill_process, set_child_subreaper, waitpid};
    use tokio::process::{Child, Command};

    use super::Program;

    const VARIABLE: &str = "REKNIT_PROGRAM";
    /// How long to wait for the end of processes that were killed.
    const MAX_WAIT: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_millis(2);
    /// How often a process without a mark must be there before it is killed.
    const MIN_SEEN: u32 = 5;

    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static ADOPTS: AtomicBool = AtomicBool::new(false);
    /// The programs that run, by their marks. Programs are started while this is locked: so no new one is taken for an orphan.
    static RUNNING: Mutex<Option<HashMap<String, Option<Pid>>>> = Mutex::new(None);

    pub(super) fn begin() -> io::Result<()> {
        set_child_subreaper(Some(getpid()))?;
        ADOPTS.store(true, Ordering::Release);
        Ok(())
    }

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Option<Program>)> {
        if !ADOPTS.load(Ordering::Acquire) {
            return Ok((command.spawn()?, None));
        }
        // Nobody guesses the mark of another program.
        let mark = format!("{:016x}", RandomState::new().hash_one(NUMBER.fetch_add(1, Ordering::Relaxed)));
        let mut running = RUNNING.lock();
        let child = command.env(VARIABLE, &mark).spawn()?;
        let process = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        running.get_or_insert_default().insert(mark.clone(), process);
        Ok((child, Some(Program { mark, process })))
    }

    pub(super) fn end(program: &Program) {
        let until = Instant::now() + MAX_WAIT;
        let mut seen = HashMap::new();
        loop {
            if has_ended(program, &mut seen) || Instant::now() > until {
                RUNNING.lock().get_or_insert_default().remove(&program.mark);
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Whether nothing is left of a program. What is left is killed.
    fn has_ended(program: &Program, seen: &mut HashMap<Pid, u32>) -> bool {
        let mut running = RUNNING.lock();
        let running = running.get_or_insert_default();
        let children = children();
        let is_there = program.process.is_some_and(|process| children.contains(&process));
        let is_left = kill_orphans(&children, (running, Some(&program.mark)), seen);
        !is_there && !is_left
    }

    pub(super) fn end_all() {
        let until = Instant::now() + MAX_WAIT;
        let mut seen = HashMap::new();
        while ADOPTS.load(Ordering::Acquire)
            && kill_orphans(&children(), (&HashMap::new(), None), &mut seen)
            && Instant::now() < until
        {
            std::thread::sleep(PAUSE);
        }
    }

    /// Kills the children that are not programs that run, and that none of those has left. Returns whether there are any. `seen` says
    /// how often one without a mark was there: a process that begins another program has no environment for a moment.
    fn kill_orphans(
        children: &HashSet<Pid>,
        (running, ending): (&HashMap<String, Option<Pid>>, Option<&str>),
        seen: &mut HashMap<Pid, u32>,
    ) -> bool {
        let programs: HashSet<Pid> = running.values().flatten().copied().collect();
        let own_group = getpgid(None).ok();
        let is_ours = |process: Pid| programs.contains(&process) || getpgid(Some(process)).ok() == own_group;
        let mut is_left = false;
        for process in children.iter().copied().filter(|process| !is_ours(*process)) {
            let times = match mark_of(process) {
                Some(mark) if Some(&*mark) == ending => MIN_SEEN,
                Some(mark) if running.contains_key(&mark) => continue,
                Some(_) | None => *seen.entry(process).and_modify(|times| *times += 1).or_insert(1),
            };
            if times >= MIN_SEEN {
                // It may be gone already, or belong to another user.
                let _ = kill_process(process, Signal::KILL);
            }
            is_left |= !matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(Some(_)));
        }
        is_left
    }

    /// The children of this process, of each of its threads.
    fn children() -> HashSet<Pid> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        let numbers =
            |list: String| list.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect::<Vec<_>>();
        lists.flat_map(numbers).collect()
    }

    /// The mark in the environment with which a process began.
    fn mark_of(process: Pid) -> Option<String> {
        let environment = fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())).ok()?;
        let prefix = format!("{VARIABLE}=");
        let mark = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_bytes()))?;
        String::from_utf8(mark.to_vec()).ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod adoption {
    use std::io;

    use tokio::process::{Child, Command};

    use super::Program;

    pub(super) fn begin() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Option<Program>)> {
        Ok((command.spawn()?, None))
    }

    pub(super) fn end(_: &Program) {}

    pub(super) fn end_all() {}
}
