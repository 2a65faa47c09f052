//! Confinement with Landlock.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::{Sandbox, SandboxMode};

/// The version of Landlock whose rights over files are used (Linux 6.2), the one that knows TCP (Linux 6.7), the one that knows
/// `ioctl` of devices (Linux 6.10), with which a program could type into a terminal, and the one that knows signals and abstract
/// sockets (Linux 6.12): with them a program could end or use programs outside of the sandbox.
const FILES: ABI = ABI::V3;
const NETWORK: ABI = ABI::V4;
const DEVICES: ABI = ABI::V5;
const SCOPES: ABI = ABI::V6;

/// What every program may read, if not everything: the system.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/proc", "/sys"];

const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// The devices that every program may use. Others are disks, memory and terminals.
const HARMLESS_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Folders in the home folder that package runners such as `npx` and `uvx` write.
const CACHES: &str = ".cache .npm .yarn .bun .deno .pnpm-store .local/share/pnpm .local/share/uv Library/Caches";

/// Restricts the current thread, and all that it starts.
pub(super) fn restrict_thread(sandbox: &Sandbox, folder: &Path) -> io::Result<()> {
    let failed = |error: RulesetError| io::Error::other(format!("the sandbox cannot be set up: {error}"));
    let is_required = sandbox.mode == SandboxMode::Required;
    let level = if is_required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let ioctl = if can_deny_ioctl() { AccessFs::IoctlDev.into() } else { BitFlags::EMPTY };
    let all = AccessFs::from_all(FILES) | ioctl;
    let mut rules = Ruleset::default().set_compatibility(level).handle_access(all).map_err(failed)?;
    // A device that root makes is a disk under another name.
    let write = all & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let (read, file) = (AccessFs::from_read(FILES), AccessFs::from_file(FILES) | ioctl);
    if !sandbox.network {
        rules = rules.handle_access(AccessNet::from_all(NETWORK)).map_err(failed)?;
    }
    if can_scope() {
        rules = rules.scope(Scope::from_all(SCOPES)).map_err(failed)?;
    }
    let mut rules = rules.create().map_err(failed)?.set_compatibility(CompatLevel::BestEffort);
    let mut usual: Vec<(PathBuf, _)> = Vec::new();
    let system: &[&str] = if sandbox.read.is_empty() { &["/"] } else { &SYSTEM };
    usual.extend(system.iter().map(|path| (PathBuf::from(path), read)));
    usual.extend(SCRATCH.iter().map(|path| (PathBuf::from(path), write)));
    usual.extend(HARMLESS_DEVICES.iter().map(|path| (PathBuf::from(path), write & file)));
    usual.extend(std::env::var_os("TMPDIR").map(|path| (PathBuf::from(path), write)));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    usual.extend(home.iter().flat_map(|home| CACHES.split(' ').map(|cache| (home.join(cache), write))));
    for (path, access) in usual {
        // What does not exist needs no permission.
        if let Ok(file) = PathFd::new(&path) {
            rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
        }
    }
    let named = sandbox.read.iter().map(|path| (path.as_path(), read));
    let named = named.chain(sandbox.write.iter().map(|path| (path.as_path(), write))).chain([(folder, write)]);
    for (path, access) in named {
        let problem = |error| io::Error::other(format!("the sandbox cannot allow `{}`: {error}", path.display()));
        let path = folder.join(path);
        // Some rights, such as that to create files, are only about folders.
        let access = if path.is_dir() { access } else { access & file };
        let file = PathFd::new(&path).map_err(problem)?;
        rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
    }
    let status = rules.restrict_self().map_err(failed)?;
    if is_required && status.ruleset != RulesetStatus::FullyEnforced {
        return Err(io::Error::other("the sandbox is required, and the kernel cannot enforce all of it"));
    }
    give_up_capabilities(sandbox.network)
}

/// With one of these, as root has them, a program reads the memory and the environment of others, and so our keys, makes devices, or
/// changes the kernel, which does not ask Landlock then. What Landlock has restricted never gets them back.
fn give_up_capabilities(network: bool) -> io::Result<()> {
    let reads_others =
        CapabilitySet::BPF | CapabilitySet::PERFMON | CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_PTRACE;
    let changes_kernel = CapabilitySet::SYS_BOOT | CapabilitySet::SYS_MODULE | CapabilitySet::SYS_RAWIO;
    // TCP can be written by hand into raw sockets.
    let writes_tcp = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    let writes_tcp = if network { CapabilitySet::empty() } else { writes_tcp };
    let given_up = reads_others | changes_kernel | writes_tcp | CapabilitySet::MKNOD;
    let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
    let [effective, permitted, inheritable] = [effective, permitted, inheritable].map(|set| set.difference(given_up));
    Ok(set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?)
}

/// Whether the kernel can restrict all rights over files, or why not.
pub(super) fn check_kernel() -> Result<(), String> {
    let access = AccessFs::from_all(FILES);
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(access);
    match rules.and_then(Ruleset::create) {
        Ok(_) => Ok(()),
        Err(_) => Err("the kernel has no Landlock, or one that is too old".to_owned()),
    }
}

fn can_deny_ioctl() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.handle_access(AccessFs::from_all(DEVICES)).and_then(Ruleset::create).is_ok()
}

fn can_scope() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.scope(Scope::from_all(SCOPES)).and_then(Ruleset::create).is_ok()
}

pub(super) fn can_deny_tcp() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.handle_access(AccessNet::from_all(NETWORK)).and_then(Ruleset::create).is_ok()
}
