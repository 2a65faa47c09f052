//! `reknit tokens`: makes, lists and removes the tokens of `reknit serve`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use reknit_model_api::Money;
use reknit_server::{Scope, Token};

use crate::output::{Failure, one_line, print_data, print_message};
use crate::setup::token_file::{self, money};

#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Make a token, print it once, and store its hash
    New {
        /// Whose token it is; the log names it
        name: String,
        /// What it allows: read, run, approve, admin
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true)]
        scopes: Vec<Scope>,
        /// How many requests it may send in a minute; more are answered with 429
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        requests_per_minute: Option<u32>,
        /// The tools (`shop`) and capabilities (`shop/price`) that it may use; all without this
        #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
        tools: Option<Vec<String>>,
        /// What it may spend on models in a month, in the currency of their prices
        #[arg(long, value_name = "AMOUNT", value_parser = money)]
        monthly_budget: Option<Money>,
        /// Let it see the runs of all tokens, not only its own
        #[arg(long)]
        all_runs: bool,
        #[command(flatten)]
        file: TokenFileArgument,
    },
    /// List the tokens and what they allow
    List {
        #[command(flatten)]
        file: TokenFileArgument,
    },
    /// Remove a token; a running server accepts it until it is started again
    Remove {
        /// Whose token
        name: String,
        #[command(flatten)]
        file: TokenFileArgument,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenFileArgument {
    /// The file with the tokens
    #[arg(long = "file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    path: PathBuf,
}

pub(crate) fn run(command: &TokensCommand) -> Result<ExitCode, Failure> {
    match command {
        TokensCommand::New { name, scopes, requests_per_minute, tools, monthly_budget, all_runs, file } => {
            let mut tokens = token_file::read(&file.path, true)?;
            if tokens.iter().any(|token| token.name == *name) {
                let hint = format!("remove it first: `reknit tokens remove {name} --file {}`", file.path.display());
                return Err(Failure::usage(format!("there is already a token for `{name}`"), hint));
            }
            let (text, hash) = Token::generate().map_err(Failure::start("the random generator"))?;
            tokens.push(Token {
                requests_per_minute: *requests_per_minute,
                tools: tools.clone(),
                monthly_budget: *monthly_budget,
                sees_all_runs: *all_runs,
                ..Token::new(name.clone(), hash, scopes.clone())
            });
            token_file::write(&file.path, &tokens)?;
            print_data(&format!("{text}\n"))?;
            print_message(&format!("note: this is shown once; `{}` has only its hash\n", file.path.display()));
        }
        TokensCommand::List { file } => {
            for token in token_file::read(&file.path, false)? {
                let scopes: Vec<&str> = token.scopes.iter().map(|scope| Scope::as_str(*scope)).collect();
                let limits = limits(&token);
                print_data(&format!("{}  {}{limits}\n", one_line(&token.name, usize::MAX), scopes.join(",")))?;
            }
        }
        TokensCommand::Remove { name, file } => {
            let mut tokens = token_file::read(&file.path, false)?;
            let before = tokens.len();
            tokens.retain(|token| token.name != *name);
            if tokens.len() == before {
                let hint = format!("list them: `reknit tokens list --file {}`", file.path.display());
                return Err(Failure::usage(format!("there is no token for `{name}`"), hint));
            }
            token_file::write(&file.path, &tokens)?;
            print_message(&format!("removed the token of `{name}`; start the server again to refuse it\n"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What restricts a token beside its scopes.
fn limits(token: &Token) -> String {
    let mut limits = vec![String::new()];
    limits.extend(token.requests_per_minute.map(|requests| format!("{requests} requests per minute")));
    limits.extend(token.tools.as_ref().map(|tools| format!("tools {}", one_line(&tools.join(","), usize::MAX))));
    limits.extend(token.monthly_budget.map(|money| format!("{money} per month")));
    limits.extend(token.sees_all_runs.then(|| "sees all runs".to_owned()));
    limits.join("  ")
}
