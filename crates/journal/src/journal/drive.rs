//! What drivers do: lease, append, claim. And what others do: send.

use reknit_protocol::RunId;

use super::Journal;
use crate::blob::fold;
use crate::rules::{self, Opening, Prepared};
use crate::{
    Append, AppendError, Claim, CreateError, FenceError, Holder, Lease, LeaseError, Liveness, NewRun, SendError,
    Signal, SignalId, Snapshot, Term,
};

impl Journal {
    /// Creates a run with its event 0 and leases it to `holder`, in one transaction.
    pub async fn create(&self, run: NewRun, holder: &Holder, term: Term) -> Result<Lease, CreateError> {
        let opening = Opening { run: run.run, title: run.title, first: fold(run.first) };
        let holder = holder.clone();
        self.write(move |tables| rules::create(tables, &opening, &holder, term)).await
    }

    /// Leases a run that nobody holds, or whose holder has let the term pass.
    pub async fn acquire(&self, run: &RunId, holder: &Holder, term: Term) -> Result<Lease, LeaseError> {
        let (run, holder) = (run.clone(), holder.clone());
        self.write(move |tables| rules::acquire(tables, &run, &holder, term, None)).await
    }

    /// The same, but the lease of epoch `expected_epoch` is no obstacle: the caller knows that its holder is gone.
    ///
    /// If the holder is not gone after all, it is fenced off: nothing that it writes from now on is accepted. But a call
    /// that it is just making is not called back.
    pub async fn acquire_forced(
        &self,
        run: &RunId,
        holder: &Holder,
        term: Term,
        expected_epoch: u64,
    ) -> Result<Lease, LeaseError> {
        let (run, holder) = (run.clone(), holder.clone());
        self.write(move |tables| rules::acquire(tables, &run, &holder, term, Some(expected_epoch))).await
    }

    /// Leases a run as [`acquire`](Self::acquire) does, and does not wait for the end of the term if the process that holds
    /// it is certainly dead (see [`Holder::liveness`]).
    pub async fn acquire_or_inherit(&self, run: &RunId, holder: &Holder, term: Term) -> Result<Lease, LeaseError> {
        match self.acquire(run, holder, term).await {
            Err(LeaseError::Held { holder: dead, epoch, .. }) if dead.liveness() == Liveness::Dead => {
                self.acquire_forced(run, holder, term, epoch).await
            }
            answer => answer,
        }
    }

    /// Moves the end of the term. It works after the end, too, if nobody has taken the run since.
    pub async fn renew(&self, lease: &Lease, term: Term) -> Result<Lease, FenceError> {
        let lease = lease.clone();
        self.write(move |tables| rules::renew(tables, &lease, term)).await
    }

    /// Gives the lease back, so that another process can go on at once.
    pub async fn release(&self, lease: &Lease) -> Result<(), FenceError> {
        let lease = lease.clone();
        self.write(move |tables| rules::release(tables, &lease)).await
    }

    /// Adds to a run, in one transaction, if `lease` is its newest lease and it has the expected length. Gives the new
    /// length.
    pub async fn append(&self, lease: &Lease, append: Append) -> Result<u64, AppendError> {
        let (lease, append) = (lease.clone(), Prepared::from(append));
        self.write(move |tables| rules::append(tables, &lease, &append)).await
    }

    /// Claims an effect before it is performed. A claim is never taken back.
    pub async fn claim(&self, lease: &Lease, effect: &str) -> Result<Claim, FenceError> {
        let (lease, effect) = (lease.clone(), effect.to_owned());
        self.write(move |tables| rules::claim(tables, &lease, &effect)).await
    }

    /// Keeps a snapshot in place of an earlier one. Its events must be committed.
    pub async fn save_snapshot(&self, lease: &Lease, snapshot: Snapshot) -> Result<(), AppendError> {
        let lease = lease.clone();
        self.write(move |tables| rules::save_snapshot(tables, &lease, &snapshot)).await
    }

    /// Puts a signal into the inbox of a run. It needs no lease: any process may send.
    pub async fn send(&self, run: &RunId, signal: Signal, now_ms: i64) -> Result<SignalId, SendError> {
        let to = run.clone();
        let id = self.write(move |tables| rules::send(tables, &to, &signal, now_ms)).await?;
        self.mail.knock(run);
        Ok(id)
    }
}
