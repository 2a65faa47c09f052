//! `reknit demo`: runs a request that fails and is repaired.

use std::process::ExitCode;

use clap::Args;
use reknit_demo::{Demo, DemoTools, Faults};
use reknit_engine::Metadata;
use reknit_models::Target;
use reknit_protocol::{ReplyBody, ToolResponse, Value};
use reknit_runtime::config::{ConfiguredTool, SettingOrigin};
use reknit_runtime::operations;
use reknit_tool_service::LocalCapability;
use reknit_tools::Address;

use crate::drive::{drive, note_if_started};
use crate::output::{Failure, Input, print_data, print_failure, print_message};
use crate::setup::{
    DriveArguments, MAX_CONFIG_BYTES, RunIdArgument, Setup, SetupArguments, read_config, with_detected_model,
    with_model,
};

const EXAMPLES: &str = "\
Examples:
  reknit demo
  reknit demo --live --model-url http://127.0.0.1:8080/v1
  reknit demo --serve

Exit status: 0 the demo ended as expected; otherwise, and with `--live`, that of `reknit ask`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArguments {
    /// Use the configured models instead of the scripted one
    #[arg(long)]
    live: bool,
    /// Only start the four tools, and print how to use them
    #[arg(long, conflicts_with = "live")]
    serve: bool,
    /// Only answer one call of a tool, such as `geocode`: its parameters are read from standard input
    #[arg(long, value_name = "CAPABILITY", conflicts_with_all = ["live", "serve"])]
    call: Option<String>,
    #[command(flatten)]
    id: RunIdArgument,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

pub(crate) async fn run(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    let DemoArguments { live, serve, call, id, setup: arguments, drive: drive_arguments } = arguments;
    if let Some(capability) = call {
        return answer_call(capability).await;
    }
    let live = *live;
    reject_unused_arguments(live, arguments)?;
    if *serve {
        return serve_tools().await;
    }
    let demo = Demo::start().await.map_err(Failure::start("the demo"))?;
    let mut config = read_config(arguments.files.config.as_deref())?;
    config = config.with_other_tools(demo_tools(&demo.tools.endpoints())?)?;
    if live {
        config = with_detected_model(with_model(config, &arguments.model)?).await;
        if config.models.is_empty() {
            return Err(Failure::usage(
                "`--live` needs a model",
                "name one with `reknit demo --live --model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
            ));
        }
    } else {
        let scripted = Target::new("scripted", demo.model_base_url(), "scripted");
        config = config.with_models(vec![scripted], &SettingOrigin::Program);
        // The script has one plan.
        config = config.with("plan.replans", 0, SettingOrigin::Program)?;
    }
    let setup = Setup::with_config(config, &arguments.files, drive_arguments).await?;
    print_introduction(live, demo.request);
    note_if_started(&setup.reknit.journal, id).await?;
    let options = id.options(Metadata::default(), Vec::new());
    let started = operations::start(&setup.reknit, setup.reknit.started(demo.request, None), options)?;
    let code = drive(&setup, started, drive_arguments).await?;
    print_message(
        "hint: list your runs with `reknit runs list`; try your own request and model with `reknit demo --serve`\n",
    );
    // The scripted demo is expected to end as partial, because one step cannot be repaired.
    Ok(if live || code != ExitCode::from(3) { code } else { ExitCode::SUCCESS })
}

/// The demo has its own tools, and its own model unless it is live. Arguments without effect are an error.
fn reject_unused_arguments(live: bool, arguments: &SetupArguments) -> Result<(), Failure> {
    if !arguments.tools.is_empty() {
        let hint = "start the demo tools with `reknit demo --serve`, and use them beside yours with `reknit ask`";
        return Err(Failure::usage("`reknit demo` uses only its own tools", hint));
    }
    if !live && arguments.model.url.is_some() {
        return Err(Failure::usage("`--model-url` needs `--live`", "add `--live`"));
    }
    Ok(())
}

fn print_introduction(live: bool, request: &str) {
    let model =
        if live { "The model is yours." } else { "The answers of the model are scripted; everything else is real." };
    print_message(&format!("Four tools run on this machine. {model}\n\nRequest: {request}\n\n"));
}

fn demo_tools(endpoints: &[(String, String)]) -> Result<Vec<ConfiguredTool>, Failure> {
    let address = |(name, url): &(String, String)| Address::parse(name.as_str(), url).map(ConfiguredTool::service);
    endpoints.iter().map(address).collect::<Result<_, _>>().map_err(Failure::start("the demo"))
}

/// Serves the tools without injected failures until Ctrl-C.
async fn serve_tools() -> Result<ExitCode, Failure> {
    let tools = DemoTools::start(Faults::none()).await.map_err(Failure::start("the demo tools"))?;
    let section = |(name, url): &(String, String)| format!("[[tools]]\nname = \"{name}\"\nurl = \"{url}\"\n\n");
    let sections: String = tools.endpoints().iter().map(section).collect();
    // One write, so that a script that waits for the file never reads half of it.
    print_data(&sections)?;
    print_message(
        "The tools run until you press Ctrl-C. Put the lines above into reknit.toml, and type in another terminal:\n\
         \n  reknit ask --model-url http://127.0.0.1:8080/v1 \"What is the weather in Seoul?\"\n",
    );
    let _ = tokio::signal::ctrl_c().await;
    tools.shutdown().await.map_err(|source| Failure::Stop { what: "the demo tools", source: Box::new(source) })?;
    Ok(ExitCode::SUCCESS)
}

/// The exit status for parameters that are wrong, as in `sysexits.h`.
const DATA_ERROR: u8 = 65;

/// Answers one call of a demo tool, as a program that `[[command]]` starts.
async fn answer_call(name: &str) -> Result<ExitCode, Failure> {
    let capabilities = reknit_demo::capabilities().map_err(Failure::start("the demo tools"))?;
    let names: Vec<String> = capabilities.iter().map(|(_, one)| one.announcement().name.to_string()).collect();
    let found = capabilities.into_iter().find(|(_, one)| one.announcement().name.as_str() == name);
    let Some((_, definition)) = found else {
        let message = format!("the demo has no capability `{name}`");
        return Err(Failure::usage(message, format!("write one of: {}", names.join(", "))));
    };
    let text = Input::Stdin.read_up_to(MAX_CONFIG_BYTES)?;
    let parameters = Value::parse(&text)
        .map_err(|error| Failure::usage(format!("the parameters are not JSON: {error}"), "write a JSON object"))?;
    let capability = LocalCapability::new(definition).map_err(Failure::start("the demo tools"))?;
    let reply = capability.call(parameters, None).await;
    let response = match &reply.body {
        ReplyBody::Json(body) => ToolResponse::from_value(body).ok(),
        ReplyBody::Repaired { .. } | ReplyBody::Text(_) | ReplyBody::Empty => None,
    };
    match response.as_ref().map(|response| (response.data(), response.error())) {
        Some((Some(data), _)) => print_data(&format!("{data}\n")).map(|()| ExitCode::SUCCESS),
        Some((_, Some(error))) => {
            let hint = error.details.get("hint").and_then(Value::as_str).map(|hint| format!("; {hint}"));
            print_failure(&format!("{}: {}{}\n", error.code, error.message, hint.unwrap_or_default()));
            Ok(ExitCode::from(DATA_ERROR))
        }
        _ => Err(Failure::usage("the demo tool did not answer as the protocol says", "report this as a bug")),
    }
}
