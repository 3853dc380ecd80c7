//! A numbered run of steps that ends with a summary and an honest verdict.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// One thing to do, with the name under which the summary lists it.
pub(crate) struct Step<'a> {
    title: String,
    action: Box<dyn FnOnce() -> Result<Outcome> + 'a>,
}

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// It was done.
    Done,
    /// It could not be done on this machine, and why.
    LeftOut(String),
}

impl<'a> Step<'a> {
    pub(crate) fn new(title: impl Into<String>, action: impl FnOnce() -> Result<Outcome> + 'a) -> Self {
        Self { title: title.into(), action: Box::new(action) }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }
}

/// Runs every step, also after one has failed, then prints what became of each.
///
/// With `strict`, a step that was left out counts as failed.
pub(crate) fn run(steps: Vec<Step<'_>>, strict: bool) -> Result<()> {
    let total = steps.len();
    let mut summary = Vec::with_capacity(total);
    let (mut failed, mut left_out) = (0, 0);
    for (index, Step { title, action }) in steps.into_iter().enumerate() {
        println!("\n==> step ({}/{total}) {title}", index + 1);
        summary.push(match action() {
            Ok(Outcome::Done) => format!("  done      {title}"),
            Ok(Outcome::LeftOut(why)) if !strict => {
                println!("left out: {why}");
                left_out += 1;
                format!("  left out  {title}: {why}")
            }
            Ok(Outcome::LeftOut(why)) => {
                println!("failed: nothing may be left out here, but {why}");
                failed += 1;
                format!("  FAILED    {title}: left out, which is not allowed here: {why}")
            }
            Err(error) => {
                println!("failed: {error:#}");
                failed += 1;
                format!("  FAILED    {title}: {error:#}")
            }
        });
    }
    println!("\n==> summary");
    for line in &summary {
        println!("{line}");
    }
    println!("{total} steps: {} done, {left_out} left out, {failed} not passing", total - failed - left_out);
    if failed > 0 {
        bail!("{failed} of {total} steps did not pass");
    }
    Ok(())
}

/// Runs a command with its output shown; anything but success is an error.
pub(crate) fn execute(command: &mut Command) -> Result<Outcome> {
    let shown = display(command);
    println!("    {shown}");
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(Outcome::Done)
}

/// True if the command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn display(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    std::iter::once(name)
        .chain(command.get_args().map(|argument| argument.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(second: fn() -> Result<Outcome>, ran: &std::cell::Cell<u32>) -> Vec<Step<'_>> {
        let count = || {
            ran.set(ran.get() + 1);
            Ok(Outcome::Done)
        };
        vec![Step::new("first", count), Step::new("second", second), Step::new("third", count)]
    }

    #[test]
    fn all_done_passes() {
        let ran = std::cell::Cell::new(0);
        assert!(run(three(|| Ok(Outcome::Done), &ran), true).is_ok());
        assert_eq!(ran.get(), 2);
    }

    #[test]
    fn a_failure_fails_the_run_but_not_the_steps_after_it() {
        let ran = std::cell::Cell::new(0);
        let verdict = run(three(|| bail!("broken"), &ran), false);
        assert_eq!(verdict.unwrap_err().to_string(), "1 of 3 steps did not pass");
        assert_eq!(ran.get(), 2);
    }

    #[test]
    fn left_out_fails_only_where_nothing_may_be() {
        let ran = std::cell::Cell::new(0);
        let left_out = || Ok(Outcome::LeftOut("no tool".to_owned()));
        assert!(run(three(left_out, &ran), false).is_ok());
        assert!(run(three(left_out, &ran), true).is_err());
    }
}
