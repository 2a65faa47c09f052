//! A store for simulations: one set of tables in memory, which several simulated processes open, each with faults of its own.

use std::any::type_name;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::error::storage::StoreResult;
use crate::holder::Processes;
use crate::memory::{MemoryTables, in_memory};
use crate::rules::RuleResult;
use crate::tables::{ReadTables, WriteTables};
use crate::{Holder, Liveness, StorageError};

/// An access to the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalAccess {
    /// A read, with the name of the type that it returns.
    Read(&'static str),
    /// A write: `create`, `acquire`, `renew`, `release`, `snapshot`, `append`, `claim`, `send` or `other`.
    Write(&'static str),
}

/// The result of waiting for a disk.
pub type DiskFuture = Pin<Box<dyn Future<Output = Result<(), StorageError>> + Send>>;

/// A process of a simulation, as its journal sees it.
pub trait SimulatedProcess: fmt::Debug + Send + Sync + 'static {
    /// Waits until the access takes place. If it fails, nothing is read or written.
    fn before(&self, access: JournalAccess) -> DiskFuture;
    /// Called at the moment of a write.
    fn committed(&self, access: JournalAccess);
    /// Waits until the process learns of the result. If it fails, what was written stays.
    fn after(&self, access: JournalAccess) -> DiskFuture;
    /// Whether the process of a holder is alive, as this process sees it.
    fn liveness(&self, holder: &Holder) -> Liveness;
    /// Whether a holder is this process.
    fn is_this(&self, holder: &Holder) -> bool;
}

/// The tables as one simulated process sees them.
#[derive(Debug)]
pub(crate) struct Simulated {
    tables: Arc<Mutex<MemoryTables>>,
    process: Arc<dyn SimulatedProcess>,
    /// A process writes in the order in which its writes were queued.
    writer: Arc<tokio::sync::Mutex<()>>,
}

impl Simulated {
    pub(crate) fn new(tables: Arc<Mutex<MemoryTables>>, process: Arc<dyn SimulatedProcess>) -> Self {
        Self { tables, process, writer: Arc::default() }
    }

    pub(crate) fn processes(&self) -> Arc<dyn Processes> {
        Arc::new(SimulatedProcesses(Arc::clone(&self.process)))
    }

    /// Writes in a task of its own: dropping the future does not undo the write, as with a file.
    pub(crate) async fn write<T, E>(
        &self,
        mut work: impl FnMut(&mut dyn WriteTables) -> RuleResult<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let (tables, process, writer) = (Arc::clone(&self.tables), Arc::clone(&self.process), Arc::clone(&self.writer));
        let access = JournalAccess::Write(operation::<T, E>());
        tokio::spawn(async move {
            let _turn = writer.lock().await;
            let written: Result<T, E> = async {
                process.before(access).await?;
                let written = work(&mut *tables.lock()).map_err(in_memory)?;
                if written.is_ok() {
                    process.committed(access);
                }
                process.after(access).await?;
                written
            }
            .await;
            // Nobody waits if the caller has dropped its future.
            let _ = answer.send(written);
        });
        match answered.await {
            Ok(written) => written,
            // The runtime of the simulation ends.
            Err(_) => std::future::pending().await,
        }
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ReadTables) -> StoreResult<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        let access = JournalAccess::Read(type_name::<T>());
        self.process.before(access).await?;
        let read = work(&*self.tables.lock()).map_err(in_memory)?;
        self.process.after(access).await?;
        Ok(read)
    }

    pub(crate) fn read_blocking<T>(
        &self,
        work: impl FnOnce(&dyn ReadTables) -> StoreResult<T>,
    ) -> Result<T, StorageError> {
        work(&*self.tables.lock()).map_err(in_memory)
    }
}

/// The name of an operation: the types of its result and of its error are different for each.
fn operation<T, E>() -> &'static str {
    match (type_name::<T>().rsplit("::").next(), type_name::<E>().rsplit("::").next()) {
        (_, Some("CreateError")) => "create",
        (_, Some("LeaseError")) => "acquire",
        (_, Some("SendError")) => "send",
        (Some("Appended"), Some("AppendError")) => "append",
        // Also a release with one.
        (Some("()"), Some("AppendError")) => "snapshot",
        (Some("Lease"), Some("FenceError")) => "renew",
        (Some("()"), Some("FenceError")) => "release",
        (Some("ClaimOutcome" | "KeyedClaim"), Some("FenceError")) => "claim",
        _ => "other",
    }
}

#[derive(Debug)]
struct SimulatedProcesses(Arc<dyn SimulatedProcess>);

impl Processes for SimulatedProcesses {
    fn liveness(&self, holder: &Holder) -> Liveness {
        self.0.liveness(holder)
    }

    fn is_this(&self, holder: &Holder) -> bool {
        self.0.is_this(holder)
    }
}
