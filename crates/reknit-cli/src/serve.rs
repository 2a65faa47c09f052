//! `reknit serve`: the HTTP API.

use std::path::PathBuf;
use std::process::ExitCode;

use reknit::{Mender, Reknit};
use reknit_server::{Access, Server, TlsFiles};

use crate::agent::named;
use crate::agent_files::AgentFile;
use crate::cli::ServeArguments;
use crate::end_signals::EndSignals;
use crate::failure::Failure;
use crate::print::print_message;
use crate::setup::Setup;
use crate::token_file;

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
    let setup = Setup::for_server(&arguments.setup).await?;
    let read = |path: &PathBuf| AgentFile::read(path, &setup.reknit.session).map(named);
    let agents = arguments.agents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let listener = tokio::net::TcpListener::bind(arguments.listen).await.map_err(Failure::start("the server"))?;
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
        .with_max_runs(arguments.max_runs as usize);
    let server = match tls {
        Some(files) => server.with_tls(files),
        None => server,
    };
    let result = server.serve(listener, async move { _ = signals.next().await }).await;
    setup.telemetry.end().await;
    result.map(|()| ExitCode::SUCCESS).map_err(Failure::start("the server"))
}
