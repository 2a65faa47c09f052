//! `reknit callbacks serve`: receives the calls with which tools report the end of a job, and passes them on to their runs.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use clap::Subcommand;
use reknit_journal::{Journal, Liveness};
use reknit_protocol::{EffectId, RunId};
use reknit_runtime::{Callbacks, Refusal, TokenRefusal, signals};
use reknit_tools::{KnownSecrets, callback_reply};

use crate::output::{Failure, print_message};
use crate::setup::{EndSignals, FileArguments, load_run, open_journal, read_config};

pub(super) const DETAILS: &str = "\
Examples:
  reknit callbacks serve
  reknit callbacks serve --listen 0.0.0.0:8099

Calls carry a signed URL in the header `x-reknit-callback` if `url` in `[callbacks]` is set. A tool that works on a job calls
it when the job has ended. docs/tools.md describes it.";

#[derive(Debug, Subcommand)]
pub(crate) enum CallbacksCommand {
    /// Receive the calls with which tools report the end of a job
    Serve {
        /// The address to listen at
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8099")]
        listen: SocketAddr,
        #[command(flatten)]
        files: FileArguments,
    },
}

const MAX_BODY: usize = 4 << 20;

struct Receiver {
    journal: Journal,
    callbacks: Callbacks,
    /// The credentials of all configured services: a tool may send back what it was sent.
    secrets: KnownSecrets,
}

pub(crate) async fn run(command: &CallbacksCommand) -> Result<ExitCode, Failure> {
    let CallbacksCommand::Serve { listen, files } = command;
    let config = read_config(files.config.as_deref())?;
    let callbacks = Callbacks::configured(&config)?.ok_or_else(|| {
        let hint = "write the public URL of this listener: `[callbacks]` and `url = \"https://me.example/hooks\"`";
        Failure::usage("no callback URL is configured", hint)
    })?;
    let mut secrets = KnownSecrets::default();
    config.tools.iter().for_each(|tool| secrets.extend(&tool.secrets()));
    let receiver = Arc::new(Receiver { journal: open_journal(files)?, callbacks, secrets });
    let listener = tokio::net::TcpListener::bind(listen).await.map_err(Failure::start("the listener"))?;
    let address = listener.local_addr().map_err(Failure::start("the listener"))?;
    let mut signals = EndSignals::new().map_err(Failure::start("the listener"))?;
    print_message(&format!("receiving callbacks at http://{address}\n"));
    let router = Router::new().route("/{*path}", post(receive)).with_state(receiver);
    let served = axum::serve(listener, router).with_graceful_shutdown(async move { _ = signals.next().await });
    served.await.map_err(Failure::start("the listener"))?;
    Ok(ExitCode::SUCCESS)
}

/// Receives one call. The token is the last segment of the path: a proxy may have removed the others.
async fn receive(State(receiver): State<Arc<Receiver>>, Path(path): Path<String>, body: Body) -> (StatusCode, String) {
    let token = path.rsplit('/').next().unwrap_or_default();
    let (run, call) = match receiver.callbacks.verify(token, now_ms()) {
        Ok(named) => named,
        Err(refusal @ (TokenRefusal::Forged | TokenRefusal::Expired)) => {
            print_message(&format!("refused a callback: {refusal}\n"));
            return (StatusCode::UNAUTHORIZED, format!("{refusal}\n"));
        }
    };
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {MAX_BODY} bytes, or broken off\n"));
    };
    match receiver.store(&run, &call, &body).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            print_message(&format!("cannot store a callback for run {run}: {failure}\n"));
            // The tool may call again.
            (StatusCode::SERVICE_UNAVAILABLE, "the callback cannot be stored now\n".to_owned())
        }
    }
}

impl Receiver {
    async fn store(&self, run: &RunId, call: &EffectId, body: &[u8]) -> Result<(StatusCode, String), Failure> {
        if !self.journal.exists(run).await.map_err(Failure::journal)? {
            return Ok((StatusCode::NOT_FOUND, "there is no such run\n".to_owned()));
        }
        let inbox = self.journal.inbox(run).await.map_err(Failure::journal)?;
        let is_waiting = load_run(&self.journal, run).await?.machine.awaits_call(call);
        if !is_waiting || signals::has_job_end(&inbox, call) {
            print_message(&format!(
                "run {run}: a callback for {call} came, but the run does not wait for it any more\n"
            ));
            return Ok((StatusCode::OK, "already received\n".to_owned()));
        }
        let Some(reply) = callback_reply(body, &self.secrets) else {
            return Ok((StatusCode::OK, "the job goes on; nothing is stored\n".to_owned()));
        };
        let sent = self.journal.send(run, signals::job_end(call.clone(), reply), now_ms()).await;
        sent.map_err(Refusal::from)?;
        let summary = self.journal.summary(run).await.map_err(Failure::journal)?;
        let is_driven = summary.lease.is_some_and(|lease| lease.holder.liveness() != Liveness::Dead);
        let next = if is_driven { String::new() } else { format!("; continue it with `reknit runs resume {run}`") };
        print_message(&format!("run {run}: the job of {call} has ended{next}\n"));
        Ok((StatusCode::OK, "received\n".to_owned()))
    }
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
