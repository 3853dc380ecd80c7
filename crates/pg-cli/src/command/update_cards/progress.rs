//! The progress: a bar on a terminal, otherwise a line at intervals.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use pg_hyper::proto::machine::account_update::Progress;

use crate::output;

/// The interval at which an idle terminal is redrawn.
const FRAME: Duration = Duration::from_millis(250);
/// The minimum time between two lines.
const LINE: Duration = Duration::from_secs(10);

/// Shows the progress.
pub(super) struct Shown {
    bar: Option<ProgressBar>,
    total: u64,
    said: Option<Progress>,
}

impl Shown {
    /// Creates a bar if standard error is a terminal.
    pub(super) fn new(total: u64) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
            let template = "{bar:30} {percent:>3} %  {human_pos} of {human_len} cards, {elapsed}  {msg}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        // A terminal that cannot move back within a line gets separate lines.
        let bar = bar.filter(|bar| !bar.is_hidden());
        Self { bar, total, said: None }
    }

    /// Returns how often to call [`beat`](Self::beat).
    pub(super) const fn rhythm(&self) -> Duration {
        if self.bar.is_some() { FRAME } else { LINE }
    }

    /// Reports a change.
    pub(super) fn set(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_length(self.cards(progress));
            bar.set_position(over(progress));
            bar.set_message(beside(progress));
        }
    }

    /// Reports the passing of time.
    pub(super) fn beat(&mut self, progress: &Progress) {
        match &self.bar {
            Some(bar) => bar.tick(),
            None if self.said.as_ref() != Some(progress) => {
                self.said = Some(*progress);
                output::say(&format!(
                    "pg: {} of {}, {}",
                    HumanCount(over(progress)),
                    counted(self.cards(progress), "card", "cards"),
                    beside(progress)
                ));
            }
            None => {}
        }
    }

    /// Returns the number of cards: the keys of the source without the repeats that were found so far.
    const fn cards(&self, progress: &Progress) -> u64 {
        self.total.saturating_sub(progress.duplicates)
    }

    /// Prints a line above the bar.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(text)),
            None => output::say(text),
        }
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the number of finished cards. A repeated key is not a card of its own.
pub(super) fn over(progress: &Progress) -> u64 {
    progress.read.saturating_sub(progress.pending + progress.duplicates)
}

/// Returns a number of batches as text.
pub(super) fn batches(count: usize) -> String {
    counted(count as u64, "batch", "batches")
}

/// Returns a number with its noun.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(count), if count == 1 { one } else { many })
}

fn beside(progress: &Progress) -> String {
    let mut said = format!("{} updated", HumanCount(progress.updated));
    if progress.open_batches > 0 {
        said += &format!(", {} in progress", batches(progress.open_batches));
    }
    for (count, name) in
        [(progress.refused, "refused"), (progress.doubtful, "in doubt"), (progress.failed, "without a result")]
    {
        if count > 0 {
            said += &format!(", {} {name}", HumanCount(count));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line() {
        let mut progress = Progress::default();
        (progress.read, progress.pending, progress.updated, progress.open_batches) = (12_000, 10_000, 1_234, 2);
        assert_eq!(over(&progress), 2_000);
        progress.duplicates = 500;
        assert_eq!((over(&progress), Shown::new(12_345).cards(&progress)), (1_500, 11_845));
        assert_eq!(
            (counted(1, "card", "cards"), counted(1_000, "card", "cards")),
            ("1 card".into(), "1,000 cards".into())
        );
        assert_eq!(beside(&progress), "1,234 updated, 2 batches in progress");
        (progress.open_batches, progress.refused, progress.doubtful) = (0, 5_000, 17);
        assert_eq!(beside(&progress), "1,234 updated, 5,000 refused, 17 in doubt");
    }
}
