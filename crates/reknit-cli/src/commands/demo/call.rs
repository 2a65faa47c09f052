//! `reknit demo --call`: answers one call of a demo tool, as a program that `[[command]]` starts.

use std::process::ExitCode;

use reknit_protocol::{ReplyBody, ToolResponse, Value};
use reknit_tool_service::LocalCapability;

use crate::output::{Failure, Input, print_data, print_failure};
use crate::setup::MAX_CONFIG_BYTES;

/// The exit status for parameters that are wrong, as in `sysexits.h`.
const DATA_ERROR: u8 = 65;

pub(crate) async fn run(name: &str) -> Result<ExitCode, Failure> {
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
        Some((Some(data), _)) => {
            print_data(&format!("{data}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Some((_, Some(error))) => {
            let hint = error.details.get("hint").and_then(Value::as_str).map(|hint| format!("; {hint}"));
            print_failure(&format!("{}: {}{}\n", error.code, error.message, hint.unwrap_or_default()));
            Ok(ExitCode::from(DATA_ERROR))
        }
        _ => Err(Failure::usage("the demo tool did not answer as the protocol says", "report this as a bug")),
    }
}
