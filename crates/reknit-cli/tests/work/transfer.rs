//! `reknit runs export`, `import` and `stats`.

use crate::exit_status::{PRICE_AND_ORDER, shop, shopping};
use crate::world::{World, assert_refused, plan, text};

#[test]
fn an_exported_run_is_shown_in_another_journal() {
    let world = World::new();
    world.reknit(&["demo"]);
    let exported = text(&world.output(&["runs", "export", "last"]).stdout);
    assert!(exported.contains(r#""text":"[hidden]""#), "the texts of models are hidden");
    let world = world.file("run.jsonl", &exported);
    let other = ["--journal", "other.db"];
    insta::assert_snapshot!(world.reknit(&[&["runs", "import", "run.jsonl"][..], &other].concat()), @"
    exit status 0 --- stdout
    RUN
    --- stderr

    hint: see what happened with `reknit runs explain RUN`
    ");
    let show = |journal: &[&str]| text(&world.output(&[&["runs", "show", "last"][..], journal].concat()).stdout);
    assert_eq!(show(&other), show(&[]), "the same is shown");
    assert_refused(
        &world.reknit(&[&["runs", "import", "run.jsonl"][..], &other].concat()),
        "run `RUN` cannot be created: there is already a run `RUN`",
        "see the run that is there with `reknit runs show RUN`",
    );
}

#[test]
fn an_exported_run_with_an_id_that_no_run_has_is_not_imported() {
    let world = World::new();
    world.reknit(&["demo"]);
    let exported = text(&world.output(&["runs", "export", "last"]).stdout);
    let (head, rest) = exported.split_once("\"title\"").expect("a title");
    for id in [r"x\u001b[2J\n", "../../etc/passwd", ""] {
        let changed = format!("{{\"run\":{{\"run\":\"{id}\",\"title\"{rest}");
        assert!(head.starts_with("{\"run\":{\"run\":\""), "{head}");
        let world = World::new().file("run.jsonl", &changed);
        let refused = world.reknit(&["runs", "import", "run.jsonl"]);
        assert!(refused.contains("line 1 has an id that no run has") && !refused.contains('\u{1b}'), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_has_not_ended_is_not_imported() {
    let (_shop, world) = shopping(&[("pay", "{}")]).await;
    world.reknit(&["run", "plan.json"]);
    let exported = text(&world.output(&["runs", "export", "last"]).stdout);
    let world = world.file("run.jsonl", &exported).file("other.txt", "hello\n");
    assert_refused(
        &world.reknit(&["runs", "import", "--journal", "other.db", "run.jsonl"]),
        "run `RUN` has not ended, so only the journal that it comes from can continue it",
        "end it there, with `reknit runs resume RUN`, and export it again",
    );
    assert_refused(
        &world.reknit(&["runs", "import", "--journal", "other.db", "other.txt"]),
        "line 1 is not a line that `runs export` writes: expected value at line 1 column 1",
        "write the file with `reknit runs export RUN > run.jsonl`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_not_exported_unless_asked_for() {
    let shop = shop().await;
    let steps = [("price", r#"{"of": "tea", "password": "hunter22"}"#)];
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&steps));
    world.reknit(&["run", "plan.json"]);
    assert!(!text(&world.output(&["runs", "export", "last"]).stdout).contains("hunter22"));
    assert!(text(&world.output(&["runs", "export", "--unredacted", "last"]).stdout).contains("hunter22"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_say_what_fails_and_what_mends_it() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop])
        .file("plan.json", &plan(&PRICE_AND_ORDER))
        .file("find.json", &plan(&[("find", "{}")]));
    insta::assert_snapshot!(world.reknit(&["runs", "stats"]), @"
    exit status 0 --- stderr
    there are no runs to count

    hint: start one with `reknit demo`
    ");
    world.reknit(&["demo"]);
    world.reknit(&["run", "plan.json"]);
    world.reknit(&["run", "find.json"]);
    insta::assert_snapshot!(world.reknit(&["runs", "stats", "--since", "1h"]), @"
    exit status 0 --- stdout
    3 runs: 1 complete, 1 failed, 1 partial

    TOOL                            CALLS  FAILED  WHY           MENDED BY       TRIED                              NOT MENDED
    currency-tool/convert_currency  2      1       rejected      context 1 of 1  feedback no help                   0
    geocoding-tool/geocode          1      0
    shop/find                       1      1       not found                                                        1
    shop/order                      1      0
    shop/price                      1      0
    stock-tool/get_stock_quote      2      1       not found                     context no help, feedback no help  1
    weather-tool/get_weather        2      0       before call   schema 1 of 1                                      0
                                           1       rate limited  resend 1 of 1                                      0
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "stats", "--json"]), @r#"
    exit status 0 --- stdout
    {"runs":{"complete":1,"failed":1,"partial":1},"tools":{"currency-tool/convert_currency":{"calls":2,"failed":1,"failures":{"rejected":{"failed":1,"not_mended":0,"rungs":{"context":{"tried":1,"mended":1,"no_help":0},"feedback":{"tried":0,"mended":0,"no_help":1}}}}},"geocoding-tool/geocode":{"calls":1,"failed":0,"failures":{}},"shop/find":{"calls":1,"failed":1,"failures":{"not_found":{"failed":1,"not_mended":1,"rungs":{}}}},"shop/order":{"calls":1,"failed":0,"failures":{}},"shop/price":{"calls":1,"failed":0,"failures":{}},"stock-tool/get_stock_quote":{"calls":2,"failed":1,"failures":{"not_found":{"failed":1,"not_mended":1,"rungs":{"context":{"tried":0,"mended":0,"no_help":1},"feedback":{"tried":0,"mended":0,"no_help":1}}}}},"weather-tool/get_weather":{"calls":2,"failed":1,"failures":{"before_call":{"failed":0,"not_mended":0,"rungs":{"schema":{"tried":1,"mended":1,"no_help":0}}},"rate_limited":{"failed":1,"not_mended":0,"rungs":{"resend":{"tried":1,"mended":1,"no_help":0}}}}}}}
    "#);
}
