//! Operations that write: drivers lease, append and claim; any process may send signals.
//!
//! What a driver writes waits up to [`MAX_LOCK_WAIT`](crate::MAX_LOCK_WAIT) while another process locks the file: giving up would
//! lose what a tool has answered.

use reknit_protocol::RunId;

use super::Journal;
use crate::blob::split_first_event;
use crate::rules::{self, SplitTexts, TakeOver};
use crate::tables::SplitSnapshot;
use crate::{
    Append, AppendError, Appended, BUSY_TIMEOUT, ClaimOutcome, CreateError, EarlierSignal, EffectClaim, EventsOfKind,
    FenceError, Holder, KeyClaim, KeyedClaim, Lease, LeaseError, LeaseTerm, MAX_LOCK_WAIT, NewRun, Reopening,
    Reservation, ReserveError, RunSignal, SendError, SignalId, Snapshot, StorageError, StoredKey, StoredMapping,
};

impl Journal {
    /// Creates a run and leases it to `holder`, in one transaction. If [`NewRun::rest`] ends the run, no process ever sees it
    /// unfinished.
    pub async fn create(&self, mut run: NewRun, holder: &Holder, term: LeaseTerm) -> Result<Lease, CreateError> {
        let holder = holder.clone();
        let mut split = None;
        self.write(MAX_LOCK_WAIT, move |tables| {
            let (first, rest) = split
                .get_or_insert_with(|| (split_first_event(run.first.clone()), run.rest.as_mut().map(SplitTexts::of)));
            rules::create(tables, &run, (first, rest.as_ref()), (&holder, term))
        })
        .await
    }

    /// Leases a run that has no lease or whose lease has expired.
    pub async fn acquire(&self, run: &RunId, holder: &Holder, term: LeaseTerm) -> Result<Lease, LeaseError> {
        let (run, holder) = (run.clone(), holder.clone());
        self.write(BUSY_TIMEOUT, move |tables| rules::acquire(tables, &run, &holder, term, TakeOver::Expired)).await
    }

    /// Leases a run even if the lease of epoch `expected_epoch` has not expired: the caller knows that its holder is gone.
    ///
    /// A holder that is not gone after all is fenced off: the journal accepts none of its later writes. A call that it is
    /// making at this moment still goes through.
    pub async fn acquire_forced(
        &self,
        run: &RunId,
        holder: &Holder,
        term: LeaseTerm,
        expected_epoch: u64,
    ) -> Result<Lease, LeaseError> {
        let (run, holder) = (run.clone(), holder.clone());
        self.write(BUSY_TIMEOUT, move |tables| {
            rules::acquire(tables, &run, &holder, term, TakeOver::Epoch(expected_epoch))
        })
        .await
    }

    /// Leases a run as [`acquire`](Self::acquire) does, but looks at the process that holds it ([`Holder::liveness`]): from a
    /// process that is certainly dead the run is taken over at once, and from another process that is alive it is not taken
    /// over even if the lease has expired. The clock may have been set forward, or that process may be suspended.
    pub async fn acquire_or_take_over(
        &self,
        run: &RunId,
        holder: &Holder,
        term: LeaseTerm,
    ) -> Result<Lease, LeaseError> {
        let (run, holder, processes) = (run.clone(), holder.clone(), self.processes());
        self.write(BUSY_TIMEOUT, move |tables| {
            rules::acquire(tables, &run, &holder, term, TakeOver::ByLiveness(processes.as_ref()))
        })
        .await
    }

    /// Opens a run again that has ended, and leases it.
    pub async fn reopen(
        &self,
        run: &RunId,
        holder: &Holder,
        term: LeaseTerm,
        reopening: Reopening,
    ) -> Result<Lease, LeaseError> {
        let (run, holder) = (run.clone(), holder.clone());
        self.write(BUSY_TIMEOUT, move |tables| rules::reopen(tables, &run, &holder, term, &reopening)).await
    }

    /// Extends the lease to the end of `term`. This also works on an expired lease that no other process has taken over.
    pub async fn renew(&self, lease: &Lease, term: LeaseTerm) -> Result<Lease, FenceError> {
        let lease = lease.clone();
        self.write(MAX_LOCK_WAIT, move |tables| rules::renew(tables, &lease, term)).await
    }

    /// Gives the lease back, so that another process can acquire the run at once.
    pub async fn release(&self, lease: &Lease) -> Result<(), FenceError> {
        let lease = lease.clone();
        self.write(MAX_LOCK_WAIT, move |tables| rules::release(tables, &lease)).await
    }

    /// Replaces the snapshot of the run and gives the lease back, in one transaction.
    pub async fn release_with(&self, lease: &Lease, snapshot: Snapshot) -> Result<(), AppendError> {
        let lease = lease.clone();
        let snapshot = SplitSnapshot::from(snapshot);
        self.write(MAX_LOCK_WAIT, move |tables| rules::release_with(tables, &lease, &snapshot)).await
    }

    /// Parks a run that this build cannot continue, and gives the lease back. The next append ends the parking.
    pub async fn park(&self, lease: &Lease, reason: &str) -> Result<(), FenceError> {
        let (lease, reason) = (lease.clone(), reason.to_owned());
        self.write(MAX_LOCK_WAIT, move |tables| rules::park(tables, &lease, &reason)).await
    }

    /// Appends to a run in one transaction, if `lease` is its newest lease and the run has the expected length. Returns
    /// the new length.
    pub async fn append(&self, lease: &Lease, append: Append) -> Result<u64, AppendError> {
        Ok(self.append_and_claim(lease, append).await?.len)
    }

    /// Appends as [`append`](Self::append) does, and also returns the outcomes of [`Append::claims`].
    pub async fn append_and_claim(&self, lease: &Lease, mut append: Append) -> Result<Appended, AppendError> {
        let lease = lease.clone();
        // The thread that writes splits the events: finding and hashing long values takes time.
        let mut split = None;
        self.write(MAX_LOCK_WAIT, move |tables| {
            let texts = split.get_or_insert_with(|| SplitTexts::of(&mut append));
            rules::append(tables, &lease, &append, texts)
        })
        .await
    }

    /// Claims an effect before the caller performs it. A claim is permanent.
    pub async fn claim(&self, lease: &Lease, effect: &str) -> Result<ClaimOutcome, FenceError> {
        let (lease, effect) = (lease.clone(), effect.to_owned());
        self.write(MAX_LOCK_WAIT, move |tables| rules::claim(tables, &lease, &effect)).await
    }

    /// Claims an effect as [`claim`](Self::claim) does, and its business key with it, in one transaction. If another call has
    /// the key, nothing is claimed.
    pub async fn claim_with_key(
        &self,
        lease: &Lease,
        effect: &str,
        key: KeyClaim,
        now_ms: i64,
    ) -> Result<KeyedClaim, FenceError> {
        self.claim_effect(lease, EffectClaim { effect: effect.to_owned(), key: Some(key), now_ms }).await
    }

    /// Claims an effect, and its business key if it has one, in one transaction.
    pub async fn claim_effect(&self, lease: &Lease, claim: EffectClaim) -> Result<KeyedClaim, FenceError> {
        let lease = lease.clone();
        self.write(MAX_LOCK_WAIT, move |tables| rules::claim_with_key(tables, &lease, &claim)).await
    }

    /// Stores the receipt of a key whose outcome was unknown: a person knows that the deed is done. Returns false if exactly this
    /// key is not in the journal.
    pub async fn settle_key(&self, key: &StoredKey, receipt: &str, now_ms: i64) -> Result<bool, StorageError> {
        let (key, receipt) = (key.clone(), receipt.to_owned());
        self.write(BUSY_TIMEOUT, move |tables| {
            let is_there = tables.business_key(&key.claim.key)?.as_ref() == Some(&key);
            if is_there {
                let receipt = Some(receipt.clone());
                tables.set_business_key(&StoredKey { receipt, since_ms: now_ms, ..key.clone() })?;
            }
            Ok(Ok(is_there))
        })
        .await
    }

    /// Removes a business key, so that its deed may be done again. Returns false if exactly this key is not in the journal.
    pub async fn forget_key(&self, key: &StoredKey) -> Result<bool, StorageError> {
        let key = key.clone();
        self.write(BUSY_TIMEOUT, move |tables| {
            let is_there = tables.business_key(&key.claim.key)?.as_ref() == Some(&key);
            Ok(Ok(is_there && tables.remove_business_key(&key.claim.key)?))
        })
        .await
    }

    /// Replaces the snapshot of the run. The events that it covers must be committed.
    pub async fn save_snapshot(&self, lease: &Lease, snapshot: Snapshot) -> Result<(), AppendError> {
        let lease = lease.clone();
        let snapshot = SplitSnapshot::from(snapshot);
        self.write(BUSY_TIMEOUT, move |tables| rules::save_snapshot(tables, &lease, &snapshot)).await
    }

    /// Puts a signal into the inbox of a run. It needs no lease: any process may send.
    pub async fn send(&self, run: &RunId, signal: RunSignal, now_ms: i64) -> Result<SignalId, SendError> {
        let to = run.clone();
        let id = self.write(BUSY_TIMEOUT, move |tables| rules::send(tables, &to, &signal, now_ms)).await?;
        self.mailboxes.notify(run);
        Ok(id)
    }

    /// Puts a signal into the inbox of a run, unless `is_same` says that an earlier one is about the same: one that waits there, or
    /// one that the run has read and made one of these events of. Returns the earlier one then, also if the run has ended. However
    /// many processes send, one wins.
    pub async fn send_once(
        &self,
        run: &RunId,
        signal: RunSignal,
        now_ms: i64,
        read: Option<EventsOfKind>,
        is_same: impl Fn(&EarlierSignal) -> bool + Send + 'static,
    ) -> Result<Result<SignalId, EarlierSignal>, SendError> {
        let to = run.clone();
        let sent = self
            .write(BUSY_TIMEOUT, move |tables| rules::send_once(tables, &to, &signal, now_ms, read, &is_same))
            .await?;
        self.mailboxes.notify(run);
        Ok(sent)
    }

    /// Reserves an amount for a call that belongs to no run.
    pub async fn reserve(&self, reservation: &Reservation) -> Result<(), ReserveError> {
        let reservation = reservation.clone();
        self.write(BUSY_TIMEOUT, move |tables| Ok(rules::reserve(tables, &reservation)?.map_err(ReserveError::from)))
            .await
    }

    /// Replaces a reserved amount by what the call has cost.
    pub async fn settle(&self, reservation: &Reservation, cost: u64) -> Result<(), StorageError> {
        let reservation = reservation.clone();
        self.write(BUSY_TIMEOUT, move |tables| Ok(Ok(rules::settle(tables, &reservation, cost)?))).await
    }

    /// Records that a person accepts a mapping, for the runs that start after this. Returns false if exactly this mapping is not
    /// in the journal, for example because a run has learned another expression since.
    pub async fn accept_mapping(&self, mapping: &StoredMapping, now_ms: i64) -> Result<bool, StorageError> {
        let mapping = mapping.clone();
        self.write(BUSY_TIMEOUT, move |tables| Ok(Ok(tables.accept_mapping(&mapping, now_ms)?))).await
    }

    /// Removes a mapping, accepted or not. Returns false if exactly this mapping is not in the journal.
    pub async fn forget_mapping(&self, mapping: &StoredMapping) -> Result<bool, StorageError> {
        let mapping = mapping.clone();
        self.write(BUSY_TIMEOUT, move |tables| Ok(Ok(tables.remove_mapping(&mapping)?))).await
    }
}
