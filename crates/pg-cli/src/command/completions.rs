//! `pg completions`: scripts for the shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    failure::Failure,
    output::{self, Exit},
};

/// Prints the completions of a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg completions bash > ~/.local/share/bash-completion/completions/pg
  pg completions zsh > ~/.zfunc/_pg
  pg completions fish > ~/.config/fish/completions/pg.fish")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    // Into memory first: the generator panics when its writer fails, as a closed pipe does.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "pg", &mut script);
    output::data(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
