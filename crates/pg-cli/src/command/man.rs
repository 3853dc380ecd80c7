//! `pg man`: manual pages, which `cargo install` does not install.

use std::{fs, path::PathBuf};

use clap::CommandFactory;

use super::result_file;
use crate::{
    failure::{Exit, Failure},
    output,
};

/// Writes a manual page for each command into a folder
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg man ~/.local/share/man/man1    for `man pg-call`, with MANPATH=\"$HOME/.local/share/man:\"
  pg man ./man && man -l ./man/pg.1")]
pub(crate) struct Arguments {
    /// The folder; it is created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let made = result_file::check_dash(folder).and_then(|()| fs::create_dir_all(folder));
    made.and_then(|()| clap_mangen::generate_to(crate::Arguments::command(), folder)).map_err(|error| {
        let remedy = "choose a writable folder";
        Failure::misuse(format!("cannot write manual pages to {}: {error}; {remedy}", folder.display()))
    })?;
    if json {
        output::json(&serde_json::json!({ "path": folder.display().to_string() }))?;
    } else {
        output::data(&format!("manual pages written to {}", folder.display()))?;
    }
    Ok(Exit::Done)
}
