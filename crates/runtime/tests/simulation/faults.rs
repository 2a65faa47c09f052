//! Which faults happen in a simulated world, and how often.

use crate::random::Random;

/// The rates of faults, in cases of 1000.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// An access to the journal takes up to some seconds.
    pub(crate) slow_disk: u64,
    /// An access to the journal takes longer than a lease.
    pub(crate) stalled_disk: u64,
    /// An access to the journal fails, and nothing is read or written.
    pub(crate) disk_error: u64,
    /// The file is locked for too long: the access fails after a wait.
    pub(crate) locked: u64,
    /// A write is committed, but the process is told that it failed.
    pub(crate) lost_acknowledgement: u64,
    /// Another process notices a signal only after a long time.
    pub(crate) late_wakeup: u64,
    /// A connection is refused.
    pub(crate) refused: u64,
    /// The request or the reply of a call is lost.
    pub(crate) lost_message: u64,
    /// A call or a question takes seconds.
    pub(crate) slow_service: u64,
    /// A tool answers 429 or 5xx.
    pub(crate) tool_error: u64,
    /// A model fails.
    pub(crate) model_error: u64,
    /// A person decides twice, or late.
    pub(crate) odd_person: u64,
}

impl Faults {
    /// Each kind is absent, rare or frequent, so that seeds differ in what they try.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let mut rate = |rare: u64, frequent: u64| *random.pick(&[0, 0, rare, frequent]);
        Self {
            slow_disk: rate(20, 200),
            stalled_disk: rate(1, 10),
            disk_error: rate(5, 40),
            locked: rate(3, 20),
            lost_acknowledgement: rate(5, 40),
            late_wakeup: rate(100, 500),
            refused: rate(30, 200),
            lost_message: rate(30, 250),
            slow_service: rate(100, 500),
            tool_error: rate(30, 250),
            model_error: rate(30, 250),
            odd_person: rate(100, 300),
        }
    }
}
