//! Time passes when the test says so.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use reknit_testing::VirtualClock;

/// Lets each of these sleep until its time and write down its number; returns the order of waking.
async fn wake_all(times: &[u64], steps: impl Fn(&VirtualClock)) -> Vec<usize> {
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
    clock.sleeping(times.iter().filter(|time| **time > 0).count()).await;
    steps(&clock);
    while sleepers.join_next().await.is_some() {}
    let order = order.lock().unwrap();
    order.clone()
}

#[tokio::test]
async fn sleepers_wake_by_time_and_then_by_arrival() {
    let order = wake_all(&[30, 10, 20, 10], |clock| clock.advance(30)).await;
    assert_eq!(order, [1, 3, 2, 0]);
}

#[tokio::test]
async fn nobody_wakes_early() {
    let clock = VirtualClock::new(100);
    let mut sleeper = tokio::spawn({
        let clock = clock.clone();
        async move { clock.sleep_until(200).await }
    });
    clock.sleeping(1).await;
    clock.advance(99);
    assert_eq!((clock.now_ms(), clock.next_wake()), (199, Some(200)));
    tokio::select! {
        biased;
        _ = &mut sleeper => panic!("it is not yet time"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(clock.advance_to_next(), Some(200));
    sleeper.await.unwrap();
    assert_eq!(clock.advance_to_next(), None);
}

#[tokio::test]
async fn a_time_that_has_passed_is_not_slept_for_and_a_clock_never_goes_back() {
    let clock = VirtualClock::new(100);
    clock.sleep_until(100).await;
    clock.sleep_until(7).await;
    clock.advance_to(50);
    assert_eq!(clock.now_ms(), 100);
}

#[tokio::test]
async fn one_who_gets_up_early_is_no_longer_waited_for() {
    let clock = VirtualClock::new(0);
    let sleeper = tokio::spawn({
        let clock = clock.clone();
        async move { clock.sleep_until(10).await }
    });
    clock.sleeping(1).await;
    sleeper.abort();
    assert!(sleeper.await.unwrap_err().is_cancelled());
    assert_eq!(clock.next_wake(), None);
}

proptest! {
    #[test]
    fn the_order_of_waking_does_not_depend_on_how_time_passes(
        times in proptest::collection::vec(1_u64..50, 0..20),
        steps in proptest::collection::vec(1_u64..20, 0..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let order = runtime.block_on(wake_all(&times, |clock| {
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
