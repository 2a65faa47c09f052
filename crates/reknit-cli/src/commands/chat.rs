//! `reknit chat`: an agent with follow-up turns. A conversation is one session, which goes on with each message.

use std::io;
use std::io::{BufRead, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::{EventKind, Machine, Report, SessionExit, TextAnswers};
use reknit_journal::{Journal, RunFilter};
use reknit_protocol::RunId;
use reknit_runtime::agent::Agent;
use reknit_runtime::{DriveError, NamedAgent, RunStart};
use tokio::sync::oneshot;

use crate::drive::{Advance, Settled, drive_turn};
use crate::output::{
    Failure, Input, ResultFormat, escape_controls, one_line, print_data, print_failure, print_message, print_text,
    print_waiting, print_warning, report_exit_code, report_json, report_notes, result_line,
};
use crate::setup::{
    AgentFile, ApprovalArguments, DriveArguments, EndSignals, MetadataArguments, OutputArguments, Setup,
    SetupArguments, config_with_arguments, find_run, load_run, named, open_journal, start_failure,
    with_limits_of_models,
};

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct ChatArguments {
    /// The agent file [default: agent.md in the current folder, or an agent with all tools]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Go on with a conversation: the id of its run, or the newest one
    #[arg(long = "continue", value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    #[arg(conflicts_with_all = ["file", "meta", "ask"])]
    continued: Option<String>,
    #[command(flatten)]
    metadata: MetadataArguments,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    approval: ApprovalArguments,
    /// Print each answer as a line of JSON: the whole report
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: OutputArguments,
}

const DETAILS: &str = "\
Examples:
  reknit chat                          talk with agent.md, or with an agent that has all tools
  reknit chat clerk.md
  reknit chat --continue               go on with the newest conversation
  printf 'Where is order 7?\\nAnd order 8?\\n' | reknit chat clerk.md

Each line is a message. /help lists the commands, /exit or Ctrl-D leaves. Ctrl-C stops an answer, and at the prompt it leaves.
A conversation is one run: every message and call is in the journal, and `reknit runs show` shows them.

Exit status: 0, or 2 not started, 6 waiting for approval. If the messages come from a pipe: that of `reknit agent` for the last one.";

const DEFAULT_AGENT: &str = "agent.md";

const DEFAULT_PROMPT: &str = "You help the user with the tools that you have.";

/// How many runs are looked at to find the newest conversation.
const MAX_SEARCHED: u32 = 100;

const HELP: &str = "\
Each line is a message to the agent.
  /help   print this
  /exit   leave; the conversation is saved
Ctrl-C stops an answer, and at the prompt it leaves. Ctrl-D leaves.
";

pub(crate) async fn run(arguments: &ChatArguments) -> Result<ExitCode, Failure> {
    let mut chat = match &arguments.continued {
        Some(name) => Chat::continued(name, arguments).await?,
        None => Box::pin(Chat::new(arguments)).await?,
    };
    let result = Box::pin(chat.talk()).await;
    chat.setup.telemetry.end().await;
    result
}

struct Chat {
    setup: Setup,
    drive: DriveArguments,
    /// The conversation; none before the first message.
    run: Option<RunId>,
    /// The start of the conversation, without its first message.
    agent: Option<(NamedAgent, reknit_engine::Metadata)>,
    /// Whether a person types the messages.
    is_interactive: bool,
    /// How many calls in doubt the user was told about.
    told_doubts: usize,
    last_exit: u8,
}

impl Chat {
    async fn new(arguments: &ChatArguments) -> Result<Self, Failure> {
        let metadata = arguments.metadata.parse()?;
        let config = config_with_arguments(&arguments.setup)?;
        let file = arguments.file.as_deref().or_else(|| Some(Path::new(DEFAULT_AGENT)).filter(|path| path.is_file()));
        let (config, mut agent) = if let Some(path) = file {
            let file = AgentFile::read(path, &config.session)?;
            (with_limits_of_models(config, &file), named(file))
        } else {
            let agent = default_agent(&config)?;
            (config, NamedAgent { name: "chat".to_owned(), agent, agents: Vec::new() })
        };
        agent.agent.rules.text_answers = TextAnswers::Accepted;
        let drive = DriveArguments::of_session(&arguments.approval, arguments.json, &arguments.output);
        let setup = Setup::with_config(config, &arguments.setup.files, &drive).await?;
        // What is missing is said before the first message is typed.
        setup.reknit.session_started(agent.clone(), "").map_err(start_failure)?;
        let chat = Self::with(setup, drive, None, Some((agent, metadata)));
        if chat.is_interactive {
            let name = chat.agent.as_ref().map_or("", |(agent, _)| agent.name.as_str());
            print_message(&format!("chat with {}: /help lists the commands, /exit leaves\n\n", one_line(name, 60)));
        }
        Ok(chat)
    }

    /// Goes on with a conversation of the journal. If its last message has no answer yet, it gets one first.
    async fn continued(name: &str, arguments: &ChatArguments) -> Result<Self, Failure> {
        let journal = open_journal(&arguments.setup.files)?;
        let run = match name {
            "last" => newest_session(&journal).await?,
            name => find_run(&journal, name).await?,
        };
        let saved = load_run(&journal, &run).await?.machine;
        let Machine::Session(session) = &saved else { return Err(DriveError::NotASession(run).into()) };
        let drive = DriveArguments::of_session(&arguments.approval, arguments.json, &arguments.output);
        let setup = Setup::to_continue(&saved, &arguments.setup, &drive).await?;
        let mut chat = Self::with(setup, drive, Some(run.clone()), None);
        let number = session.follow_ups().len() + 1;
        let last = one_line(session.input(), 60);
        print_message(&format!("going on with run {run}, message {number}: {last}\n\n"));
        match session.report() {
            Some(report) => {
                chat.told_doubts = report.shortcomings.in_doubt.len();
                if chat.is_interactive {
                    print_message(&format!("{}\n\n", escape_controls(&report.content)));
                }
            }
            None => _ = chat.answer(run, Advance::Join).await?,
        }
        Ok(chat)
    }

    fn with(
        setup: Setup,
        drive: DriveArguments,
        run: Option<RunId>,
        agent: Option<(NamedAgent, reknit_engine::Metadata)>,
    ) -> Self {
        let is_interactive = io::stdin().is_terminal();
        Self { setup, drive, run, agent, is_interactive, told_doubts: 0, last_exit: 0 }
    }

    async fn talk(&mut self) -> Result<ExitCode, Failure> {
        loop {
            let Some(message) = read_message(self.is_interactive).await? else { break };
            match message.as_str() {
                "/exit" | "/quit" => break,
                "/help" => print_message(HELP),
                command if command.starts_with('/') && !command.contains(char::is_whitespace) => {
                    let command = one_line(command, 40);
                    print_failure(&format!("there is no command `{command}`; /help lists them\n"));
                }
                message => {
                    let (run, start) = self.start_of(message)?;
                    if self.answer(run, start).await? == Next::Leave {
                        break;
                    }
                }
            }
        }
        if let Some(run) = self.run.as_ref().filter(|_| self.is_interactive) {
            print_message(&format!("\nhint: go on with `reknit chat --continue {run}`\n"));
        }
        Ok(ExitCode::from(if self.is_interactive && self.last_exit != WAITING { 0 } else { self.last_exit }))
    }

    /// The first message starts the conversation, and the next ones continue it.
    fn start_of(&mut self, message: &str) -> Result<(RunId, Advance), Failure> {
        if let Some(run) = &self.run {
            return Ok((run.clone(), Advance::FollowUp(message.to_owned())));
        }
        let (agent, metadata) = self.agent.clone().ok_or_else(|| Failure::usage("no agent", "name an agent file"))?;
        let started = self.setup.reknit.session_started(agent, message).map_err(start_failure)?;
        let start = RunStart::from(started.with_metadata(metadata));
        self.run = Some(start.run().clone());
        Ok((start.run().clone(), Advance::Start(Box::new(start))))
    }

    /// Lets the agent answer, and prints the answer.
    async fn answer(&mut self, run: RunId, start: Advance) -> Result<Next, Failure> {
        let (settled, signal) = Box::pin(drive_turn(&self.setup, &run, start, &self.drive)).await?;
        match settled {
            Settled::Report(report) => self.print(&run, &report)?,
            Settled::Waiting(approvals) => {
                print_waiting(&run, &approvals, self.drive.format())?;
                self.last_exit = WAITING;
                return Ok(Next::Leave);
            }
            Settled::Answer(_) => return Err(DriveError::NotASession(run).into()),
        }
        Ok(if signal.is_terminated() { Next::Leave } else { Next::Prompt })
    }

    fn print(&mut self, run: &RunId, report: &Report) -> Result<(), Failure> {
        let format = self.drive.format();
        let is_shown_as_note = self.is_interactive && format == ResultFormat::Text && !report.is_answer();
        if is_shown_as_note && report.exit == SessionExit::SignalReceived {
            print_message("stopped\n");
        } else if is_shown_as_note {
            print_failure(&format!("{}\n", escape_controls(&report.content)));
        } else {
            match format {
                ResultFormat::Text => print_text(&format!("{}\n", escape_controls(&report.content)))?,
                ResultFormat::Json | ResultFormat::Event => {
                    print_data(&format!("{}\n", result_line(report_json(run, report)?, "report", format)))?;
                }
            }
        }
        for call in report.shortcomings.in_doubt.iter().skip(self.told_doubts) {
            print_warning(&one_line(call, usize::MAX));
        }
        self.told_doubts = report.shortcomings.in_doubt.len();
        print_message(&report_notes(report));
        if self.is_interactive {
            print_message("\n");
        }
        self.last_exit = report_exit_code(report);
        Ok(())
    }
}

/// The exit status of a conversation that waits for approval.
const WAITING: u8 = 6;

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Prompt,
    Leave,
}

/// An agent with the settings of the configuration.
fn default_agent(config: &reknit_runtime::config::Config) -> Result<Agent, Failure> {
    Agent::read(DEFAULT_PROMPT, &config.session).map_err(|problems| Failure::Agent {
        path: "chat".into(),
        problems: problems.iter().map(ToString::to_string).collect(),
    })
}

/// The session that was started last.
async fn newest_session(journal: &Journal) -> Result<RunId, Failure> {
    for summary in journal.runs(&RunFilter::newest(MAX_SEARCHED)).await.map_err(Failure::journal)? {
        let first = journal.events_page(&summary.run, 0, 1).await.map_err(Failure::journal)?;
        let first = first.first().and_then(|event| serde_json::from_str::<reknit_engine::Event>(&event.body).ok());
        if first.is_some_and(|event| matches!(event.kind, EventKind::SessionStarted(_))) {
            return Ok(summary.run);
        }
    }
    Err(Failure::usage("there is no conversation to go on with", "start one with `reknit chat`"))
}

const MAX_BYTES: u64 = 1 << 20;

/// The next message, which is not empty; `None` after Ctrl-D, Ctrl-C at the prompt, or the end of a pipe.
async fn read_message(is_interactive: bool) -> Result<Option<String>, Failure> {
    if is_interactive {
        print_failure("> ");
    }
    let (read, line) = oneshot::channel();
    // A thread of its own, for each line: questions about approvals read standard input in between, and the runtime would wait
    // for the thread when the program ends after Ctrl-C.
    std::thread::spawn(move || {
        let _ = read.send(next_message(&mut io::stdin().lock()));
    });
    let mut signals = EndSignals::new().map_err(Failure::start("the signal handler"))?;
    let typed = tokio::select! {
        typed = line => typed.unwrap_or(Ok(None)).map_err(|source| Failure::Input { input: Input::Stdin, source })?,
        _ = signals.next() => None,
    };
    if is_interactive && typed.is_none() {
        print_failure("\n");
    }
    Ok(typed)
}

/// The next line that is not empty.
fn next_message(input: &mut impl BufRead) -> io::Result<Option<String>> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") && line.len() as u64 == MAX_BYTES {
            return Err(io::Error::other("a message is longer than 1 MiB"));
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            return Ok(Some(line.trim().to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_is_not_empty_is_a_message() {
        let mut input = io::Cursor::new("\n  Where is order 7? \r\n\nAnd 8?");
        let mut next = || next_message(&mut input).unwrap();
        assert_eq!(next(), Some("Where is order 7?".to_owned()));
        assert_eq!(next(), Some("And 8?".to_owned()));
        assert_eq!(next(), None);
    }

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        let text = "x".repeat(2 << 20);
        assert!(next_message(&mut io::Cursor::new(text)).is_err());
    }
}
