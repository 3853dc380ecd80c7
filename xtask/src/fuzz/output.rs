//! The output of libFuzzer, and its summary table.

use std::path::PathBuf;

use crate::grouped::grouped;

/// The result of one run of a target.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) executions: u64,
    pub(super) a_second: u64,
    /// Edges that the corpus of the repository reaches, and that were reached at the end.
    pub(super) before: u64,
    pub(super) after: u64,
    /// Inputs that each reach something of their own, at the end.
    pub(super) inputs: u64,
    pub(super) seconds: u64,
    pub(super) crash: Option<PathBuf>,
}

impl Counted {
    pub(super) fn crashed(&self) -> bool {
        self.crash.is_some()
    }

    /// Adds a later run of the same target.
    pub(super) fn add(&mut self, later: &Self) {
        if self.seconds == 0 {
            self.before = later.before;
        }
        self.executions += later.executions;
        self.seconds += later.seconds;
        self.a_second = self.executions / self.seconds.max(1);
        (self.after, self.inputs) = (later.after, later.inputs);
        self.crash = self.crash.take().or_else(|| later.crash.clone());
    }

    /// What is kept for the next process.
    pub(super) fn kept(&self, target: &str) -> String {
        format!("{target} {} {} {} {} {}\n", self.executions, self.seconds, self.before, self.after, self.inputs)
    }

    /// Reads what was kept of a target; nothing is counted otherwise.
    pub(super) fn of_kept(target: &str, text: &str) -> Self {
        let rest = text.lines().find_map(|line| line.strip_prefix(target)?.strip_prefix(' '));
        let numbers: Vec<u64> = rest.unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
        let [executions, seconds, before, after, inputs] = numbers[..] else { return Self::default() };
        Self { executions, seconds, a_second: executions / seconds.max(1), before, after, inputs, crash: None }
    }

    pub(super) fn line(&self) -> String {
        let new = self.after.saturating_sub(self.before);
        let how = if self.crashed() { "a property is broken" } else { "nothing found" };
        format!(
            "{} executions, {} a second, {} edges, {new} of them new: {how}",
            grouped(self.executions),
            grouped(self.a_second),
            self.after
        )
    }
}

/// Reads a log.
pub(super) fn counted(log: &str) -> Counted {
    let mut counted = Counted::default();
    for line in log.lines() {
        if let Some((number, rest)) = line.strip_prefix('#').and_then(|line| line.split_once(['\t', ' '])) {
            counted.executions = number.parse().unwrap_or(counted.executions);
            let edges = after(rest, "cov: ");
            if rest.trim_start().starts_with("INITED") {
                counted.before = edges.unwrap_or(0);
            }
            counted.after = edges.unwrap_or(counted.after);
            counted.inputs = after(rest, "corp: ").unwrap_or(counted.inputs);
            counted.a_second = after(rest, "exec/s: ").unwrap_or(counted.a_second);
        } else if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
            counted.executions = number.trim().parse().unwrap_or(counted.executions);
        } else if let Some(number) = line.strip_prefix("stat::average_exec_per_sec:") {
            counted.a_second = number.trim().parse().unwrap_or(counted.a_second);
        } else if let Some(rest) = line.strip_prefix("Done ") {
            counted.seconds = after(rest, " in ").unwrap_or(0);
        }
    }
    counted
}

fn after(line: &str, word: &str) -> Option<u64> {
    let rest = line.split(word).nth(1)?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The name of the file that a crash was written to.
pub(super) fn artifact(log: &str) -> Option<String> {
    let path = log.lines().rev().find_map(|line| line.split("Test unit written to ").nth(1))?;
    Some(path.trim().rsplit('/').next()?.to_owned())
}

/// The message of the crash.
pub(super) fn reason(log: &str) -> String {
    let mut lines = log.lines().skip_while(|line| !line.contains("panicked at") && !line.contains("ERROR: libFuzzer"));
    let said: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("stack backtrace")).take(12).collect();
    said.join("\n")
}

/// A table in Markdown.
pub(super) fn table(rows: &[(String, Counted)]) -> String {
    let mut text = String::from(
        "| target | executions | a second | inputs | edges by the corpus | edges at the end | new | found |\n\
         |---|---:|---:|---:|---:|---:|---:|---|\n",
    );
    let mut all = 0;
    for (target, counted) in rows {
        all += counted.executions;
        text += &format!(
            "| {target} | {} | {} | {} | {} | {} | {} | {} |\n",
            grouped(counted.executions),
            grouped(counted.a_second),
            grouped(counted.inputs),
            counted.before,
            counted.after,
            counted.after.saturating_sub(counted.before),
            if counted.crashed() { "a broken property" } else { "nothing" },
        );
    }
    text + &format!("| all | {} | | | | | | |\n", grouped(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO: Running with entropic power schedule (0xFF, 100).\n\
        #2\tINITED cov: 120 ft: 300 corp: 4/2Kb exec/s: 0 rss: 40Mb\n\
        #3\tNEW    cov: 124 ft: 310 corp: 5/2Kb lim: 4 exec/s: 0 rss: 41Mb L: 3/9 MS: 1 ChangeBit-\n\
        #1048576\tDONE   cov: 131 ft: 340 corp: 9/3Kb lim: 99 exec/s: 17189 rss: 52Mb\n\
        Done 1048576 runs in 61 second(s)\n\
        stat::number_of_executed_units: 1048576\n\
        stat::average_exec_per_sec:     17189\n";

    #[test]
    fn a_log_is_counted() {
        let counted = counted(LOG);
        assert_eq!((counted.executions, counted.a_second, counted.seconds), (1_048_576, 17_189, 61));
        assert_eq!((counted.before, counted.after), (120, 131));
        let table = table(&[("xml".to_owned(), counted)]);
        assert!(table.contains("| xml | 1,048,576 | 17,189 | 9 | 120 | 131 | 11 | nothing |"), "{table}");
        assert!(table.ends_with("| all | 1,048,576 | | | | | | |\n"), "{table}");
    }

    #[test]
    fn a_crash_is_reported_with_its_file() {
        let log = format!(
            "{LOG}thread '<unnamed>' panicked at tests/fuzz/src/forms.rs:30:9:\nleft is not right\nstack backtrace:\n  0: a\n\
             artifact_prefix='x/'; Test unit written to x/crash-0123\n"
        );
        assert_eq!(artifact(&log).as_deref(), Some("crash-0123"));
        assert_eq!(reason(&log).lines().count(), 2);
        assert!(artifact(LOG).is_none());
    }

    #[test]
    fn runs_add_up_also_over_processes() {
        let mut sum = Counted::of_kept("form", "");
        sum.add(&counted(LOG));
        let kept = format!("{}{}", Counted::default().kept("formal"), sum.kept("form"));
        let mut again = Counted::of_kept("form", &kept);
        again.add(&counted(LOG));
        assert_eq!((again.executions, again.seconds, again.a_second), (2_097_152, 122, 17_189));
        assert_eq!((again.before, again.after, again.inputs), (120, 131, 9));
    }
}
