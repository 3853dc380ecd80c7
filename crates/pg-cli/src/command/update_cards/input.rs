//! The file of card keys: read once to validate it, then again by the machine.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use pg_hyper::KeySource;
use pg_model::{CardKey, mask};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha512};

use super::line::{Layout, says_nothing, unusual};
use crate::{argument, failure::Failure, output};

/// The maximum length of a line.
const LONGEST_LINE: u64 = 64 << 10;
/// The maximum length of standard input, in bytes: about 25 million card keys.
const LONGEST_INPUT: u64 = 1 << 30;
/// The maximum number of reported bad lines.
const TOLD: u64 = 10;

/// A file with a card key on each line.
pub(super) struct Input {
    /// Its path; `None` for standard input.
    path: Option<PathBuf>,
    /// Held open and locked, so that no other process works on the same file.
    file: File,
    version: Version,
    pub(super) print: Print,
    refusal: Option<Refusal>,
}

/// The version of a file: its length, and when it was changed. A program that ignores the lock may change it while the run reads it.
type Version = (u64, Option<SystemTime>);

fn version(file: &File) -> io::Result<Version> {
    file.metadata().map(|now| (now.len(), now.modified().ok()))
}

/// Why a new run refuses a file that earlier versions accepted.
#[derive(Debug)]
struct Refusal {
    /// The first bad lines.
    lines: Vec<String>,
    problem: String,
}

impl Refusal {
    fn fail(&self) -> Failure {
        self.lines.iter().for_each(|line| output::say(line));
        Failure::misuse(format!("{}; nothing was sent", self.problem))
    }
}

/// The fingerprint of a file of card keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    pub(super) bytes: u64,
    /// The number of card keys, including repeats.
    pub(super) keys: u64,
    /// SHA-512, in hexadecimal digits.
    sha512: String,
}

/// The card keys of an [`Input`], from its beginning.
pub(super) struct Keys {
    lines: Lines,
    version: Version,
    print: Print,
    read: u64,
}

/// The position of a range of card keys. Its default is an unknown position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) first_line: u64,
    pub(super) last_line: u64,
    pub(super) first_key: String,
    pub(super) last_key: String,
}

impl Input {
    /// Opens a file and reads it once. `-` is standard input, which is copied to an unnamed file first.
    ///
    /// # Errors
    /// If it cannot be read, another process works on it, or lines have no card key; the message lists the first ten of
    /// these.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let shown =
            if path.as_os_str() == "-" { "standard input".to_owned() } else { mask::text(&path.display().to_string()) };
        let unreadable = |error: io::Error| Failure::misuse(format!("cannot read {shown}: {error}"));
        let (path, file) = if path.as_os_str() == "-" {
            (None, standard_input()?)
        } else {
            // Opening a named pipe would wait for its other end.
            let kind = path.metadata().map_err(unreadable)?.file_type();
            if kind.is_dir() {
                return Err(Failure::misuse(format!("{shown} is a folder; name a file of card keys")));
            }
            if !kind.is_file() {
                return Err(Failure::misuse(format!("{shown} cannot be read twice; pass - and pipe it in")));
            }
            let file = File::open(path).map_err(unreadable)?;
            file.try_lock().map_err(|error| match error {
                std::fs::TryLockError::WouldBlock => Failure::misuse(format!(
                    "another pg update-cards is running on {shown}; wait for it, or stop it \
                    first"
                )),
                std::fs::TryLockError::Error(error) => unreadable(error),
            })?;
            (Some(path.to_owned()), file)
        };
        let version = version(&file).map_err(unreadable)?;
        let (print, refusal) = scan(&file, &shown).map_err(unreadable)??;
        Ok(Self { path, file, version, print, refusal })
    }

    /// Checks what only earlier versions accepted. A run that has begun goes on, since its batches cannot be found in any other way.
    ///
    /// # Errors
    /// If there are two columns of card keys, or keys that are probably something else; the message lists the first ten of these.
    pub(super) fn check_new(&self) -> Result<(), Failure> {
        self.refusal.as_ref().map_or(Ok(()), |refusal| Err(refusal.fail()))
    }

    /// Its path, unless it is standard input.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its card keys from the beginning.
    ///
    /// # Errors
    /// If it cannot be read again.
    pub(super) fn keys(&self) -> io::Result<Keys> {
        Ok(Keys { lines: Lines::of(&self.file)?, version: self.version, print: self.print.clone(), read: 0 })
    }

    /// The positions of these ranges of card keys; `None` if the file has changed since. The ranges are half-open, ordered and
    /// disjoint.
    ///
    /// # Errors
    /// If it cannot be read again.
    pub(super) fn stretches(&self, places: &[(u64, u64)]) -> io::Result<Option<Vec<Stretch>>> {
        let mut lines = Lines::of(&self.file)?;
        let mut found = Vec::new();
        let mut place = 0;
        for &(from, end) in places {
            let mut stretch: Option<Stretch> = None;
            while place < end {
                let Some((number, text)) = lines.next_key()? else { break };
                let key = || text.unwrap_or_default().to_owned();
                if place >= from {
                    match &mut stretch {
                        Some(stretch) => (stretch.last_line, stretch.last_key) = (number, key()),
                        None => {
                            let (first_key, last_key) = (key(), key());
                            stretch = Some(Stretch { first_line: number, last_line: number, first_key, last_key });
                        }
                    }
                }
                place += 1;
            }
            found.extend(stretch);
        }
        Ok((version(&self.file)? == self.version).then_some(found))
    }
}

impl KeySource for Keys {
    type Error = io::Error;

    fn keys(&mut self, at_most: usize) -> impl Future<Output = io::Result<Vec<CardKey>>> + Send {
        std::future::ready(self.take(at_most))
    }
}

impl Keys {
    fn take(&mut self, at_most: usize) -> io::Result<Vec<CardKey>> {
        let mut keys = Vec::with_capacity(at_most.min(5_000));
        let changed = || io::Error::other("the file changed while it was read");
        while keys.len() < at_most {
            let Some((_, key)) = self.lines.next_key()? else {
                if self.lines.print(self.read + keys.len() as u64) == self.print {
                    break;
                }
                return Err(changed());
            };
            keys.push(CardKey::from(key.map_err(|_| changed())?));
        }
        // Before a key of another list is sent: the run could not be resumed with either list.
        if version(self.lines.reader.get_ref())? != self.version {
            return Err(changed());
        }
        self.read += keys.len() as u64;
        Ok(keys)
    }
}

/// Reads everything, reports lines without a card key, and returns the file's fingerprint, and why a new run refuses the file.
fn scan(file: &File, shown: &str) -> io::Result<Result<(Print, Option<Refusal>), Failure>> {
    let mut lines = Lines::of(file)?;
    let (mut keys, mut bad, mut is_accepted, mut told) = (0, 0, true, Vec::new());
    while let Some((number, key)) = lines.next_key()? {
        is_accepted &= key.is_ok();
        keys += u64::from(key.is_ok());
        if let Some(why) = key.map_or_else(Some, unusual) {
            bad += 1;
            if bad <= TOLD {
                told.push(format!("pg: {shown}, line {number}: {why}"));
            }
        }
    }
    let refusal = if bad > 0 {
        let lines = if bad == 1 { "a line without a card key" } else { &format!("{bad} lines without a card key") };
        let more = if bad > TOLD { format!(", the first {TOLD} of them above") } else { String::new() };
        Some(Refusal { lines: told, problem: format!("{shown} has {lines}{more}") })
    } else if matches!(lines.layout, Some(Layout::Column { is_only: false, .. })) {
        let problem = "two columns of the table have the name of the card keys; leave one of them".to_owned();
        Some(Refusal { lines: told, problem })
    } else {
        None
    };
    Ok(match refusal {
        Some(refusal) if !is_accepted => Err(refusal.fail()),
        _ if keys == 0 => Err(Failure::misuse(format!("{shown} has no card keys; nothing was sent"))),
        refusal => Ok((lines.print(keys), refusal)),
    })
}

/// Standard input as a file that is deleted when it is closed.
fn standard_input() -> Result<File, Failure> {
    let folder = std::env::temp_dir();
    let no_copy = |error: io::Error| {
        Failure::misuse(format!(
            "cannot copy standard input to a temporary file in {}: {error}; free disk space, set TMPDIR to another folder, \
             or name a file of card keys",
            folder.display()
        ))
    };
    let mut file = tempfile::tempfile().map_err(no_copy)?;
    let input =
        argument::standard_input().map_err(|error| Failure::misuse(format!("cannot read standard input: {error}")))?;
    copy(&mut BufReader::new(input), &mut file, LONGEST_INPUT, no_copy)?;
    Ok(file)
}

/// Copies lines. `no_copy` explains why the copy cannot be written.
///
/// # Errors
/// If a line or the whole input is too long, or cannot be read or written.
fn copy(
    from: &mut dyn BufRead,
    to: &mut dyn Write,
    most: u64,
    no_copy: impl Fn(io::Error) -> Failure,
) -> Result<(), Failure> {
    let (mut line, mut length, mut copied) = (1u64, 0, 0);
    loop {
        let part = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part.map_err(|error| Failure::misuse(format!("cannot read standard input: {error}")))?,
        };
        if part.is_empty() {
            return to.flush().map_err(no_copy);
        }
        let end = part.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let count = end.unwrap_or(part.len());
        length += count as u64;
        copied += count as u64;
        if length > LONGEST_LINE {
            let longest = LONGEST_LINE >> 10;
            return Err(Failure::misuse(format!(
                "standard input, line {line}: longer than {longest} KiB, which cannot be a card key; nothing was sent"
            )));
        }
        if copied > most {
            return Err(Failure::misuse(format!(
                "standard input is longer than {} MiB; name a file of card keys, which may have any length; nothing was sent",
                most >> 20
            )));
        }
        to.write_all(&part[..count]).map_err(&no_copy)?;
        from.consume(count);
        if end.is_some() {
            (line, length) = (line + 1, 0);
        }
    }
}

/// The lines of a file, with their numbers from 1, and what was read so far.
struct Lines {
    reader: BufReader<File>,
    layout: Option<Layout>,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
    hash: Sha512,
}

impl Lines {
    fn of(file: &File) -> io::Result<Self> {
        // Both handles share the position in the file, so only one of them may be read at a time.
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let reader = BufReader::with_capacity(64 << 10, file);
        Ok(Self { reader, layout: None, buffer: Vec::new(), number: 0, bytes: 0, hash: Sha512::new() })
    }

    /// Returns the next line that should contain a card key, and the key, or why the line has no key.
    fn next_key(&mut self) -> io::Result<Option<(u64, Result<&str, &'static str>)>> {
        loop {
            if !self.read_line()? {
                return Ok(None);
            }
            match std::str::from_utf8(&self.buffer) {
                Ok(line) if says_nothing(line) => continue,
                Ok(line) if self.layout.is_none() => {
                    let (layout, is_header) = Layout::of(line.trim_end());
                    self.layout = Some(layout);
                    if !is_header {
                        break;
                    }
                }
                _ => break,
            }
        }
        let line = std::str::from_utf8(&self.buffer).map_err(|_| "not valid UTF-8");
        let key = line.and_then(|line| self.layout.unwrap_or(Layout::Keys).read(line));
        Ok(Some((self.number, key)))
    }

    /// Reads a line without its line break and without a byte order mark; `false` at the end.
    fn read_line(&mut self) -> io::Result<bool> {
        self.buffer.clear();
        let length = self.reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.buffer)?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        if length as u64 == LONGEST_LINE && !self.buffer.ends_with(b"\n") && !self.reader.fill_buf()?.is_empty() {
            let (line, longest) = (self.number, LONGEST_LINE >> 10);
            return Err(io::Error::other(format!(
                "line {line}: longer than {longest} KiB, which cannot be a card key"
            )));
        }
        self.bytes += length as u64;
        self.hash.update(&self.buffer);
        while self.buffer.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.buffer.pop();
        }
        if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(true)
    }

    /// Returns the file's fingerprint, once all of it was read.
    fn print(&self, keys: u64) -> Print {
        let hash = self.hash.clone().finalize();
        let sha512 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Print { bytes: self.bytes, keys, sha512 }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn input(text: &[u8]) -> Input {
        let file = file(text);
        let (print, refusal) = scan(&file, "it").unwrap().unwrap();
        Input { path: None, version: version(&file).unwrap(), file, print, refusal }
    }

    fn all(keys: &mut Keys, at_most: usize) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let some = keys.take(at_most).unwrap();
            if some.is_empty() {
                return all;
            }
            assert!(some.len() <= at_most);
            all.extend(some.iter().map(|key| key.as_str().to_owned()));
        }
    }

    #[test]
    fn keys_are_read_again_from_the_beginning() {
        let input = input(b"\xef\xbb\xbf# keys\r\n\r\na-1\r\n  b-2\n\n#x\nb-2\nc-3");
        assert_eq!((input.print.keys, input.print.bytes), (4, 35));
        for at_most in [1, 2, 3, 100] {
            assert_eq!(all(&mut input.keys().unwrap(), at_most), ["a-1", "b-2", "b-2", "c-3"]);
        }
        let stretches = input.stretches(&[(0, 1), (2, 4)]).unwrap().unwrap();
        let told: Vec<_> = stretches.iter().map(|s| (s.first_line, s.last_line, &*s.first_key, &*s.last_key)).collect();
        assert_eq!(told, [(3, 3, "a-1", "a-1"), (7, 8, "b-2", "c-3")]);
    }

    #[test]
    fn a_column_of_a_table_is_read() {
        let input = input(b"# export\ncustomer,cardKey\nAnn,a-1\n\"Bo, jr\",\"b-2\"\n");
        assert_eq!(all(&mut input.keys().unwrap(), 10), ["a-1", "b-2"]);
        assert_eq!(input.print.keys, 2);
    }

    #[test]
    fn bad_files_are_refused_before_anything_is_sent() {
        for text in [&b""[..], b"# nothing\n", b"a-1\na,b\n", b"a-1\n\xff\xfe\n"] {
            assert!(scan(&file(text), "it").unwrap().is_err());
        }
    }

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_no_key() {
        let comment = [b"#", &[b'x'; (64 << 10) - 1][..]].concat();
        let error = scan(&file(&[b"a-1\n", &comment[..], b"bogus-key\n"].concat()), "it").unwrap_err();
        assert_eq!(error.to_string(), "line 2: longer than 64 KiB, which cannot be a card key");
        for end in [&b""[..], b"\nb-2"] {
            let longest = [b"a-1\n", &comment[..comment.len() - usize::from(!end.is_empty())], end].concat();
            assert_eq!(scan(&file(&longest), "it").unwrap().unwrap().0.keys, 1 + u64::from(!end.is_empty()));
        }
    }

    fn copied(from: impl Read, most: u64) -> Result<Vec<u8>, String> {
        let mut to = Vec::new();
        let no_copy = |error: io::Error| Failure::misuse(format!("the copy: {error}"));
        let copied = copy(&mut BufReader::new(from), &mut to, most, no_copy);
        copied.map(|()| to).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn standard_input_is_copied_up_to_a_limit() {
        assert_eq!(copied(&b"a-1\nb-2"[..], 7).unwrap(), b"a-1\nb-2");
        let said = copied(&b"a-1\nb-2\n"[..], 7).unwrap_err();
        assert!(said.contains("longer than 0 MiB"), "{said}");
        let said = copied(b"a-1\n".chain(io::repeat(b'k')), LONGEST_INPUT).unwrap_err();
        assert!(said.contains("standard input, line 2: longer than 64 KiB"), "{said}");
        let longest = [&[b'k'; 64 << 10][..], b"\n"].concat();
        assert!(copied(&longest[1..], LONGEST_INPUT).is_ok() && copied(&longest[..], LONGEST_INPUT).is_err());
    }

    #[test]
    fn a_copy_that_cannot_be_written_is_not_blamed_on_the_input() {
        let no_copy = |error: io::Error| Failure::misuse(format!("the copy: {error}"));
        let mut full = &mut [0; 4][..];
        let failure = copy(&mut &b"a-1\nb-2\n"[..], &mut full, 100, no_copy).unwrap_err();
        assert!(failure.message().starts_with("the copy: "), "{}", failure.message());
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_noticed() {
        for written in ["a-1\nb-2\nc-3\n", "a-1\nb-3\n", "c-1\nb-2\n", "a-1\n"] {
            let named = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(named.path(), "a-1\nb-2\n").unwrap();
            named.as_file().set_modified(SystemTime::UNIX_EPOCH).unwrap();
            let input = Input::open(named.path()).unwrap();
            assert_eq!(input.stretches(&[(0, 1)]).unwrap().unwrap().len(), 1);
            let mut keys = input.keys().unwrap();
            assert_eq!(keys.take(1).unwrap().len(), 1);
            std::fs::write(named.path(), written).unwrap();
            for mut keys in [keys, input.keys().unwrap()] {
                assert!(keys.take(1).is_err() && keys.take(1).is_err(), "{written}");
            }
            assert_eq!(input.stretches(&[(0, 1)]).unwrap(), None, "{written}");
        }
    }

    #[test]
    fn a_file_is_for_one_process() {
        let named = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(named.path(), "a-1\n").unwrap();
        let held = Input::open(named.path()).unwrap();
        assert!(Input::open(named.path()).is_err());
        drop(held);
        Input::open(named.path()).unwrap();
    }
}
