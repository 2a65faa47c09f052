//! `reknit demo`: the story of a request that breaks and is mended.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_demo::{Demo, Faults, Tools};
use reknit_models::Target;
use reknit_runtime::config::Origin;
use reknit_tools::Address;

use crate::cli::{DriveArguments, WorkArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::find_model::with_a_model;
use crate::work::{Work, config, model};

/// Runs the story, with the scripted model or a real one; or only serves the tools.
pub(crate) async fn run(
    live: bool,
    serve: bool,
    arguments: &WorkArguments,
    drive_as: &DriveArguments,
) -> Result<ExitCode, Failure> {
    refuse_what_is_not_used(live, arguments)?;
    if serve {
        return serve_tools().await;
    }
    let demo = Demo::start().await.map_err(|source| Failure::Start { what: "the demo", source: Box::new(source) })?;
    let mut config = config(arguments.files.config.as_deref())?;
    config.tools = addresses(&demo.tools.endpoints())?;
    if live {
        if let Some(target) = model(&arguments.model)? {
            config = config.with_models(vec![target], &Origin::Flag("--model-url".to_owned()));
        }
        config = with_a_model(config).await;
        if config.models.is_empty() {
            return Err(Failure::Usage {
                what: "there is no model for `--live`".to_owned(),
                hint: Some("name one: `reknit demo --live --model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml".to_owned()),
            });
        }
    } else {
        let scripted = Target::new("scripted", demo.model_base_url(), "scripted");
        config = config.with_models(vec![scripted], &Origin::Program).with("answer.by", "template", Origin::Program)?;
    }
    let work = Work::with(config, &arguments.files, drive_as).await?;
    introduce(live, demo.request);
    let code = drive(&work, work.reknit.started(demo.request, None), drive_as).await?;
    let _ = writeln!(
        io::stderr(),
        "hint: list your runs with `reknit runs list`; try your own request and model with `reknit demo --serve`"
    );
    // A story that ends as it should is a success of the demo, though one branch of it cannot be saved.
    Ok(if live || code != ExitCode::from(3) { code } else { ExitCode::SUCCESS })
}

/// The demo has its own tools, and its own model unless it is live: what is named in vain is a mistake.
fn refuse_what_is_not_used(live: bool, arguments: &WorkArguments) -> Result<(), Failure> {
    let refused = |what: &str, hint: &str| Err(Failure::Usage { what: what.to_owned(), hint: Some(hint.to_owned()) });
    if !arguments.tools.is_empty() {
        let hint = "start its tools with `reknit demo --serve`, and use them beside yours with `reknit ask`";
        return refused("the demo calls no tools but its own", hint);
    }
    if !live && arguments.model.url.is_some() {
        return refused("only a live demo asks your model", "add `--live`");
    }
    Ok(())
}

fn introduce(live: bool, request: &str) {
    let model = if live { "The model is yours." } else { "The model's words are scripted; everything else is real." };
    let _ = writeln!(io::stderr(), "Four tools run on loopback. {model}\n\nRequest: {request}\n");
}

fn addresses(endpoints: &[(String, String)]) -> Result<Vec<Address>, Failure> {
    let address = |(name, url): &(String, String)| Address::parse(name.as_str(), url);
    endpoints
        .iter()
        .map(address)
        .collect::<Result<_, _>>()
        .map_err(|source| Failure::Start { what: "the demo", source: Box::new(source) })
}

/// Serves the tools until somebody presses Ctrl-C, without faults.
async fn serve_tools() -> Result<ExitCode, Failure> {
    let tools = Tools::start(Faults::none()).await;
    let tools = tools.map_err(|source| Failure::Start { what: "the tools", source: Box::new(source) })?;
    let section = |(name, url): &(String, String)| format!("[[tools]]\nname = \"{name}\"\nurl = \"{url}\"\n\n");
    let sections: String = tools.endpoints().iter().map(section).collect();
    // At once: who waits for a file with something in it must not read half of it.
    io::stdout().write_all(sections.as_bytes()).map_err(Failure::Write)?;
    let _ = writeln!(
        io::stderr(),
        "The tools run until you press Ctrl-C. Put the lines above into reknit.toml, and in another terminal type:\n\
         \n  reknit ask --model-url http://127.0.0.1:8080/v1 \"What is the weather in Seoul?\""
    );
    let _ = tokio::signal::ctrl_c().await;
    tools
        .shutdown()
        .await
        .map_err(|source| Failure::Start { what: "the end of the tools", source: Box::new(source) })?;
    Ok(ExitCode::SUCCESS)
}
