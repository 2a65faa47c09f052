//! Commands of this machine: arguments in, standard output out, without a shell.

mod process;
mod reply;

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use reknit_plan::CatalogueEntry;
use reknit_protocol::{CallTool, Delivery, Object, ToolName, ToolReply, TransportFailure, TransportKind};
use secrecy::{ExposeSecret as _, SecretString};

use crate::defined_capability::{DefinedCapability, InvalidDefinition, not_made};
use crate::option_words::CommandOutput;
use crate::sandbox::Sandbox;
use crate::secrets::{KnownSecrets, is_secret_name, is_secret_value, password_in_url};
use crate::source::{BoxFuture, CallFuture, DefinitionAuthor, Listing, Route, ToolSource, timed_out};
use crate::template::TemplateText;
use process::{Finished, RunError};

/// The size limit of the output in bytes, unless a command has its own.
const MAX_OUTPUT: usize = 16 << 20;

const KEY_VARIABLE: &str = "REKNIT_IDEMPOTENCY_KEY";
const TRACE_VARIABLE: &str = "TRACEPARENT";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CommandInput {
    #[default]
    Empty,
    Json,
    /// A text with placeholders. It is empty if a parameter is missing.
    Text(String),
}

#[derive(Debug, Clone)]
pub struct CommandOptions {
    pub capability: DefinedCapability,
    /// The program, and its arguments with placeholders.
    pub command: Vec<String>,
    pub stdin: CommandInput,
    /// The time limit, if it is shorter than the one of the run.
    pub time_limit: Option<Duration>,
    /// The size limit of the standard output in bytes.
    pub max_output: usize,
    /// The working folder, if it is not the current one.
    pub folder: Option<PathBuf>,
    /// The environment variables; there are no others.
    pub environment: Vec<(String, SecretString)>,
    /// What the standard output is. Without it: JSON if it is valid JSON, else a text.
    pub output: Option<CommandOutput>,
    pub sandbox: Sandbox,
}

impl CommandOptions {
    /// A command without parameters in its input, with an empty environment.
    pub fn new(capability: DefinedCapability, command: Vec<String>) -> Self {
        Self {
            capability,
            command,
            stdin: CommandInput::Empty,
            time_limit: None,
            max_output: MAX_OUTPUT,
            folder: None,
            environment: Vec::new(),
            output: None,
            sandbox: Sandbox::off(),
        }
    }
}

/// A command of this machine as a tool with one capability.
#[derive(Debug, Clone)]
pub struct CommandTool {
    entry: CatalogueEntry,
    route: Arc<CommandRoute>,
}

#[derive(Debug)]
struct CommandRoute {
    options: CommandOptions,
    program: String,
    arguments: Vec<TemplateText>,
    stdin: Option<TemplateText>,
    /// What must not be shown of the environment.
    secrets: KnownSecrets,
}

impl CommandTool {
    /// Checks the options. Fails for an unreadable template, an undeclared parameter in one, or an unused parameter.
    pub fn new(options: CommandOptions) -> Result<Self, InvalidDefinition> {
        let invalid = |problem: String| InvalidDefinition::new("command", problem);
        let Some((program, arguments)) = options.command.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err(invalid("write the program first, then its arguments".to_owned()));
        };
        if TemplateText::parse(program).is_ok_and(|program| program.parameters().next().is_some()) {
            return Err(invalid("the program cannot be a parameter".to_owned()));
        }
        let arguments: Vec<TemplateText> =
            arguments.iter().map(|text| TemplateText::parse(text)).collect::<Result<_, _>>().map_err(invalid)?;
        let stdin = match &options.stdin {
            CommandInput::Text(text) => {
                let text = TemplateText::parse(text);
                Some(text.map_err(|problem| InvalidDefinition::new("stdin", problem))?)
            }
            CommandInput::Empty | CommandInput::Json => None,
        };
        let entry = options.capability.entry()?;
        let in_arguments = arguments.iter().flat_map(TemplateText::parameters).map(|name| ("command", name.to_owned()));
        let in_stdin = stdin.iter().flat_map(TemplateText::parameters).map(|name| ("stdin", name.to_owned()));
        // As JSON, the standard input has every parameter.
        let in_json = entry.parameter_names().into_iter().filter(|_| options.stdin == CommandInput::Json);
        let placeholders: Vec<_> = in_arguments.chain(in_stdin).chain(in_json.map(|name| ("stdin", name))).collect();
        options.capability.check_placeholders(&placeholders)?;
        let mut secrets = KnownSecrets::default();
        for (name, value) in &options.environment {
            let value = value.expose_secret();
            if is_secret_name(name) || is_secret_value(value) {
                secrets.add(value);
            }
            // A command may print the password without the address.
            if let Some(password) = password_in_url(value) {
                secrets.add(password);
            }
        }
        let program = program.clone();
        Ok(Self { entry, route: Arc::new(CommandRoute { options, program, arguments, stdin, secrets }) })
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.route.options.sandbox
    }

    pub fn command_line(&self) -> String {
        self.route.options.command.join(" ")
    }
}

impl ToolSource for CommandTool {
    fn name(&self) -> &ToolName {
        &self.route.options.capability.tool
    }

    fn address(&self) -> String {
        format!("`{}`", self.command_line())
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Listing::of_one(&self.entry, Arc::clone(&self.route) as Arc<dyn Route>)
    }

    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::User
    }
}

impl CommandRoute {
    /// The arguments of a call. An argument with a missing parameter is left out.
    fn arguments(&self, parameters: &Object) -> Result<Vec<String>, String> {
        let (mut arguments, mut only_operands) = (Vec::new(), false);
        for template in &self.arguments {
            let Some(text) = template.render(parameters, |value| value) else { continue };
            // A caller chooses values, not options.
            if template.begins_with_parameter() && text.starts_with('-') && !only_operands {
                let name = template.parameters().next().unwrap_or_default();
                return Err(format!(
                    "`{name}` begins with `-`, so `{}` could read it as an option; if it ends its options with `--`, write \
                     `\"--\"` before `{{{name}}}` in `command`",
                    self.program
                ));
            }
            only_operands |= text == "--" && template.parameters().next().is_none();
            arguments.push(text);
        }
        Ok(arguments)
    }

    fn input(&self, parameters: &Object) -> Option<String> {
        match (&self.options.stdin, &self.stdin) {
            (CommandInput::Json, _) => Some(parameters.to_string()),
            (_, Some(template)) => Some(template.render(parameters, |value| value).unwrap_or_default()),
            (_, None) => None,
        }
    }

    fn command(&self, call: &CallTool, traceparent: Option<&str>) -> Result<tokio::process::Command, String> {
        let options = &self.options;
        options.capability.check_parameters(&call.parameters)?;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(self.arguments(&call.parameters)?).env_clear();
        command.envs(options.environment.iter().map(|(name, value)| (name, value.expose_secret())));
        command.envs(call.idempotency_key.as_ref().map(|key| (KEY_VARIABLE, key)));
        command.envs(traceparent.map(|trace| (TRACE_VARIABLE, trace)));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &options.folder {
            command.current_dir(folder);
        }
        Ok(command)
    }

    async fn run(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        let command = self.command(call, traceparent).map_err(|problem| not_made(call, &problem))?;
        let limit = self.options.time_limit.unwrap_or(Duration::MAX).min(Duration::from_millis(call.timeout_ms));
        let run = process::run(command, &self.options, self.input(&call.parameters));
        let finished = match tokio::time::timeout(limit, run).await {
            Ok(finished) => finished.map_err(|error| self.failure(call, &error))?,
            Err(_) => return Err(timed_out(call, limit)),
        };
        let Finished { status, stdout, stderr } = finished;
        let (stdout, stderr) = (self.secrets.redact_bytes(stdout), self.secrets.redact_bytes(stderr));
        if !status.success() {
            return Ok(reply::of_failure(&self.program, call.side_effect, status, &stdout, &stderr));
        }
        let reply = reply::of_success(&stdout, self.options.output);
        reply.map(|reply| self.secrets.redact_reply(reply)).map_err(|problem| TransportFailure {
            kind: TransportKind::Unreadable,
            delivery: Delivery::Possible,
            message: format!("`{}` ended without an error, but {problem}", self.program),
        })
    }

    fn failure(&self, call: &CallTool, error: &RunError) -> TransportFailure {
        let (kind, message) = match error {
            RunError::Start(error) => return not_made(call, &format!("`{}` does not start: {error}", self.program)),
            RunError::TooLarge(limit) => {
                (TransportKind::TooLarge, format!("`{}` wrote more than {limit} bytes and was ended", self.program))
            }
            RunError::Wait(error) => (TransportKind::Reset, format!("`{}` was lost: {error}", self.program)),
        };
        TransportFailure { kind, delivery: Delivery::Possible, message }
    }
}

impl Route for CommandRoute {
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a> {
        Box::pin(self.run(call, traceparent))
    }
}
