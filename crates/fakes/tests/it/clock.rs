//! The virtual clock.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use reknit_fakes::VirtualClock;

/// Starts one sleeper for each wake time, advances the clock, and returns the indices of the sleepers as they woke.
async fn wake_order(times: &[u64], advance: impl Fn(&VirtualClock)) -> Vec<usize> {
    let clock = VirtualClock::new(0);
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut sleepers = tokio::task::JoinSet::new();
    for (number, time) in times.iter().copied().enumerate() {
        let (clock, order) = (clock.clone(), Arc::clone(&order));
        sleepers.spawn(async move {
            clock.sleep_until(time).await;
            order.lock().unwrap().push(number);
        });
    }
    clock.wait_for_sleepers(times.iter().filter(|time| **time > 0).count()).await;
    advance(&clock);
    while sleepers.join_next().await.is_some() {}
    let order = order.lock().unwrap();
    order.clone()
}

/// The only sleeper of a clock.
async fn sleeper_until(clock: &VirtualClock, ms: u64) -> tokio::task::JoinHandle<()> {
    let sleeping = clock.clone();
    let sleeper = tokio::spawn(async move { sleeping.sleep_until(ms).await });
    clock.wait_for_sleepers(1).await;
    sleeper
}

#[tokio::test]
async fn sleepers_wake_in_the_order_of_time_and_arrival() {
    let order = wake_order(&[30, 10, 20, 10], |clock| clock.advance(30)).await;
    assert_eq!(order, [1, 3, 2, 0]);
}

#[tokio::test]
async fn a_sleeper_does_not_wake_early() {
    let clock = VirtualClock::new(100);
    let mut sleeper = sleeper_until(&clock, 200).await;
    clock.advance(99);
    assert_eq!((clock.now_ms(), clock.next_wake()), (199, Some(200)));
    tokio::select! {
        biased;
        _ = &mut sleeper => panic!("the sleeper woke early"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(clock.advance_to_next(), Some(200));
    sleeper.await.unwrap();
    assert_eq!(clock.advance_to_next(), None);
}

#[tokio::test]
async fn a_past_time_ends_a_sleep_at_once_and_does_not_turn_the_clock_back() {
    let clock = VirtualClock::new(100);
    clock.sleep_until(100).await;
    clock.sleep_until(7).await;
    clock.advance_to(50);
    assert_eq!(clock.now_ms(), 100);
}

#[tokio::test]
async fn a_dropped_sleeper_is_removed() {
    let clock = VirtualClock::new(0);
    let sleeper = sleeper_until(&clock, 10).await;
    sleeper.abort();
    assert!(sleeper.await.unwrap_err().is_cancelled());
    assert_eq!(clock.next_wake(), None);
}

proptest! {
    #[test]
    fn the_wake_order_does_not_depend_on_the_steps_of_the_clock(
        times in proptest::collection::vec(1_u64..50, 0..20),
        steps in proptest::collection::vec(1_u64..20, 0..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let order = runtime.block_on(wake_order(&times, |clock| {
            for step in &steps {
                clock.advance(*step);
            }
            clock.advance_to(50);
        }));
        let mut expected: Vec<usize> = (0..times.len()).collect();
        expected.sort_by_key(|number| times[*number]);
        prop_assert_eq!(order, expected);
    }
}
