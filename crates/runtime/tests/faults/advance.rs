//! The rotation policy `advance`: every failed attempt moves on to the next model, and only a round of rate limits waits.

use std::time::Duration;

use reknit_model_api::{ErrorClass, GiveUpReason, OnAuthError, RotationRules};
use reknit_models::Provider;

use crate::scene::{Mode, Observed, Scene};
use reknit_fakes::paced;

/// Three models with their first replies; then they answer.
async fn scene(replies: [&str; 3], rules: RotationRules) -> Scene {
    let model = |name: &str, reply: &str| {
        let first = if reply.is_empty() { String::new() } else { format!("{reply},") };
        let text = crate::scene::complete_answer(name);
        format!(r#""{name}": {{"rules": [{first} {{"reply": {{"text": "{text}"}}}}]}}"#)
    };
    let names = ["a", "b", "c"];
    let models: Vec<String> = names.iter().zip(replies).map(|(name, reply)| model(name, reply)).collect();
    let scenario = format!(r#"{{"about": "in turn", "models": {{{}}}}}"#, models.join(", "));
    Scene::new(&scenario, rules, &names, (Provider::Compatible, Mode::Live)).await
}

const BROKEN: &str = r#"{"reply": {"status": 500}}"#;
const LIMITED: &str = r#"{"reply": {"status": 429}}"#;
const REJECTED_KEY: &str = r#"{"reply": {"status": 401}}"#;
const EXCEEDED_QUOTA: &str = r#"{"reply": {"status": 402}}"#;

fn rules(attempts: u32) -> RotationRules {
    RotationRules { max_attempts: attempts, ..RotationRules::default() }
}

fn counts(scene: &Scene) -> [usize; 3] {
    ["a", "b", "c"].map(|model| scene.count(model))
}

fn gave_up(observed: &Observed) -> &GiveUpReason {
    &observed.error().reason
}

#[test]
fn models_are_asked_in_turn_up_to_the_maximum_number_of_attempts() {
    for (attempts, expected) in [(1, [1, 0, 0]), (2, [1, 1, 0]), (3, [1, 1, 1]), (4, [2, 1, 1]), (7, [3, 2, 2])] {
        paced(async {
            let scene = scene([BROKEN; 3], rules(attempts)).await;
            let observed = scene.ask().await;
            assert_eq!(gave_up(&observed), &GiveUpReason::AttemptsSpent { attempts });
            assert_eq!(counts(&scene), expected, "{attempts} attempts");
            assert!(observed.took < Duration::from_secs(2), "only a rate limit causes a wait");
        });
    }
}

#[test]
fn each_request_starts_at_the_first_model_and_ends_with_the_first_answer() {
    paced(async {
        let scene = scene([r#"{"times": 1, "reply": {"status": 500}}"#, LIMITED, ""], rules(3)).await;
        assert_eq!((scene.ask().await.answered_by(), counts(&scene)), ("c", [1, 1, 1]));
        assert_eq!((scene.ask().await.answered_by(), counts(&scene)), ("a", [2, 1, 1]));
    });
}

#[test]
fn only_a_full_round_of_rate_limits_causes_a_wait_which_is_the_longest_one_requested() {
    let limited = |seconds: u32| format!(r#"{{"times": 1, "reply": {{"status": 429, "retry_after": {seconds}}}}}"#);
    paced(async {
        let replies = [limited(5), limited(9), limited(7)];
        let scene = scene([&replies[0], &replies[1], &replies[2]], rules(4)).await;
        let observed = scene.ask().await;
        assert_eq!((observed.answered_by(), counts(&scene)), ("a", [2, 1, 1]));
        assert!((9_000..11_000).contains(&observed.took.as_millis()), "{:?}", observed.took);
    });
}

#[test]
fn a_wait_is_never_shorter_than_a_second_nor_longer_than_a_minute() {
    for (asked, least, most) in [(0, 1_000, 3_000), (3_000, 60_000, 62_000)] {
        let limited = format!(r#"{{"times": 1, "reply": {{"status": 429, "retry_after": {asked}}}}}"#);
        paced(async {
            let scene = scene([&limited; 3].map(String::as_str), rules(4)).await;
            let observed = scene.ask().await;
            assert_eq!(observed.answered_by(), "a");
            assert!((least..most).contains(&observed.took.as_millis()), "{asked} s: {:?}", observed.took);
        });
    }
}

#[test]
fn there_is_no_wait_after_the_last_attempt() {
    paced(async {
        let scene = scene([LIMITED; 3], rules(3)).await;
        let observed = scene.ask().await;
        assert_eq!(gave_up(&observed), &GiveUpReason::AttemptsSpent { attempts: 3 });
        assert!(observed.took < Duration::from_secs(2), "{:?}", observed.took);
    });
}

#[test]
fn dropping_a_request_during_a_wait_ends_it() {
    paced(async {
        let scene = scene([LIMITED; 3], rules(9)).await;
        let dropped = tokio::time::timeout(Duration::from_millis(1_500), scene.ask()).await;
        assert!(dropped.is_err(), "{dropped:?}");
        let before = counts(&scene);
        assert_eq!(before, [1, 1, 1]);
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(counts(&scene), before);
    });
}

#[test]
fn a_rejected_api_key_or_an_exceeded_quota_ends_the_request_or_skips_the_model_as_configured() {
    for (reply, class) in [(REJECTED_KEY, ErrorClass::AuthError), (EXCEEDED_QUOTA, ErrorClass::QuotaExceeded)] {
        paced(async {
            let ends = scene([reply, "", ""], rules(3)).await;
            assert_eq!(gave_up(&ends.ask().await), &GiveUpReason::Fatal(class));
            assert_eq!(counts(&ends), [1, 0, 0]);
            let skips = RotationRules { on_auth_error: OnAuthError::Skip, ..rules(9) };
            let goes_on = scene([reply, BROKEN, r#"{"times": 2, "reply": {"status": 500}}"#], skips.clone()).await;
            assert_eq!(goes_on.ask().await.answered_by(), "c");
            assert_eq!(counts(&goes_on), [1, 3, 3], "the model that rejected the key is not asked again");
            let all_refuse = scene([reply; 3], skips).await;
            assert_eq!(gave_up(&all_refuse.ask().await), &GiveUpReason::Fatal(class));
            assert_eq!(counts(&all_refuse), [1, 1, 1]);
        });
    }
}
