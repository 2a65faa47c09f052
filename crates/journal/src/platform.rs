//! What differs between operating systems: the permissions and the identity of files, and which processes are alive. Each system
//! has one file with the functions below; another system needs one more. `SQLite` itself locks files on all of them.
//!
//! | function | meaning |
//! |---|---|
//! | `host_name` | the name of this host |
//! | `process_scope` | the scope in which a process id is valid: a boot, a container; `None` if the system does not tell |
//! | `process_started` | when a process started, in a unit of the system; process ids are reused, but not together with this |
//! | `process_liveness` | whether the process with this id and start is alive |
//! | `create_private_folder` | creates a folder, with its parents, that only its owner can read |
//! | `private_file` | options to open a file; one that they create can be read by its owner only |
//! | `make_private` | restricts a file to its owner |
//! | `sync_folder` | makes the names of new files in a folder survive a power cut |
//! | `file_identity` | identifies a file independently of its name |

#[cfg(not(feature = "sqlite"))]
#[path = "platform/one_process.rs"]
mod system;
#[cfg(all(feature = "sqlite", target_os = "linux"))]
#[path = "platform/linux.rs"]
mod system;
#[cfg(all(feature = "sqlite", unix, not(target_os = "linux")))]
#[path = "platform/macos.rs"]
mod system;
#[cfg(all(feature = "sqlite", windows))]
#[path = "platform/windows.rs"]
mod system;
#[cfg(all(feature = "sqlite", unix))]
#[path = "platform/unix_files.rs"]
mod unix_files;

#[cfg(all(feature = "sqlite", windows))]
pub(crate) use system::{create_private_folder, file_identity, make_private, private_file, sync_folder};
pub(crate) use system::{host_name, process_liveness, process_scope, process_started};
#[cfg(all(feature = "sqlite", unix))]
pub(crate) use unix_files::{create_private_folder, file_identity, make_private, private_file, sync_folder};

/// Whether the process of a holder is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    /// It has certainly ended: its leases may be taken over at once.
    Dead,
    /// This process cannot see it, for example because it is on another host: wait for the lease to expire.
    Unknown,
}
