//! `pg man`: manual pages, for those who pack the command. Not built unless asked for, so that nobody else waits for it.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::{
    failure::Failure,
    output::{self, Exit},
};

/// Writes a manual page of each command into a folder
#[derive(clap::Args)]
#[command(hide = true)]
pub(crate) struct Arguments {
    /// A folder that is there
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    clap_mangen::generate_to(crate::Arguments::command(), &arguments.folder)
        .map_err(|error| Failure::misuse(format!("{}: {error}", arguments.folder.display())))?;
    output::data("written")?;
    Ok(Exit::Done)
}
