//! Searches for card numbers and credentials in wrong places.

use std::{
    cmp::Reverse,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    adapter, cv2,
    disguise::{has_number, has_secret},
    finding::Finding,
    house::Card,
    judge::{doubt, fault},
    marks::{MOST, Marks, PIECE},
    plan::{Job, Plan},
    stage::{Stage, Troupe},
    wire::Exchange,
};

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard output and standard error, for cards.
    OutputCards,
    /// The same, for credentials.
    OutputCredentials,
    /// The plan's log files and dump, for cards.
    LogsCards,
    /// The same, for credentials.
    LogsCredentials,
    /// The folder with an order's state.
    Folder,
    /// Parameters that are meant for other values.
    Fields,
    /// URLs of requests.
    Addresses,
}

impl Place {
    const fn is_output(self) -> bool {
        matches!(self, Self::OutputCards | Self::OutputCredentials)
    }

    const fn is_log(self) -> bool {
        matches!(self, Self::LogsCards | Self::LogsCredentials)
    }
}

/// The bytes at the end of a piece that are searched again with the next one: a secret may lie in both.
const OVERLAP: usize = 4 << 10;
/// The maximum number of files listed of a folder.
const FILES: usize = 10_000;

/// Returns why these places cannot be searched.
pub(crate) fn impossible(troupe: &Troupe, places: &[Place]) -> Option<&'static str> {
    let plan = &troupe.plan;
    let has_logs = !plan.logs.is_empty() || plan.dump.is_some();
    if places.iter().all(|place| place.is_log()) && !has_logs {
        return Some("the plan names no logs and no dump under [hygiene]");
    }
    let is_unseen = plan.calls_shop(Job::Charge) && troupe.output.is_none();
    let is_left = |place: &Place| !place.is_output() && (has_logs || !place.is_log());
    (is_unseen && !places.iter().any(is_left))
        .then_some("the output of a shop is searched only if [shop] command starts it: name its logs under [hygiene]")
}

/// Returns why a search has proved nothing.
pub(crate) fn unsearched(stage: &Stage, places: &[Place]) -> Option<&'static str> {
    let is_elsewhere = stage.troupe.plan.calls_shop(Job::Charge) && files(stage.directory()).is_empty();
    (is_elsewhere && places.contains(&Place::Folder)).then_some(
        "the shop keeps nothing in PG_REHEARSE_DIR: name its logs and a dump of its database under [hygiene], for H03",
    )
}

/// Whether the logs of the whole rehearsal are searched, and not only those of one drill.
pub(crate) fn is_of_all_logs(places: &[Place]) -> bool {
    places.iter().all(|place| place.is_log())
}

/// The secrets to search for.
pub(crate) struct Watch {
    card: Card,
    /// The length of the shop's output before.
    before: u64,
    /// The logs before.
    logs: Marks,
}

/// When something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Before this rehearsal.
    Old,
    /// Before this rehearsal or during it: the same seed gives the same secrets, and a log that begins as before may have been begun
    /// anew.
    Unknown,
    /// During this rehearsal, before this drill.
    Earlier,
    /// During this drill.
    New,
}

impl Age {
    /// Returns a finding with its time. `is_of_all` says whether the drill is about the whole rehearsal.
    fn of(self, finding: Finding, is_of_all: bool) -> Finding {
        let Finding { kind, text, .. } = finding;
        match self {
            Self::New => fault(kind, text),
            Self::Unknown => fault(
                kind,
                format!(
                    "{text}, which has lines of before this rehearsal: delete the log to see only what is written now"
                ),
            ),
            Self::Earlier if is_of_all => fault(kind, format!("{text}, written before this drill by another one")),
            Self::Earlier => doubt(kind, format!("{text}, but it was there before this drill")),
            Self::Old => doubt(
                kind,
                format!(
                    "{text}, but it was there before this rehearsal: delete the log to see only what is written now"
                ),
            ),
        }
    }
}

/// Returns the log files of a plan.
pub(crate) fn logs(plan: &Plan) -> Vec<PathBuf> {
    plan.logs.iter().flat_map(|pattern| matching(&plan.folder, pattern)).collect()
}

impl Watch {
    pub(crate) fn begin(stage: &Stage, card: &Card, places: &[Place]) -> Self {
        let output = stage.troupe.output.as_ref();
        let before = output.and_then(|output| output.as_file().metadata().ok()).map_or(0, |file| file.len());
        let has_logs = places.iter().any(|place| place.is_log());
        let logs = if has_logs { Marks::of(&logs(&stage.troupe.plan)) } else { Marks::default() };
        Self { card: card.clone(), before, logs }
    }

    /// Returns all findings. What was there before the drill is told as such: the same seed gives the same cards, and a running
    /// shop has one account.
    pub(crate) async fn find(&self, stage: &Stage, places: &[Place]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for place in places {
            match place {
                Place::OutputCards | Place::OutputCredentials => {
                    for ran in stage.ran() {
                        let credentials = *place == Place::OutputCredentials;
                        findings.extend(self.texts(stage, "standard output", &ran.stdout, !credentials, credentials));
                        findings.extend(self.texts(stage, "standard error", &ran.stderr, !credentials, credentials));
                    }
                    if let Some(output) =
                        stage.troupe.output.as_ref().filter(|_| stage.troupe.plan.calls_shop(Job::Charge))
                    {
                        let credentials = *place == Place::OutputCredentials;
                        let searched = since(output.path(), self.before, |text| {
                            findings.extend(self.texts(stage, "the shop's output", text, !credentials, credentials));
                        });
                        if let Err(error) = searched {
                            findings.push(not_searched(format!("the shop's output: {error}")));
                        }
                    }
                }
                Place::LogsCards | Place::LogsCredentials => {
                    let credentials = *place == Place::LogsCredentials;
                    let plan = &stage.troupe.plan;
                    // H03 and H04 report it; there may be no log of other drills.
                    let is_of_all = is_of_all_logs(places);
                    let is_missing = |pattern: &&String| is_of_all && matching(&plan.folder, pattern).is_empty();
                    let missing = plan.logs.iter().filter(is_missing);
                    findings.extend(missing.map(|pattern| not_searched(format!("no file matches {pattern}"))));
                    let before = [&stage.troupe.logs, &self.logs];
                    findings.extend(in_files(logs(plan), MOST, before, |name, text, age| {
                        let found = self.texts(stage, &format!("the log {name}"), text, !credentials, credentials);
                        found.into_iter().map(|one| age.of(one, is_of_all)).collect()
                    }));
                    if let Some(dump) = &plan.dump {
                        let (text, failure) = adapter::output_of(dump, &stage.environment()).await;
                        findings.extend(failure.map(|why| not_searched(format!("the dump: {why}"))));
                        findings.extend(self.texts(stage, "the dump", &text, !credentials, credentials));
                    }
                }
                Place::Folder => {
                    let nothing = Marks::default();
                    let before = [&nothing, &nothing];
                    findings.extend(in_files(files(stage.directory()), MOST, before, |name, text, _| {
                        self.texts(stage, &format!("the order's folder, {name}"), text, true, false)
                    }));
                }
                Place::Fields => {
                    for exchange in stage.exchanges() {
                        findings.extend(self.fields(stage, &exchange));
                    }
                }
                Place::Addresses => {
                    for exchange in stage.exchanges() {
                        let address = format!("{}?{}", exchange.path, exchange.query.unwrap_or_default());
                        findings.extend(self.texts(stage, "the address of a request", &address, true, true));
                    }
                }
            }
        }
        let mut told = Vec::new();
        for finding in findings {
            // Each piece of a file may have it.
            if !told.contains(&finding) {
                told.push(finding);
            }
        }
        told
    }

    fn texts(&self, stage: &Stage, place: &str, text: &str, cards: bool, credentials: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        if cards && has_number(text, &self.card.number) {
            findings.push(fault("card-number-shown", format!("the whole card number is in {place}")));
        }
        if cards && cv2::has(text, &self.card.cv2) {
            findings.push(fault("cv2-shown", format!("the CV2 is in {place}; it must never be stored")));
        }
        if credentials {
            for (name, secret) in stage.house.account.secrets() {
                if has_secret(text, secret) {
                    findings.push(fault("credential-shown", format!("the {name} is in {place}")));
                }
            }
        }
        findings
    }

    /// Checks that a card number is only in `cardNumber`, and each credential only in its own parameter.
    fn fields(&self, stage: &Stage, exchange: &Exchange) -> Vec<Finding> {
        let mut findings = Vec::new();
        let account = &stage.house.account;
        for (name, value) in &exchange.parameters {
            if name != "cardNumber" && has_number(value, &self.card.number) {
                findings.push(fault(
                    "card-number-misplaced",
                    format!("the card number is in {name} of {}", exchange.method),
                ));
            }
            if !name.eq_ignore_ascii_case("cardCV2") && cv2::has(value, &self.card.cv2) {
                findings.push(fault("cv2-misplaced", format!("the CV2 is in {name} of {}", exchange.method)));
            }
            let own = ["apiKey", "apiPassword", "api_key", "api_password", "accountUpdaterKey"];
            for (what, secret) in account.secrets() {
                if has_secret(value, secret) && !own.contains(&name.as_str()) {
                    findings
                        .push(fault("credential-misplaced", format!("the {what} is in {name} of {}", exchange.method)));
                }
            }
        }
        for (name, value) in &exchange.headers {
            if has_number(value, &self.card.number)
                || account.secrets().iter().any(|(_, secret)| has_secret(value, secret))
            {
                findings.push(fault(
                    "secret-in-a-header",
                    format!("a card number or a credential is in the header {name}"),
                ));
            }
        }
        findings
    }
}

/// Searches files one by one, those that changed last first: the secrets of a drill are in what it has just written. `before` are the
/// files before the rehearsal and before the drill. Reports the files beyond the budget of bytes and the files that cannot be read.
fn in_files(
    mut paths: Vec<PathBuf>,
    budget: u64,
    before: [&Marks; 2],
    search: impl Fn(&str, &str, Age) -> Vec<Finding>,
) -> Vec<Finding> {
    paths.sort_by_cached_key(|path| Reverse(fs::metadata(path).and_then(|file| file.modified()).ok()));
    let (mut findings, mut left, mut unread) = (Vec::new(), budget, Vec::new());
    for path in &paths {
        if left == 0 {
            unread.push(format!("{} and older files, after {} MiB", file_name(path), budget >> 20));
            break;
        }
        let name = file_name(path);
        match by_age(path, left, before, |text, age| findings.extend(search(&name, text, age))) {
            Ok(length) if length > left => {
                unread.push(format!("the beginning of {name}, after {} MiB", budget >> 20));
                left = 0;
            }
            Ok(length) => left -= length,
            // The file was deleted meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => unread.push(format!("{}: {error}", file_name(path))),
        }
    }
    findings.extend(unread.into_iter().map(not_searched));
    findings
}

fn not_searched(what: String) -> Finding {
    doubt("not-searched", format!("not searched: {what}"))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Searches what was added to a file. A file that became shorter was written anew.
fn since(path: &Path, before: u64, search: impl FnMut(&str)) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    let begin = if before <= length { before } else { 0 };
    pieces(path, begin, length, search)
}

/// Searches the last bytes of a file, the oldest first. Returns its length.
fn by_age(path: &Path, most: u64, before: [&Marks; 2], mut search: impl FnMut(&str, Age)) -> io::Result<u64> {
    let file = fs::metadata(path)?;
    let (mut begin, length) = (file.len().saturating_sub(most), file.len());
    let ages = match before.map(|marks| marks.old_in(path, &file)) {
        [0, earlier] => [(earlier, Age::Earlier), (length, Age::New)],
        [old, _] if old == length => [(length, Age::Old), (length, Age::New)],
        // A secret may lie where the old lines end.
        _ => [(length, Age::Unknown), (length, Age::New)],
    };
    for (end, age) in ages {
        pieces(path, begin, end, |text| search(text, age))?;
        begin = begin.max(end);
    }
    Ok(length)
}

/// Searches these bytes of a file, piece by piece.
fn pieces(path: &Path, begin: u64, end: u64, mut search: impl FnMut(&str)) -> io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};

    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(begin))?;
    let mut file = file.take(end.saturating_sub(begin));
    let mut bytes = Vec::new();
    while file.by_ref().take(PIECE).read_to_end(&mut bytes)? > 0 {
        search(&String::from_utf8_lossy(&bytes));
        bytes.drain(..bytes.len().saturating_sub(OVERLAP));
    }
    Ok(())
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() && found.len() < FILES => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// Files that match a pattern: `*` and `?` within a name; a folder matches all files in it.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut level = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { folder.to_owned() }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for place in &level {
            if !part.contains(['*', '?']) {
                next.push(place.join(part));
                continue;
            }
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                if fits(part.as_bytes(), entry.file_name().to_string_lossy().as_bytes()) {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    let is_file = |path: &PathBuf| path.is_file();
    let (plain, folders): (Vec<_>, Vec<_>) = level.into_iter().partition(is_file);
    plain.into_iter().chain(folders.iter().flat_map(|folder| files(folder))).collect()
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => fits(rest, name) || (!name.is_empty() && fits(pattern, &name[1..])),
        ([b'?', rest @ ..], [_, after @ ..]) => fits(rest, after),
        ([one, rest @ ..], [other, after @ ..]) if one == other => fits(rest, after),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_budget_of_bytes_bounds_what_is_read_and_the_rest_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let time = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (at, name) in ["oldest", "older", "newer", "newest"].into_iter().enumerate() {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            io::Write::write_all(&mut &file, format!("{name}{}", ".".repeat(1 << 20)).as_bytes()).unwrap();
            file.set_modified(time(at as u64)).unwrap();
        }
        let searched = std::cell::RefCell::new(Vec::new());
        let nothing = Marks::default();
        let nothing = [&nothing, &nothing];
        let search = |name: &str, text: &str, _| {
            searched.borrow_mut().push((name.to_owned(), text.len()));
            Vec::new()
        };
        let findings = in_files(files(folder.path()), 2 << 20, nothing, search);
        // Of the second file only the end is read: the name of the first file counts too.
        let read = [("newest".to_owned(), (1 << 20) + 6), ("newer".to_owned(), (1 << 20) - 6)];
        assert_eq!(searched.take(), read);
        let told: Vec<&str> = findings.iter().map(|finding| finding.text.as_str()).collect();
        let beginning = "not searched: the beginning of newer, after 2 MiB";
        assert_eq!(told, [beginning, "not searched: older and older files, after 2 MiB"]);

        assert_eq!(in_files(files(folder.path()), MOST, nothing, search), []);
        assert_eq!(searched.take().len(), 4);
        let gone = vec![folder.path().join("gone"), folder.path().join("oldest/below")];
        let told = in_files(gone, MOST, nothing, search);
        assert!(told.len() == 1 && told[0].text.starts_with("not searched: below: "), "{told:?}");
    }

    /// The process of the last rehearsal was killed while it wrote.
    #[test]
    fn a_secret_across_the_end_of_the_old_lines_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "card 41111157").unwrap();
        let (old, nothing) = (Marks::of(&[file.path().to_owned()]), Marks::default());
        let read = || {
            let mut read = Vec::new();
            let mut keep = |text: &str, age| read.push((text.to_owned(), age));
            by_age(file.path(), MOST, [&old, &nothing], &mut keep).unwrap();
            read
        };
        assert_eq!(read(), [("card 41111157".to_owned(), Age::Old)]);
        fs::write(file.path(), "card 4111115703353726").unwrap();
        assert_eq!(read(), [("card 4111115703353726".to_owned(), Age::Unknown)]);
    }

    #[test]
    fn a_file_that_became_shorter_is_read_from_its_beginning() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let added = || {
            let mut added = String::new();
            since(file.path(), 8, |text| added.push_str(text)).unwrap();
            added
        };
        fs::write(file.path(), "before, after").unwrap();
        assert_eq!(added(), "after");
        fs::write(file.path(), "anew").unwrap();
        assert_eq!(added(), "anew");
    }

    /// A database is not written at its end.
    #[test]
    fn a_large_file_is_searched_as_a_whole_in_pieces_and_where_two_of_them_meet() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (number, piece) = ("4111115703353726", usize::try_from(PIECE).unwrap());
        for at in [0, piece - 8, 2 * piece] {
            let mut bytes = vec![b'.'; 2 * piece + number.len()];
            bytes[at..at + number.len()].copy_from_slice(number.as_bytes());
            fs::write(file.path(), bytes).unwrap();
            let (mut longest, mut found) = (0, false);
            pieces(file.path(), 0, MOST, |text| {
                longest = longest.max(text.len());
                found |= text.contains(number);
            })
            .unwrap();
            assert!(found && longest <= piece + OVERLAP, "{at}: {longest}");
        }
    }

    #[test]
    fn patterns_mean_files_and_folders() {
        assert!(fits(b"*.log", b"shop.log") && fits(b"a?c*", b"abcdef") && !fits(b"*.log", b"shop.txt"));
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("var/log")).unwrap();
        fs::write(folder.path().join("var/log/a.log"), "x").unwrap();
        fs::write(folder.path().join("var/log/b.txt"), "x").unwrap();
        assert_eq!(matching(folder.path(), "var/log/*.log").len(), 1);
        assert_eq!(matching(folder.path(), "var").len(), 2);
    }
}
