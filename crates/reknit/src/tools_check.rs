//! `reknit tools check`: what the tools can do, and what they do not say.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_protocol::Effect;
use reknit_tools::Client;

use crate::cli::WorkArguments;
use crate::failure::Failure;
use crate::show::{harmless, one_line};
use crate::work::{config, with_tools};

/// How much of a capability's name is shown, in columns.
const NAME: usize = 120;

/// Asks each tool and lists what it said. Ends with 1 if a tool cannot be used.
pub(crate) async fn run(arguments: &WorkArguments, json: bool) -> Result<ExitCode, Failure> {
    let config = with_tools(config(arguments.files.config.as_deref())?, arguments)?;
    if config.tools.is_empty() {
        return Err(Failure::Usage {
            what: "there is no tool to ask".to_owned(),
            hint: Some("name one: `--tool NAME=URL`, or `[[tools]]` in reknit.toml".to_owned()),
        });
    }
    let client =
        Client::new().map_err(|source| Failure::Start { what: "the HTTP client", source: Box::new(source) })?;
    let found = client.discover(&config.tools).await;
    let mut undeclared = 0;
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", found.catalogue.to_value()).map_err(Failure::Write)?;
    }
    for tool in found.catalogue.tools.iter().filter(|_| !json) {
        writeln!(out, "{}", harmless(tool.name.as_str())).map_err(Failure::Write)?;
        for entry in &tool.capabilities {
            let (agent, name) = (tool.name.as_str(), entry.capability.name.as_str());
            let class = config.policy.effects.class(agent, name, entry.capability.effect);
            let source = if class == entry.capability.effect { "" } else { " (by configuration)" };
            undeclared += usize::from(class == Effect::Undeclared);
            writeln!(out, "  {}: {class}{source}", one_line(name, NAME)).map_err(Failure::Write)?;
        }
    }
    for problem in &found.problems {
        let _ = writeln!(io::stderr(), "error: {}", harmless(&problem.to_string()));
    }
    if undeclared > 0 {
        let _ = writeln!(
            io::stderr(),
            "\nnote: {undeclared} of them do not say what they do to the world; after a crash they are sent again under the same key\n\
             hint: say it in reknit.toml: `[effects.classes]` with `\"tool/capability\" = \"read\"`"
        );
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
