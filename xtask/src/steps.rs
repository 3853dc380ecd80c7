//! A numbered run of steps with a summary and a verdict.
//!
//! Independent steps run concurrently: while one waits for a browser, another computes. The output of such a step is
//! shown when it has ended.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// One thing to do, with the name under which the summary lists it.
pub(crate) struct Step<'a> {
    title: String,
    action: Box<dyn FnOnce() -> Result<Outcome> + Send + 'a>,
}

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// It was done.
    Done,
    /// It could not be done on this machine, and why.
    LeftOut(String),
}

impl<'a> Step<'a> {
    pub(crate) fn new(title: impl Into<String>, action: impl FnOnce() -> Result<Outcome> + Send + 'a) -> Self {
        Self { title: title.into(), action: Box::new(action) }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }
}

thread_local! {
    /// What the step of this thread prints into, where it does not run alone.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// A run of steps, some after and some beside one another.
///
/// When it is `strict`, a step that was left out counts as failed.
pub(crate) struct Run {
    strict: bool,
    summary: Vec<String>,
    failed: usize,
    left_out: usize,
}

impl Run {
    pub(crate) const fn new(strict: bool) -> Self {
        Self { strict, summary: Vec::new(), failed: 0, left_out: 0 }
    }

    /// Runs each step, also after one has failed, and waits for it.
    pub(crate) fn one_by_one(&mut self, steps: Vec<Step<'_>>) {
        for Step { title, action } in steps {
            println!("\n==> {title}");
            let begun = now();
            let ended = action();
            let line = self.took_note(&title, ended, begun);
            self.summary.push(line);
        }
    }

    /// Runs steps in this order, with a limit on concurrent ones, even after one has failed, and waits for all.
    pub(crate) fn together(&mut self, steps: Vec<Step<'_>>, at_once: usize) {
        let lines: Vec<Mutex<String>> = steps.iter().map(|_| Mutex::default()).collect();
        let waiting = Mutex::new(steps.into_iter().enumerate());
        // The lock is let go before the step begins.
        let next = || locked(&waiting).next();
        let run = Mutex::new(&mut *self);
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    while let Some((index, Step { title, action })) = next() {
                        let begun = now();
                        let (ended, log) = logged(action);
                        // One at a time, so that what belongs together stays together.
                        let mut run = locked(&run);
                        println!("\n==> {title}");
                        show(log);
                        *locked(&lines[index]) = run.took_note(&title, ended, begun);
                    }
                });
            }
        });
        self.summary.extend(lines.iter().map(|line| locked(line).clone()));
    }

    /// Counts the result of a step, and returns its text for the summary.
    fn took_note(&mut self, title: &str, ended: Result<Outcome>, begun: Instant) -> String {
        let seconds = now().duration_since(begun).as_secs();
        match ended {
            Ok(Outcome::Done) => format!("  done      {seconds:>4} s  {title}"),
            Ok(Outcome::LeftOut(why)) if !self.strict => {
                println!("left out: {why}");
                self.left_out += 1;
                format!("  left out  {seconds:>4} s  {title}: {why}")
            }
            Ok(Outcome::LeftOut(why)) => {
                println!("failed: nothing may be left out here, but {why}");
                self.failed += 1;
                format!("  FAILED    {seconds:>4} s  {title}: left out, which is not allowed here: {why}")
            }
            Err(error) => {
                println!("failed: {error:#}");
                self.failed += 1;
                format!("  FAILED    {seconds:>4} s  {title}: {error:#}")
            }
        }
    }

    /// Prints the result of each step; an error if one has failed.
    pub(crate) fn end(self) -> Result<()> {
        let Self { summary, failed, left_out, .. } = self;
        println!("\n==> summary");
        for line in &summary {
            println!("{line}");
        }
        let total = summary.len();
        println!("{total} steps: {} done, {left_out} left out, {failed} not passing", total - failed - left_out);
        if failed > 0 {
            bail!("{failed} of {total} steps did not pass");
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "people want to know which step takes long")]
fn now() -> Instant {
    Instant::now()
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs a step and keeps its output. A step that panics has failed.
fn logged(action: Box<dyn FnOnce() -> Result<Outcome> + Send + '_>) -> (Result<Outcome>, Option<File>) {
    match tempfile::tempfile() {
        Ok(file) => LOG.set(Some(file)),
        Err(error) => return (Err(error).context("what a step prints cannot be kept"), None),
    }
    let action = std::panic::AssertUnwindSafe(action);
    let ended = std::panic::catch_unwind(action).unwrap_or_else(|_| Err(anyhow::anyhow!("the step panicked")));
    (ended, LOG.take())
}

fn show(log: Option<File>) {
    let Some(mut log) = log else { return };
    let mut shown = io::stdout().lock();
    if let Err(error) = log.rewind().and_then(|()| io::copy(&mut log, &mut shown)).and_then(|_| shown.flush()) {
        eprintln!("what the step printed cannot be shown: {error}");
    }
}

/// Prints a line of the step that runs.
pub(crate) fn say(line: &str) {
    let kept = LOG.with_borrow_mut(|log| log.as_mut().is_some_and(|log| writeln!(log, "{line}").is_ok()));
    if !kept {
        println!("{line}");
    }
}

/// Has a program print where the step that runs does.
pub(crate) fn where_the_step_prints(command: &mut Command) -> Result<&mut Command> {
    LOG.with_borrow(|log| {
        if let Some(log) = log {
            command.stdout(log.try_clone()?).stderr(log.try_clone()?);
        }
        Ok(command)
    })
}

/// Runs a command with its output shown; an exit code other than 0 is an error.
pub(crate) fn execute(command: &mut Command) -> Result<Outcome> {
    let shown = display(command);
    say(&format!("    {shown}"));
    let status = where_the_step_prints(command)?.status().with_context(|| format!("`{shown}` could not be started"))?;
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
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn three(second: fn() -> Result<Outcome>, ran: &AtomicU32) -> Vec<Step<'_>> {
        let count = || {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok(Outcome::Done)
        };
        vec![Step::new("first", count), Step::new("second", second), Step::new("third", count)]
    }

    /// The verdict over three steps, one after the other and at once, and how many of the other two ran.
    fn verdicts(second: fn() -> Result<Outcome>, strict: bool) -> Vec<(Result<(), String>, u32)> {
        let runs: [fn(&mut Run, Vec<Step<'_>>); 3] =
            [Run::one_by_one, |run, steps| run.together(steps, 1), |run, steps| run.together(steps, 2)];
        let verdict = |go: fn(&mut Run, Vec<Step<'_>>)| {
            let (ran, mut run) = (AtomicU32::new(0), Run::new(strict));
            go(&mut run, three(second, &ran));
            (run.end().map_err(|error| error.to_string()), ran.into_inner())
        };
        runs.into_iter().map(verdict).collect()
    }

    #[test]
    fn all_done_passes() {
        assert_eq!(verdicts(|| Ok(Outcome::Done), true), [(Ok(()), 2), (Ok(()), 2), (Ok(()), 2)]);
    }

    #[test]
    fn a_failure_fails_the_run_but_not_the_steps_after_it() {
        for verdict in verdicts(|| bail!("broken"), false) {
            assert_eq!(verdict, (Err("1 of 3 steps did not pass".to_owned()), 2));
        }
        for verdict in verdicts(|| execute(&mut Command::new("false")), false) {
            assert_eq!(verdict, (Err("1 of 3 steps did not pass".to_owned()), 2));
        }
    }

    #[test]
    fn an_omitted_value_fails_only_where_one_is_required() {
        let left_out = || Ok(Outcome::LeftOut("no tool".to_owned()));
        assert!(verdicts(left_out, false).iter().all(|(verdict, _)| verdict.is_ok()));
        assert!(verdicts(left_out, true).iter().all(|(verdict, _)| verdict.is_err()));
    }

    #[test]
    fn a_step_that_panics_has_failed() {
        let mut run = Run::new(false);
        run.together(vec![Step::new("it", || unreachable!("on purpose"))], 2);
        assert!(run.end().is_err());
    }

    #[test]
    fn two_steps_at_once_meet() {
        let barrier = Barrier::new(2);
        let meet = || {
            barrier.wait();
            Ok(Outcome::Done)
        };
        let mut run = Run::new(true);
        run.together(vec![Step::new("one", meet), Step::new("other", meet)], 2);
        assert_eq!(run.summary.len(), 2);
        assert!(run.summary[0].ends_with("one") && run.summary[1].ends_with("other"), "{:?}", run.summary);
        assert!(run.end().is_ok());
    }

    #[test]
    fn the_output_of_a_step_is_kept_together() {
        let action = Box::new(|| {
            say("before");
            execute(Command::new("sh").args(["-c", "echo out; echo err >&2"]))
        });
        let (ended, log) = logged(action);
        assert!(ended.is_ok());
        let mut log = log.unwrap();
        log.rewind().unwrap();
        let kept = io::read_to_string(log).unwrap();
        assert_eq!(kept, "before\n    sh -c echo out; echo err >&2\nout\nerr\n");
    }
}
