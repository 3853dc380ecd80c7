//! `pg completions`: scripts for the shells.
//!
//! clap knows commands and flags. Only `pg` itself knows methods, parameters, scenarios and profiles: the scripts for
//! bash, zsh and fish ask `pg completions -- LINE` for them, so a script stays valid when a table or a profile changes.

mod candidates;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    failure::{Exit, Failure},
    output,
};

/// Prints the completion script of a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  pg completions bash > ~/.local/share/bash-completion/completions/pg
  pg completions zsh > ~/.zfunc/_pg
  pg completions fish > ~/.config/fish/completions/pg.fish

In bash, zsh and fish, methods, parameters, scenarios, faults and profiles are completed too:
  pg call tok<TAB>
  pg call token/lookup card<TAB>
  pg trigger lost<TAB>
  pg sandbox faults add transaction/auth drop<TAB>")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(required = true)]
    shell: Option<Shell>,
    /// The command line up to the cursor: prints completions of its last word, each with a description after a tab
    #[arg(last = true, hide = true, exclusive = true)]
    line: Option<String>,
}

/// Asks `pg` first, and the script of clap when there is no answer.
const BASH: &str = include_str!("completions/pg.bash");
const ZSH: &str = include_str!("completions/pg.zsh");
const FISH: &str = include_str!("completions/pg.fish");

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if let Some(line) = &arguments.line {
        let lines: Vec<String> =
            candidates::of(line).into_iter().map(|(word, about)| format!("{word}\t{about}")).collect();
        if !lines.is_empty() {
            output::data(&lines.join("\n"))?;
        }
    }
    if let Some(shell) = arguments.shell {
        output::data(script(shell).trim_end())?;
    }
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    // Writes into memory first, since the generator panics if its writer fails, as with a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::Arguments::command(), "pg", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Fish => script + FISH,
        Shell::Zsh => zsh(&script),
        _ => script,
    }
}

/// In zsh each argument names the function that completes it.
fn zsh(script: &str) -> String {
    const OURS: [&str; 5] = [":method -- ", ":parameters -- ", ":profile -- ", ":settings -- ", "'--profile=["];
    let is_ours = |line: &str| OURS.iter().any(|sign| line.contains(sign));
    let lines = script.lines().map(|line| match line.strip_suffix(":_default' \\") {
        Some(argument) if is_ours(line) => format!("{argument}:_pg_candidates' \\\n"),
        _ => format!("{line}\n"),
    });
    // The last lines of the script call its function.
    let script: String = lines.collect();
    let last = script.rfind("\nif [ \"$funcstack[1]\"").unwrap_or(script.len());
    format!("{}\n{ZSH}{}", &script[..last], &script[last..])
}
