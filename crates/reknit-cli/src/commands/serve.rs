//! `reknit serve`: the HTTP API.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit::{Mender, Reknit};
use reknit_runtime::Runtime;
use reknit_server::{Access, Server, TlsFiles, Token};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tracing::level_filters::LevelFilter;

#[cfg(feature = "restate")]
use super::worker::EngineArgument;
use crate::output::{Failure, one_line, print_message};
use crate::setup::{EndSignals, Setup, SetupArguments, named_agents, token_file};

const DETAILS: &str = "\
The API starts, follows and controls runs, and mends calls and texts of other programs: docs/serve.md, and `/openapi.json` of the
server. Runs that an earlier process left unfinished are continued. When the server is told to stop (SIGTERM, Ctrl-C), it takes no
new requests and waits for the runs in progress.

Examples:
  reknit serve
  curl -d '{\"request\": \"What is the weather in Seoul?\"}' http://127.0.0.1:8320/v1/runs
  reknit tokens new ann --scopes read,run --file tokens.toml
  reknit serve --listen 0.0.0.0:8320 --tokens tokens.toml

Exit status: 0 the server was told to stop, 1 it failed, 2 not started.";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct ServeArguments {
    /// The address to listen at; one that other machines can reach needs `--tokens`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8320")]
    listen: SocketAddr,
    /// The file with the tokens that are accepted; `reknit tokens new` makes one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tokens: Option<PathBuf>,
    /// The certificate for HTTPS, in PEM; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate", value_hint = ValueHint::FilePath)]
    tls_key: Option<PathBuf>,
    /// An agent file that clients can ask as the model `agent/NAME`, or call over MCP; repeat it for several
    #[arg(long = "agent", value_name = "FILE", value_hint = ValueHint::FilePath)]
    agents: Vec<PathBuf>,
    /// How many runs go on at the same time; more are answered with 429
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: u32,
    #[cfg(feature = "restate")]
    #[command(flatten)]
    engine: EngineArgument,
    #[command(flatten)]
    setup: SetupArguments,
}

pub(crate) async fn run(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    let access = match &arguments.tokens {
        Some(path) => Access::Tokens(token_file::read(path, false)?),
        None if arguments.listen.ip().is_loopback() => Access::OwnMachine,
        None => {
            let message = format!("other machines can reach {}, so tokens are needed", arguments.listen);
            let hint = "make one with `reknit tokens new NAME --scopes read,run --file tokens.toml`, and add `--tokens tokens.toml`";
            return Err(Failure::usage(message, hint));
        }
    };
    raise_file_limit();
    #[cfg_attr(not(feature = "restate"), expect(unused_mut, reason = "there is no other engine"))]
    let mut setup = Setup::for_server(&arguments.setup, LevelFilter::INFO).await?;
    #[cfg(feature = "restate")]
    if let Some(address) = &arguments.engine.restate {
        setup.reknit = crate::commands::worker::with_engine(setup.reknit, address)?;
    }
    if let Access::Tokens(tokens) = &access {
        check_limits(tokens, &setup.reknit)?;
    }
    let agents = named_agents(&arguments.agents, &setup)?;
    let listener = listen(arguments.listen).await?;
    let address = listener.local_addr().map_err(Failure::start("the server"))?;
    let mut signals = EndSignals::new().map_err(Failure::start("the server"))?;
    let tls = arguments.tls_certificate.clone().zip(arguments.tls_key.clone());
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    print_message(&format!("serving the API at {scheme}://{address} (see /openapi.json)\n"));
    let mender = setup.models.iter().cloned().fold(Mender::new(), Mender::model);
    let server = Server::new(Reknit::from(setup.reknit.clone()), access)
        .with_mender(mender)
        .with_agents(agents)
        .with_plan_answers(setup.sets_answers)
        .with_max_runs(arguments.max_runs as usize);
    let server = match tls {
        Some(files) => server.with_tls(files),
        None => server,
    };
    let result = server.serve(listener, async move { _ = signals.next().await }).await;
    setup.telemetry.end().await;
    result.map(|()| ExitCode::SUCCESS).map_err(Failure::start("the server"))
}

/// A budget needs prices. A tool that does not exist is only mentioned: it may be discovered later.
fn check_limits(tokens: &[Token], reknit: &Runtime) -> Result<(), Failure> {
    let catalogue = reknit.current_catalogue();
    for token in tokens {
        let unpriced = reknit.targets.iter().find(|target| !reknit.policy.prices.contains_key(*target));
        if let Some(model) = unpriced.filter(|_| token.monthly_budget.is_some()) {
            let message =
                format!("the token `{}` has a monthly budget, but the model `{model}` has no price", token.name);
            return Err(Failure::usage(message, "set `price-input` and `price-output` of the model; 0 if it is free"));
        }
        let is_known = |name: &String| match name.split_once('/') {
            Some((tool, capability)) => catalogue.entry(tool, capability).is_some(),
            None => catalogue.tool(name).is_some(),
        };
        for name in token.tools.iter().flatten().filter(|name| !is_known(name)) {
            let (token, name) = (one_line(&token.name, usize::MAX), one_line(name, usize::MAX));
            print_message(&format!("warning: the token `{token}` may use `{name}`, which does not exist now\n"));
        }
    }
    Ok(())
}

/// Each connection is a file, and many systems let a process open only 1,024 unless it asks for more. How many connections there can
/// be follows from the limit as it is then. Programs that are started here get the same limit, and some of them take long with a large one.
fn raise_file_limit() {
    const MAX_FILES: u64 = 65_536;
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(MAX_FILES).min(MAX_FILES);
    if limit.current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit })
    {
        tracing::warn!("the limit of open files stays at {:?}: {error}", limit.current);
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            let free = SocketAddr::new(address.ip(), address.port().saturating_add(1));
            let hint = format!("stop it, or choose another address: reknit serve --listen {free}");
            Failure::usage(format!("another program listens at {address}"), hint)
        }
        _ => Failure::start("the server")(error),
    })
}
