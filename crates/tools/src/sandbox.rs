//! Confinement of programs that are started here, with Landlock.
//!
//! Landlock restricts a thread and all that it starts. So a program is started on a thread of its own, which restricts itself
//! before and ends right after. Without it nothing of our own process is restricted.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
};
use reknit_protocol::word_enum;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

word_enum! {
    /// Whether a program is confined.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SandboxMode {
        /// It is not.
        Off = "off",
        /// As far as the kernel can.
        Auto = "auto",
        /// It is, or it does not start.
        Required = "required",
    }
}

/// The version of Landlock whose rights over files are used (Linux 6.2), and the one that knows TCP (Linux 6.7).
const FILES: ABI = ABI::V3;
const NETWORK: ABI = ABI::V4;

/// What every program may read, if not everything: the system.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/proc", "/sys"];

/// What every program may write.
const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/dev"];

/// Folders in the home folder that package runners such as `npx` and `uvx` write.
const CACHES: [&str; 9] = [
    ".cache",
    ".npm",
    ".yarn",
    ".bun",
    ".deno",
    ".pnpm-store",
    ".local/share/pnpm",
    ".local/share/uv",
    "Library/Caches",
];

/// What a program may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether it is confined.
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

    /// No confinement.
    pub fn off() -> Self {
        Self::new(SandboxMode::Off)
    }

    /// What is confined, for people: `sandboxed: it writes only to ...`, or `not sandboxed: ...` with the reason.
    pub fn describe(&self) -> String {
        if self.mode == SandboxMode::Off {
            return "not sandboxed: `sandbox` is off".to_owned();
        }
        if let Err(reason) = supported(AccessFs::from_all(FILES)) {
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
        let network = match (self.network, tcp_supported()) {
            (true, _) => "it uses the network",
            (false, true) => "it does not use TCP",
            (false, false) => "it uses the network, because the kernel is too old to deny TCP",
        };
        format!(
            "sandboxed: {read}; it writes only to its folder, /tmp, /dev and caches{}; {network}",
            list(&self.write)
        )
    }

    /// Starts a program in the sandbox. `folder` is its working folder. Must be called within a runtime.
    pub fn spawn(&self, mut command: Command, folder: Option<&Path>) -> io::Result<Child> {
        if self.mode == SandboxMode::Off {
            return command.spawn();
        }
        let folder = folder.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()))?;
        let (sandbox, runtime) = (self.clone(), Handle::current());
        let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            let _runtime = runtime.enter();
            sandbox.restrict_thread(&folder)?;
            command.spawn()
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the sandbox panicked")))
    }

    /// Restricts the current thread, and all that it starts.
    fn restrict_thread(&self, folder: &Path) -> io::Result<()> {
        let failed = |error: RulesetError| io::Error::other(format!("the sandbox cannot be set up: {error}"));
        let is_required = self.mode == SandboxMode::Required;
        let level = if is_required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
        let (all, read) = (AccessFs::from_all(FILES), AccessFs::from_read(FILES));
        let mut rules = Ruleset::default().set_compatibility(level).handle_access(all).map_err(failed)?;
        if !self.network {
            rules = rules.handle_access(AccessNet::from_all(NETWORK)).map_err(failed)?;
        }
        let mut rules = rules.create().map_err(failed)?.set_compatibility(CompatLevel::BestEffort);
        let mut usual: Vec<(PathBuf, _)> = Vec::new();
        let system: &[&str] = if self.read.is_empty() { &["/"] } else { &SYSTEM };
        usual.extend(system.iter().map(|path| (PathBuf::from(path), read)));
        usual.extend(SCRATCH.iter().map(|path| (PathBuf::from(path), all)));
        usual.extend(std::env::var_os("TMPDIR").map(|path| (PathBuf::from(path), all)));
        let home = std::env::var_os("HOME").map(PathBuf::from);
        usual.extend(home.iter().flat_map(|home| CACHES.iter().map(|cache| (home.join(cache), all))));
        for (path, access) in usual {
            // What does not exist needs no permission.
            if let Ok(file) = PathFd::new(&path) {
                rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
            }
        }
        let named = self.read.iter().map(|path| (path.as_path(), read));
        let named = named.chain(self.write.iter().map(|path| (path.as_path(), all))).chain([(folder, all)]);
        for (path, access) in named {
            let problem = |error| io::Error::other(format!("the sandbox cannot allow `{}`: {error}", path.display()));
            let path = folder.join(path);
            // Some rights, such as that to create files, are only about folders.
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(FILES) };
            let file = PathFd::new(&path).map_err(problem)?;
            rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
        }
        let status = rules.restrict_self().map_err(failed)?;
        if is_required && status.ruleset != RulesetStatus::FullyEnforced {
            return Err(io::Error::other("the sandbox is required, and the kernel cannot enforce all of it"));
        }
        Ok(())
    }
}

/// Whether the kernel can restrict all of these rights, or why not.
fn supported(access: landlock::BitFlags<AccessFs>) -> Result<(), String> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(access);
    match rules.and_then(Ruleset::create) {
        Ok(_) => Ok(()),
        Err(_) => Err("the kernel has no Landlock, or one that is too old".to_owned()),
    }
}

fn tcp_supported() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.handle_access(AccessNet::from_all(NETWORK)).and_then(Ruleset::create).is_ok()
}
