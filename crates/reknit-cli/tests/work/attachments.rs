//! `--attach`: images and files beside a request.

use std::fs;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::RunningTool;
use reknit_fakes::{Reply, ScriptedModel};

use crate::exit_status::shop;
use crate::world::{World, assert_contains, assert_refused, plan, text};

/// What a request to a `chat/completions` server has for the bytes `photo`.
const IMAGE: &str = "data:image/png;base64,cGhvdG8=";

fn world(shop: &RunningTool, model: &ScriptedModel, more: &str) -> World {
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n{more}", model.base_url());
    World::new().configured(&[shop], &models).file("photo.png", "photo")
}

/// A model that plans the payment, and then answers.
async fn model() -> ScriptedModel {
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::text(plan(&[("pay", r#"{"amount": 12.50}"#)])))
        .on(RequestMatcher::any(), Reply::text("It is paid."));
    ScriptedModel::start(script).await.expect("the model starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_resumed_with_its_attachment_after_the_file_is_gone() {
    let (shop, model) = (shop().await, model().await);
    let world = world(&shop, &model, "");
    let asked = world.output(&["ask", "--attach", "photo.png", "Pay what is on the photo."]);
    assert_eq!(asked.status.code(), Some(6), "{}", text(&asked.stderr));
    assert!(model.requests()[0].body.to_string().contains(IMAGE), "the planner does not see the photo");
    fs::remove_file(world.path().join("photo.png")).expect("the file is there");
    world.reknit(&["runs", "approve", "last"]);
    let resumed = world.output(&["runs", "resume", "last"]);
    assert_eq!(text(&resumed.stdout).lines().next(), Some("It is paid."), "{}", text(&resumed.stderr));
    assert!(model.requests()[1].body.to_string().contains(IMAGE), "the question for the answer has no photo");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attachment_is_listed_with_its_name_and_size_and_without_its_bytes() {
    let (shop, model) = (shop().await, model().await);
    let world = world(&shop, &model, "");
    world.reknit(&["ask", "--attach", "photo.png", "Pay what is on the photo."]);
    assert_contains(&world.reknit(&["runs", "show", "last"]), "\nattached photo.png (image/png, 5 bytes)\n");
    let json = world.reknit(&["runs", "show", "last", "--json"]);
    assert!(json.contains(r#""attachments":["photo.png (image/png, 5 bytes)"]"#), "{json}");
    for command in [&["runs", "show", "last"][..], &["runs", "show", "last", "--json"], &["runs", "list"]] {
        let listed = world.reknit(command);
        assert!(!listed.contains("cGhvdG8"), "{command:?}: {listed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_looks_at_attachments() {
    let report = Reply::tool_call("agent__final_report", r#"{"report_content": "A cup."}"#);
    let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), report)).await.expect("the model starts");
    let shop = shop().await;
    let world = world(&shop, &model, "").file("clerk.md", "---\ntools: []\n---\nYou look.\n").file("note.txt", "blue");
    let asked = world.output(&["agent", "clerk.md", "--attach", "photo.png", "--attach", "note.txt", "What is it?"]);
    assert_eq!(text(&asked.stdout), "A cup.\n", "{}", text(&asked.stderr));
    let sent = model.requests()[0].body.to_string();
    assert!(sent.contains(IMAGE) && sent.contains("Ymx1ZQ=="), "{sent}");
    assert_contains(
        &world.reknit(&["runs", "show", "last"]),
        "\nattached photo.png (image/png, 5 bytes), note.txt (text/plain, ",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_attached_is_an_error_before_the_run_starts() {
    let (shop, model) = (shop().await, model().await);
    let blind = world(&shop, &model, "inputs = []\n").file("a.xyz", "?").file("empty.png", "");
    assert_refused(
        &blind.reknit(&["ask", "--attach", "photo.png", "Pay."]),
        "no model can read photo.png (image/png, 5 bytes): model `local` takes no image (image/png); its `inputs` do not list it",
        r#"configure a model that can, or, if this one can, list what it reads: `inputs = ["image"]` in its `[[models]]`"#,
    );
    assert_refused(
        &blind.reknit(&["ask", "--attach", "a.xyz", "Pay."]),
        "cannot attach `a.xyz`: what it contains does not follow from its name",
        "name a file that ends with one of: csv, flac, gif, html, jpeg, jpg, json, m4a, md, mp3, ogg, pdf, png, txt, wav, webp",
    );
    insta::assert_snapshot!(blind.reknit(&["ask", "--attach", "nowhere.png", "Pay."]), @"
    exit status 2 --- stderr
    error: cannot read `nowhere.png`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
    assert_refused(
        &blind.reknit(&["ask", "--attach", "empty.png", "Pay."]),
        "cannot attach `empty.png`: it is empty",
        "name another file",
    );
    assert!(model.requests().is_empty());
    assert!(!blind.reknit(&["runs", "list"]).contains("Pay."), "a run was started");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_id_with_another_attachment_is_another_request() {
    let (shop, model) = (shop().await, model().await);
    let world = world(&shop, &model, "").file("other.png", "other");
    world.reknit(&["ask", "--run-id", "r-1", "--attach", "photo.png", "Pay."]);
    let again = world.output(&["ask", "--run-id", "r-1", "--attach", "photo.png", "Pay."]);
    assert_eq!(again.status.code(), Some(6), "{}", text(&again.stderr));
    let other = world.output(&["ask", "--run-id", "r-1", "--attach", "other.png", "Pay."]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stderr));
}
