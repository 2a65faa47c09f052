//! Seeds whose worlds broke an invariant once, with what was wrong.

use crate::silence_watchers;
use crate::simulation::simulate;
use crate::world::Tracing;

const SEEDS: [(u64, &str); 10] = [
    (0, "a driver gave up at the first failed renewal, and without giving the lease back"),
    (2, "a watcher that panicked ended the run"),
    (8, "a failed poll of the inboxes ended every run"),
    (29, "an append that failed lost the results of the calls in progress"),
    (71, "a call with side effects was dropped because the event that aborts it could not be stored"),
    (165, "the lease was kept because the last event of the run could not be stored"),
    (1_047, "the lease was kept because the future was dropped while the run was restored"),
    (1_323, "a result that was ready was thrown away at the end of its grace period"),
    (1_385, "the lease was kept because the end of a run that ended at once could not be stored"),
    (14_139, "the lease was kept because a run that ended at once could not be taken over"),
];

#[test]
fn worlds_that_broke_an_invariant_once_break_none_any_more() {
    silence_watchers();
    for (seed, problem) in SEEDS {
        assert_eq!(simulate(seed, Tracing::Off).failure, None, "seed {seed}: {problem}");
    }
}
