//! Models in turn: every failed attempt moves on, and only a round of rate limits is waited for.

use std::time::Duration;

use reknit_dialogue::{ErrorClass, GiveUp, OnAuthError, Rules};
use reknit_models::Provider;

use crate::pace::paced;
use crate::scene::{Mode, Scene, Seen};

/// Three models; what each replies, and then the usual answer.
async fn scene(replies: [&str; 3], rules: Rules) -> Scene {
    let model = |name: &str, reply: &str| {
        let first = if reply.is_empty() { String::new() } else { format!("{reply},") };
        let text = crate::scene::whole_answer(name);
        format!(r#""{name}": {{"rules": [{first} {{"reply": {{"text": "{text}"}}}}]}}"#)
    };
    let names = ["a", "b", "c"];
    let models: Vec<String> = names.iter().zip(replies).map(|(name, reply)| model(name, reply)).collect();
    let scenario = format!(r#"{{"about": "in turn", "models": {{{}}}}}"#, models.join(", "));
    Scene::new(&scenario, rules, &names, (Provider::Compatible, Mode::Live)).await
}

const BROKEN: &str = r#"{"reply": {"status": 500}}"#;
const LIMITED: &str = r#"{"reply": {"status": 429}}"#;
const NO_KEY: &str = r#"{"reply": {"status": 401}}"#;
const NO_MONEY: &str = r#"{"reply": {"status": 402}}"#;

fn rules(attempts: u32) -> Rules {
    Rules { attempts, ..Rules::default() }
}

fn counts(scene: &Scene) -> [usize; 3] {
    ["a", "b", "c"].map(|model| scene.count(model))
}

fn gave_up(seen: &Seen) -> &GiveUp {
    &seen.unanswered().reason
}

#[test]
fn attempts_go_round_and_round_and_never_beyond_their_number() {
    for (attempts, expected) in [(1, [1, 0, 0]), (2, [1, 1, 0]), (3, [1, 1, 1]), (4, [2, 1, 1]), (7, [3, 2, 2])] {
        paced(async {
            let scene = scene([BROKEN; 3], rules(attempts)).await;
            let seen = scene.ask().await;
            assert_eq!(gave_up(&seen), &GiveUp::AttemptsSpent { attempts });
            assert_eq!(counts(&scene), expected, "{attempts} attempts");
            assert!(seen.took < Duration::from_secs(2), "nothing but a rate limit is waited for");
        });
    }
}

#[test]
fn the_first_that_answers_ends_it_and_the_next_question_begins_at_the_first() {
    paced(async {
        let scene = scene([r#"{"times": 1, "reply": {"status": 500}}"#, LIMITED, ""], rules(3)).await;
        assert_eq!((scene.ask().await.by(), counts(&scene)), ("c", [1, 1, 1]));
        assert_eq!((scene.ask().await.by(), counts(&scene)), ("a", [2, 1, 1]));
    });
}

#[test]
fn only_a_whole_round_of_rate_limits_is_waited_for_and_for_the_longest_wait_asked_for() {
    let limited = |seconds: u32| format!(r#"{{"times": 1, "reply": {{"status": 429, "retry_after": {seconds}}}}}"#);
    paced(async {
        let replies = [limited(5), limited(9), limited(7)];
        let scene = scene([&replies[0], &replies[1], &replies[2]], rules(4)).await;
        let seen = scene.ask().await;
        assert_eq!((seen.by(), counts(&scene)), ("a", [2, 1, 1]));
        assert!((9_000..11_000).contains(&seen.took.as_millis()), "{:?}", seen.took);
    });
}

#[test]
fn a_wait_is_never_shorter_than_a_second_nor_longer_than_a_minute() {
    for (asked, least, most) in [(0, 1_000, 3_000), (3_000, 60_000, 62_000)] {
        let limited = format!(r#"{{"times": 1, "reply": {{"status": 429, "retry_after": {asked}}}}}"#);
        paced(async {
            let scene = scene([&limited; 3].map(String::as_str), rules(4)).await;
            let seen = scene.ask().await;
            assert_eq!(seen.by(), "a");
            assert!((least..most).contains(&seen.took.as_millis()), "{asked} s: {:?}", seen.took);
        });
    }
}

#[test]
fn nobody_waits_after_the_last_attempt() {
    paced(async {
        let scene = scene([LIMITED; 3], rules(3)).await;
        let seen = scene.ask().await;
        assert_eq!(gave_up(&seen), &GiveUp::AttemptsSpent { attempts: 3 });
        assert!(seen.took < Duration::from_secs(2), "{:?}", seen.took);
    });
}

#[test]
fn a_wait_can_be_given_up_and_nobody_is_asked_any_more() {
    paced(async {
        let scene = scene([LIMITED; 3], rules(9)).await;
        let given_up = tokio::time::timeout(Duration::from_millis(1_500), scene.ask()).await;
        assert!(given_up.is_err(), "{given_up:?}");
        let before = counts(&scene);
        assert_eq!(before, [1, 1, 1]);
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(counts(&scene), before);
    });
}

#[test]
fn a_refused_key_or_an_empty_account_ends_it_or_is_skipped_as_is_set() {
    for (reply, class) in [(NO_KEY, ErrorClass::AuthError), (NO_MONEY, ErrorClass::QuotaExceeded)] {
        paced(async {
            let ends = scene([reply, "", ""], rules(3)).await;
            assert_eq!(gave_up(&ends.ask().await), &GiveUp::Fatal(class));
            assert_eq!(counts(&ends), [1, 0, 0]);
            let skips = Rules { on_auth_error: OnAuthError::Skip, ..rules(9) };
            let goes_on = scene([reply, BROKEN, r#"{"times": 2, "reply": {"status": 500}}"#], skips.clone()).await;
            assert_eq!(goes_on.ask().await.by(), "c");
            assert_eq!(counts(&goes_on), [1, 3, 3], "who refused the key is not asked again");
            let all_refuse = scene([reply; 3], skips).await;
            assert_eq!(gave_up(&all_refuse.ask().await), &GiveUp::Fatal(class));
            assert_eq!(counts(&all_refuse), [1, 1, 1]);
        });
    }
}
