//! A process that does not outlive this one: neither an error while its output is read, nor Ctrl-C, nor `kill -9`.

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

/// A running process in the process group of its guard. If it is dropped before it was waited for, or this process ends in any way, the
/// whole group is killed. It has no standard input. Only on Unix; elsewhere the process alone is killed, when it is dropped.
pub(crate) struct Held {
    child: Child,
    guard: Option<Guard>,
}

impl Held {
    /// Starts a guard, and then the command, so that the process is never without one.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let guard = Guard::start()?;
        #[cfg(unix)]
        if let Some(guard) = &guard {
            let group = i32::try_from(guard.process.id()).map_err(io::Error::other)?;
            std::os::unix::process::CommandExt::process_group(command, group);
        }
        Ok(Self { child: command.stdin(Stdio::null()).spawn()?, guard })
    }

    /// Its standard output, if that is a pipe and was not taken before.
    pub(crate) const fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        if let Some(guard) = self.guard.take() {
            guard.let_go()?;
        }
        Ok(status)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.guard.take());
        // Both fail if it has been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that kills its group, and so itself, when its input ends before a line of it.
struct Guard {
    process: Child,
    input: Option<ChildStdin>,
}

impl Guard {
    /// In a group of its own, so that Ctrl-C at a terminal does not reach it.
    #[cfg(unix)]
    fn start() -> io::Result<Option<Self>> {
        let mut command = Command::new("/bin/sh");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(["-c", "read -r ended || kill -KILL 0"]).current_dir("/");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let input = process.stdin.take();
        Ok(Some(Self { process, input }))
    }

    #[cfg(not(unix))]
    fn start() -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Tells it that the process has ended.
    fn let_go(mut self) -> io::Result<()> {
        if let Some(mut input) = self.input.take() {
            writeln!(input, "ended")?;
        }
        self.process.wait().map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.input.take());
        // It has ended itself with its group.
        let _ = self.process.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};

    use super::*;

    /// A process with a child, which both hold standard output and say so.
    fn two() -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'echo started; exec sleep 600' & wait"]);
        command
    }

    /// Waits until a process says that it has started.
    fn started(output: ChildStdout) -> BufReader<ChildStdout> {
        let mut lines = BufReader::new(output);
        let mut line = String::new();
        while line.trim() != "started" {
            line.clear();
            assert!(lines.read_line(&mut line).expect("readable") > 0, "it ended before it started");
        }
        lines
    }

    /// Waits until every process that held the output has ended.
    fn all_have_ended(mut output: BufReader<ChildStdout>) {
        output.read_to_end(&mut Vec::new()).expect("readable");
    }

    #[test]
    fn a_process_that_is_dropped_ends_with_its_children() {
        let mut held = Held::spawn(two().stdout(Stdio::piped())).unwrap();
        let output = started(held.stdout().unwrap());
        drop(held);
        all_have_ended(output);
    }

    #[test]
    fn a_process_that_is_waited_for_ends_by_itself() {
        let held = Held::spawn(Command::new("sh").args(["-c", "exit 7"])).unwrap();
        assert_eq!(held.wait().unwrap().code(), Some(7));
    }

    #[test]
    fn a_process_ends_with_the_one_that_holds_it() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["held::tests::holds_two_processes", "--exact", "--ignored", "--nocapture"]);
        let mut holder = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = started(holder.stdout.take().unwrap());
        holder.kill().unwrap();
        holder.wait().unwrap();
        all_have_ended(output);
    }

    #[test]
    #[ignore = "a process that a test above starts"]
    fn holds_two_processes() {
        Held::spawn(&mut two()).unwrap().wait().unwrap();
    }
}
