//! Writes each result exactly once, whatever happens.

use std::{
    fs::{File, TryLockError},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use pg_hyper::proto::machine::account_update::BatchResult;

use super::{
    super::result_file,
    durable,
    row::Format,
    state::{BEGIN_AGAIN, Written},
};
use crate::{failure::Failure, output};

/// The output and the length written so far.
pub(super) struct Results {
    target: Target,
    format: Format,
    written: Written,
    is_finished: bool,
}

/// The output before it is changed.
pub(super) enum Target {
    /// Locked against other processes.
    File(File, PathBuf),
    StandardOutput,
    /// That of a finished run. It may have been changed or moved since.
    Finished(PathBuf),
}

impl Target {
    /// Opens the output without changing it; creates it if it is missing. `-` is standard output.
    ///
    /// # Errors
    /// If it cannot be written, or is not the file with the written results.
    pub(super) fn open(path: &Path, format: Format, written: Written) -> Result<Self, Failure> {
        if is_standard_output(path) {
            return Ok(Self::StandardOutput);
        }
        open_file(path, format, written).map(|file| Self::File(file, path.to_owned()))
    }

    /// Truncates the output to the durable results.
    fn cut(&mut self, written: Written) -> io::Result<()> {
        match self {
            // A pipe or a device cannot be truncated.
            Self::File(file, _) if file.metadata()?.is_file() => {
                file.set_len(written.bytes).and_then(|()| file.seek(SeekFrom::End(0))).map(|_| ())
            }
            _ => Ok(()),
        }
    }
}

impl Results {
    /// Begins the output, or continues after the durable results.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn begin(target: Target, format: Format, written: Written) -> Result<Self, Failure> {
        let mut results = Self { target, format, written, is_finished: false };
        results.target.cut(written).map_err(|error| results.failure(&error))?;
        if results.written.bytes == 0 {
            results.written.bytes = results.head().map_err(|error| {
                // The next run begins in an empty file. If it is not emptied, it says that it exists already.
                drop(results.forget());
                results.failure(&error)
            })?;
        }
        Ok(results)
    }

    fn head(&mut self) -> io::Result<u64> {
        let length = self.append(self.format.head())?;
        if let Target::File(_, path) = &self.target {
            durable::sync_folder(path)?;
        }
        Ok(length)
    }

    /// Writes the result of a batch durably, unless it was the last one written. Returns what is written now.
    ///
    /// # Errors
    /// If it cannot be written. The next run truncates the partial result.
    pub(super) fn take(&mut self, batch: &BatchResult) -> io::Result<Written> {
        if self.written.last_batch != Some(batch.number) {
            let (text, rows) = self.format.rows(batch, self.written.rows);
            let length = self.append(&text)?;
            self.written.bytes += length;
            self.written.rows += rows;
            self.written.last_batch = Some(batch.number);
        }
        Ok(self.written)
    }

    /// Writes the end of the output after the last row. The end does not count as written: a resumed run writes it
    /// again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.is_finished = true;
        self.append(self.format.foot()).map(|_| ())
    }

    /// Ends rows on standard output after a failure, which is their last element if they are JSON for a program. Those of a run
    /// that `can_go_on` are continued by another run.
    pub(super) fn failed(&mut self, failure: Failure, json: bool, can_go_on: bool) -> Failure {
        if !matches!(self.target, Target::StandardOutput) {
            return failure;
        }
        if json && !can_go_on && !self.is_finished && self.format == Format::Json {
            let separator = if self.written.rows == 0 { "" } else { "," };
            let element = output::to_json(&failure).unwrap_or_default();
            // Standard error has the failure; a second failure would only hide it.
            drop(self.append(&format!("{separator}\n{element}{}", self.format.foot())));
        }
        failure.after_document()
    }

    /// Empties a file that contains only the header.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.written = Written::default();
        self.target.cut(self.written)
    }

    /// Returns the results written so far.
    pub(super) const fn written(&self) -> Written {
        self.written
    }

    /// Its name.
    pub(super) fn name(&self) -> String {
        match &self.target {
            Target::File(_, path) | Target::Finished(path) if !is_standard_output(path) => path.display().to_string(),
            _ => "standard output".to_owned(),
        }
    }

    /// Returns where they are, for a sentence.
    pub(super) fn place(&self) -> String {
        let name = self.name();
        match &self.target {
            Target::Finished(path) if is_standard_output(path) => "its results went to standard output".to_owned(),
            Target::Finished(path) if !path.exists() => {
                format!("its results were in {name}, which does not exist any more")
            }
            Target::Finished(_) => format!("results in {name}, which is not changed"),
            _ => format!("results in {name}"),
        }
    }

    pub(super) fn on_standard_output(&self) -> bool {
        match &self.target {
            Target::StandardOutput => true,
            Target::File(..) => false,
            Target::Finished(path) => is_standard_output(path),
        }
    }

    /// Returns why the output cannot be written.
    pub(super) fn failure(&self, error: &io::Error) -> Failure {
        Failure::misuse(format!("cannot write {}: {error}", self.name()))
    }

    fn append(&mut self, text: &str) -> io::Result<u64> {
        match &mut self.target {
            Target::File(file, _) => {
                file.write_all(text.as_bytes())?;
                if file.metadata()?.is_file() {
                    file.sync_data()?;
                }
            }
            Target::StandardOutput => {
                let mut out = io::stdout().lock();
                out.write_all(output::for_stdout(text).as_bytes())?;
                out.flush()?;
            }
            Target::Finished(_) => {}
        }
        Ok(text.len() as u64)
    }
}

pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the absolute path of the output, which a resumed run finds from any folder.
pub(super) fn absolute(path: PathBuf) -> PathBuf {
    if is_standard_output(&path) { path } else { std::path::absolute(&path).unwrap_or(path) }
}

/// Checks that a new run overwrites nothing.
///
/// # Errors
/// If the output already has content.
pub(super) fn check_unused(path: &Path) -> Result<(), Failure> {
    let is_used = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    if is_used && !is_standard_output(path) {
        return Err(Failure::misuse(format!(
            "{} already exists; choose another with --output, or overwrite it with --restart",
            path.display()
        )));
    }
    Ok(())
}

/// Checks that the output is not another file of the run.
///
/// # Errors
/// If both paths lead to the same file.
pub(super) fn check_apart(output: &Path, other: &Path, what: &str) -> Result<(), Failure> {
    if is_standard_output(output) || result_file::located(output) != result_file::located(other) {
        return Ok(());
    }
    Err(Failure::misuse(format!("--output {} is {what}; choose another file", output.display())))
}

fn open_file(path: &Path, format: Format, written: Written) -> Result<File, Failure> {
    let shown = path.display();
    let unusable =
        |error: io::Error| Failure::misuse(format!("cannot write {shown}: {error}; choose another with --output"));
    if result_file::is_named_pipe(path) {
        return Err(unusable(io::Error::other(result_file::NAMED_PIPE)));
    }
    // The file contains names of cardholders. A run that has written something continues that file and creates no new
    // one.
    let file = durable::private().create(written.bytes == 0).truncate(false).open(path).map_err(|error| match error
        .kind()
    {
        ErrorKind::NotFound if written.bytes > 0 => unlike(path, LACKS),
        _ => unusable(error),
    })?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Failure::misuse(format!("another pg update-cards is writing to {shown}")),
        TryLockError::Error(error) => unusable(error),
    })?;
    let found = file.metadata().map_err(unusable)?;
    if found.is_file() && found.len() < written.bytes {
        return Err(unlike(path, LACKS));
    }
    // What is behind the written results is cut off, so the file has to be the one that they were written to.
    if found.is_file() && written.bytes > 0 && !begins_with(path, format.head()).map_err(unusable)? {
        return Err(unlike(path, "does not begin like the results of the earlier run"));
    }
    Ok(file)
}

fn begins_with(path: &Path, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    File::open(path)?.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

const LACKS: &str = "lacks results that were written to it";

/// Returns the failure of a file that is not as the run left it.
fn unlike(path: &Path, problem: &str) -> Failure {
    let advice = if path.is_absolute() {
        format!("restore it; {BEGIN_AGAIN}")
    } else {
        // An earlier version stored the path as it was given.
        "run the command in the folder in which the earlier run was started".to_owned()
    };
    Failure::misuse(format!("{} {problem}; {advice}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pg_hyper::proto::machine::account_update::BatchEnd;

    use super::*;

    fn batch(number: u64) -> BatchResult {
        let mut batch = BatchResult::new(number, BatchEnd::Doubtful);
        (batch.first, batch.end) = (number, number + 1);
        batch.unanswered = vec![format!("key-{number}").as_str().into()];
        batch
    }

    fn open(path: &Path, written: Written) -> Results {
        Results::begin(Target::open(path, Format::Json, written).unwrap(), Format::Json, written).unwrap()
    }

    #[test]
    fn results_of_unknown_state_are_rewritten_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let mut results = open(&path, Written::default());
        let known = results.take(&batch(0)).unwrap();
        let later = results.take(&batch(1)).unwrap();
        assert_eq!((known.rows, later.rows, later.last_batch), (1, 2, Some(1)));
        drop(results);
        // The run resumed from the state between the two results.
        let mut results = open(&path, known);
        assert_eq!(results.take(&batch(1)).unwrap(), later);
        // The same result again, as after a crash before the machine was notified.
        drop(results);
        let mut results = open(&path, later);
        assert_eq!(results.take(&batch(1)).unwrap(), later);
        for _ in 0..2 {
            results.finish().unwrap();
            drop(results);
            results = open(&path, later);
        }
        results.finish().unwrap();
        let rows: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let keys: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["oldCardKey"]).collect();
        assert_eq!(keys, ["key-0", "key-1"]);
    }

    #[test]
    fn foreign_files_and_missing_results_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        let open = |written| {
            Target::open(&path, Format::Json, written).and_then(|target| Results::begin(target, Format::Csv, written))
        };
        let written = Written { bytes: 10, ..Written::default() };
        assert!(open(written).is_err() && check_unused(&path).is_ok());
        fs::write(&path, "short").unwrap();
        assert!(open(written).is_err() && check_unused(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
        let held = open(Written::default()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), Format::Csv.head());
        assert!(open(held.written()).is_err());
    }
}
