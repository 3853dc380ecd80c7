//! The commands, one file each.

mod call;
mod completions;
mod config;
mod decrypt;
mod demo;
mod explain;
mod intents;
mod interrupt;
mod listen;
mod man;
mod methods;
pub(crate) mod rehearse;
mod result_file;
pub(crate) mod sandbox;
mod sign;
mod survey;
mod trigger;
mod update_cards;
mod verify;
mod walkthrough;

use clap::Subcommand;

#[cfg(test)]
pub(crate) use self::config::sample as sample_profile;

use crate::failure::{Exit, Failure};

/// The commands of `pg`.
#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(demo::Arguments),
    Methods(methods::Arguments),
    Call(call::Arguments),
    Sign(sign::Arguments),
    Verify(verify::Arguments),
    Explain(explain::Arguments),
    Decrypt(decrypt::Arguments),
    Listen(Box<listen::Arguments>),
    UpdateCards(Box<update_cards::Arguments>),
    Sandbox(Box<sandbox::Arguments>),
    Trigger(trigger::Arguments),
    Survey(Box<survey::Arguments>),
    Rehearse(Box<rehearse::Arguments>),
    Config(config::Arguments),
    Intents(intents::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// Runs a command.
pub(crate) fn run(command: Command, json: bool) -> Result<Exit, Failure> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments, json),
        Command::Methods(arguments) => methods::run(&arguments, json),
        Command::Call(arguments) => call::run(arguments, json),
        Command::Sign(arguments) => sign::run(arguments, json),
        Command::Verify(arguments) => verify::run(arguments, json),
        Command::Explain(arguments) => explain::run(arguments, json),
        Command::Decrypt(arguments) => decrypt::run(arguments, json),
        Command::Listen(arguments) => listen::run(*arguments, json),
        Command::UpdateCards(arguments) => update_cards::run(*arguments, json),
        Command::Sandbox(arguments) => sandbox::run(*arguments, json),
        Command::Trigger(arguments) => trigger::run(&arguments, json),
        Command::Survey(arguments) => survey::run(*arguments, json),
        Command::Rehearse(arguments) => rehearse::run(*arguments, json),
        Command::Config(arguments) => config::run(arguments, json),
        Command::Intents(arguments) => intents::run(arguments, json),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments, json),
    }
}

/// Returns the failure of a command for a PostgreSQL store.
#[cfg(not(feature = "postgres"))]
fn without_postgres() -> Failure {
    let how = "cargo install --path crates/pg-cli --features postgres";
    Failure::misuse(format!("this pg was built without PostgreSQL; build it with `{how}`"))
}

/// Runs a command in a runtime with network and timers. It ends with its future: a thread that still asks for the address
/// of a host, reads standard input or waits for a database does not delay it.
fn block_on<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::NotReachable, format!("cannot start the event loop: {error}")))?;
    let ended = runtime.block_on(command);
    runtime.shutdown_background();
    ended
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering::SeqCst},
            mpsc,
        },
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_command_does_not_wait_for_threads_that_it_no_longer_needs() {
        let (answer, answered) = mpsc::channel::<()>();
        let has_ended = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&has_ended);
        let ended = block_on(async {
            // Like a name server that does not answer.
            tokio::task::spawn_blocking(move || {
                let _ = answered.recv_timeout(Duration::from_secs(10));
                ends.store(true, SeqCst);
            });
            Ok(7)
        });
        assert!(matches!(ended, Ok(7)) && !has_ended.load(SeqCst));
        drop(answer);
    }
}
