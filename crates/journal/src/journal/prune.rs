//! Pruning: in small transactions, so that the runs that are driven meanwhile hardly wait.

use std::time::{Duration, Instant};

use reknit_protocol::RunId;

use super::Journal;
use crate::rules;
use crate::{BUSY_TIMEOUT, DeleteError, Deletion, PrunePreview, Pruned, PrunedRun, Retention, StorageError, StoreSize};

/// How long one batch should take: the longest time that another write waits for it.
const BATCH_TIME: Duration = Duration::from_millis(20);

/// The pause after a batch, in which other processes can write.
const PAUSE: Duration = Duration::from_millis(2);

/// How many runs the first batch has. Later ones have as many as [`BATCH_TIME`] allows.
const FIRST_BATCH: u32 = 8;
const MAX_BATCH: u32 = 4_096;

/// How many business keys are removed at once.
const KEY_BATCH: u32 = 200;

/// How many pages of the file are given back at once.
const PAGE_BATCH: u32 = 64;

impl Journal {
    /// What [`prune`](Self::prune) would do now.
    pub async fn preview_prune(&self, retention: &Retention, now_ms: i64) -> Result<PrunePreview, StorageError> {
        let retention = *retention;
        self.read(move |tables| {
            let limit = rules::prune_limit(tables, &retention, now_ms)?;
            let (ended, runs, size) = (tables.ended_count()?, tables.run_count()?, tables.size()?);
            let by_age_or_number = match limit.up_to {
                Some(up_to) => tables.ended_up_to(up_to)?,
                None => 0,
            };
            let average = size.used_bytes.checked_div(runs).unwrap_or(0).max(1);
            let left = size.used_bytes.saturating_sub(average.saturating_mul(by_age_or_number));
            let excess = retention.max_bytes.map_or(0, |max_bytes| left.saturating_sub(max_bytes));
            let by_size = excess.div_ceil(average).min(ended.saturating_sub(by_age_or_number));
            Ok(PrunePreview { ended, by_age_or_number, by_size, size })
        })
        .await
    }

    /// Prunes the ended runs that `retention` does not keep, long values that no run has any more, and business keys that have
    /// expired. The ids and the request digests of the runs stay.
    ///
    /// Dropping the future stops after the current batch; nothing is half done.
    pub async fn prune(&self, retention: &Retention, now_ms: i64) -> Result<Pruned, StorageError> {
        let chosen = *retention;
        let limit = self.read(move |tables| rules::prune_limit(tables, &chosen, now_ms)).await?;
        let mut pruned = Pruned::default();
        let mut batch_size = FIRST_BATCH;
        loop {
            let began = Instant::now();
            let batch = self.write(BUSY_TIMEOUT, move |tables| rules::prune(tables, limit, now_ms, batch_size)).await?;
            pruned.runs += batch.runs;
            pruned.blobs += batch.blobs;
            if batch.is_last {
                break;
            }
            batch_size = next_batch(batch_size, began.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        pruned.keys = self.prune_keys(now_ms).await?;
        Ok(pruned)
    }

    async fn prune_keys(&self, now_ms: i64) -> Result<u64, StorageError> {
        let limit_ms = rules::key_limit(now_ms);
        let mut removed = 0;
        loop {
            let keys = self.read(move |tables| tables.expired_keys(limit_ms, KEY_BATCH)).await?;
            let is_last = keys.len() < KEY_BATCH as usize;
            if !keys.is_empty() {
                removed +=
                    self.write(BUSY_TIMEOUT, move |tables| rules::remove_expired_keys(tables, &keys, limit_ms)).await?;
            }
            if is_last {
                return Ok(removed);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Gives unused parts of the file back to the system, until at most `keep_free_bytes` are unused. Returns how many bytes the
    /// file has shrunk.
    pub async fn shrink(&self, keep_free_bytes: u64) -> Result<u64, StorageError> {
        let mut pages = PAGE_BATCH;
        let mut freed = 0;
        while self.size().await?.free_bytes > keep_free_bytes {
            let began = Instant::now();
            let bytes: u64 =
                self.write::<_, StorageError>(BUSY_TIMEOUT, move |tables| Ok(Ok(tables.release_pages(pages)?))).await?;
            if bytes == 0 {
                break;
            }
            freed += bytes;
            pages = next_batch(pages, began.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        Ok(freed)
    }

    pub async fn size(&self) -> Result<StoreSize, StorageError> {
        self.read(|tables| tables.size()).await
    }

    /// Deletes a run that no live process drives. Its id is never used again.
    pub async fn delete(&self, run: &RunId, deletion: Deletion, now_ms: i64) -> Result<(), DeleteError> {
        let run = run.clone();
        let processes = self.processes();
        self.write(BUSY_TIMEOUT, move |tables| rules::delete(tables, &run, deletion, processes.as_ref(), now_ms)).await
    }

    /// What is left of a run that was pruned or deleted.
    pub async fn pruned_run(&self, run: &RunId) -> Result<Option<PrunedRun>, StorageError> {
        let run = run.clone();
        self.read(move |tables| tables.pruned_run(&run)).await
    }
}

/// The size of the next batch, if one of this size took so long.
fn next_batch(size: u32, took: Duration) -> u32 {
    if took < BATCH_TIME / 2 {
        size.saturating_mul(2).min(MAX_BATCH)
    } else if took > BATCH_TIME {
        (size / 2).max(1)
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_batch_is_followed_by_a_smaller_one_and_a_quick_batch_by_a_larger_one() {
        assert_eq!(next_batch(8, BATCH_TIME * 2), 4);
        assert_eq!(next_batch(1, BATCH_TIME * 2), 1);
        assert_eq!(next_batch(8, BATCH_TIME), 8);
        assert_eq!(next_batch(8, BATCH_TIME / 4), 16);
        assert_eq!(next_batch(MAX_BATCH, BATCH_TIME / 4), MAX_BATCH);
    }
}
