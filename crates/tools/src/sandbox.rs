//! Confinement of programs that are started here.
//!
//! Landlock restricts a thread and all that it starts. So a program is started on a thread of its own, which restricts itself
//! before and ends right after. Without it nothing of our own process is restricted.

#[cfg(feature = "sandbox")]
#[path = "sandbox/landlock.rs"]
mod confinement;

#[cfg(feature = "commands")]
use std::io;
#[cfg(feature = "commands")]
use std::path::Path;
use std::path::PathBuf;

#[cfg(feature = "commands")]
use tokio::process::{Child, Command};
#[cfg(feature = "commands")]
use tokio::runtime::Handle;

#[cfg(feature = "commands")]
use crate::leftovers::Leftovers;
use crate::option_words::SandboxMode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub mode: SandboxMode,
    /// What it may read, beside the system and what it may write. Everything if it is empty.
    pub read: Vec<PathBuf>,
    /// What it may write, beside its working folder, folders for temporary files and the caches of package runners.
    pub write: Vec<PathBuf>,
    /// Whether it may use TCP.
    pub network: bool,
}

impl Sandbox {
    /// A program that may read everything, write little, and use the network.
    pub fn new(mode: SandboxMode) -> Self {
        Self { mode, read: Vec::new(), write: Vec::new(), network: true }
    }

    pub fn off() -> Self {
        Self::new(SandboxMode::Off)
    }

    /// What is confined, for people: `sandboxed: it writes only to ...`, or `not sandboxed: ...` with the reason.
    pub fn describe(&self) -> String {
        if self.mode == SandboxMode::Off {
            return "not sandboxed: `sandbox` is off".to_owned();
        }
        if let Err(reason) = confinement::check_kernel() {
            let consequence = if self.mode == SandboxMode::Required { "it does not start" } else { "not sandboxed" };
            return format!("{consequence}: {reason}");
        }
        let list = |paths: &[PathBuf]| {
            let shown = paths.iter().map(|path| path.display().to_string());
            std::iter::once(String::new()).chain(shown).collect::<Vec<_>>().join(", ")
        };
        let read = if self.read.is_empty() {
            "it reads everything".to_owned()
        } else {
            format!("it reads only the system, what it may write{}", list(&self.read))
        };
        let network = match (self.network, confinement::can_deny_tcp()) {
            (true, _) => "it uses the network",
            (false, true) => "it does not use TCP",
            (false, false) => "it uses the network, because the kernel is too old to deny TCP",
        };
        format!(
            "sandboxed: {read}; it writes only to its folder, /tmp, /dev/shm and caches{}; {network}",
            list(&self.write)
        )
    }

    /// Starts a program in the sandbox. `folder` is its working folder. Must be called within a runtime.
    #[cfg(feature = "commands")]
    pub fn spawn(&self, command: Command, folder: Option<&Path>) -> io::Result<(Child, Leftovers)> {
        if self.mode == SandboxMode::Off {
            return Leftovers::spawn(command);
        }
        let folder = folder.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()))?;
        let (sandbox, runtime) = (self.clone(), Handle::current());
        let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            let _runtime = runtime.enter();
            confinement::restrict_thread(&sandbox, &folder)?;
            Leftovers::spawn(command)
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the sandbox panicked")))
    }
}

/// A build that cannot confine programs.
#[cfg(not(feature = "sandbox"))]
mod confinement {
    const REASON: &str = "this program was built without the feature `sandbox`";

    /// As on a system that cannot confine programs: one that must be confined does not start.
    #[cfg(feature = "commands")]
    pub(super) fn restrict_thread(sandbox: &super::Sandbox, _folder: &std::path::Path) -> std::io::Result<()> {
        if sandbox.mode == super::SandboxMode::Required {
            return Err(std::io::Error::other(format!("the sandbox is required, but {REASON}")));
        }
        Ok(())
    }

    pub(super) fn check_kernel() -> Result<(), String> {
        Err(REASON.to_owned())
    }

    pub(super) fn can_deny_tcp() -> bool {
        false
    }
}
