//! Attacks the sandbox and the receiver over the network, and prints the results as a table.
//!
//! ```text
//! attack PG [--only WORDS] [--connections N]
//! ```
//!
//! `PG` is the command to attack. Everything goes over raw sockets, to separate processes. The exit code is 1 when a
//! bar is missed.
//! `cargo xtask attack` builds what it needs and runs it.

#![expect(
    clippy::disallowed_methods,
    reason = "it measures how long real servers take, and waits as real attackers do"
)]

mod command;
mod flood;
mod hostile;
mod hosts;
mod pages;
mod payment;
mod proxies;
mod row;
mod shapes;
mod target;
mod wire;

use std::{env, error::Error, process::ExitCode};

use row::Table;
use target::Program;

/// What every part of the program may fail with.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The arguments.
struct Wanted {
    program: Program,
    only: Option<String>,
    connections: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // Targets and attackers are separate processes.
    match arguments.split_first() {
        Some((word, _)) if word == target::RECEIVER => return target::receive().await.map(|()| ExitCode::SUCCESS),
        Some((word, _)) if word == target::NESTED => return target::receive_nested().await.map(|()| ExitCode::SUCCESS),
        Some((word, told)) if word == hostile::HOSTILE => {
            hostile::Crowd::told(told)?.attack().await;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let wanted = wanted(&arguments)?;
    let mut table = Table::new(wanted.only.as_deref());
    flood::run(&wanted, &mut table).await?;
    pages::run(&wanted.program, &mut table).await?;
    hosts::run(&wanted.program, &mut table).await?;
    proxies::run(&wanted.program, &mut table).await?;
    shapes::run(&wanted.program, &mut table).await?;
    command::run(&wanted.program, &mut table)?;
    if table.is_empty() {
        return Err(format!("no attack has {:?} in its name", wanted.only.unwrap_or_default()).into());
    }
    Ok(if table.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wanted(arguments: &[String]) -> Result<Wanted> {
    let usage = "usage: attack PG [--only WORDS] [--connections N]";
    let (pg, mut rest) = arguments.split_first().ok_or(usage)?;
    let mut wanted = Wanted { program: Program::new(pg), only: None, connections: 5_000 };
    while let [flag, value, more @ ..] = rest {
        match flag.as_str() {
            "--only" => wanted.only = Some(value.to_lowercase()),
            "--connections" => wanted.connections = value.parse()?,
            _ => return Err(usage.into()),
        }
        rest = more;
    }
    if rest.is_empty() { Ok(wanted) } else { Err(usage.into()) }
}
