//! The dialect of an account: by name, from a file, or the default for its address.

use std::{fs::File, path::Path, sync::Arc};

use pg_model::{Dialect, mask};
use pg_proto::BaseUrl;

use crate::{argument, failure::Failure};

/// The dialect without assumptions.
pub(super) const DOCUMENTED: &str = "documented";
/// The dialect of `pg sandbox`.
const SANDBOX: &str = "sandbox";

/// Returns the names of the dialects that are built in.
pub(crate) fn known() -> String {
    let ready = pg_sandbox::READY.iter().map(|(name, _)| *name);
    [DOCUMENTED, SANDBOX].into_iter().chain(ready).collect::<Vec<_>>().join(", ")
}

/// Returns the help of a flag for a dialect.
pub(crate) fn help(what: &str) -> String {
    format!("{what}: {}, or a dialect file", known())
}

/// Loads a dialect by name or from a file.
///
/// # Errors
/// If the file cannot be read or is invalid; the message lists every mistake with its line.
pub(crate) fn named(name: &str) -> Result<Arc<Dialect>, Failure> {
    match name {
        DOCUMENTED => Ok(Arc::new(Dialect::documented())),
        SANDBOX => Ok(pg_sandbox::dialect()),
        name => match pg_sandbox::READY.iter().find(|(ready, _)| *ready == name) {
            Some((_, text)) => parsed(text, name),
            None => read(Path::new(name)),
        },
    }
}

/// Whether it is the name of a built-in dialect, not a file.
pub(crate) fn is_built_in(name: &str) -> bool {
    [DOCUMENTED, SANDBOX].contains(&name) || pg_sandbox::READY.iter().any(|(ready, _)| *ready == name)
}

/// Returns the default dialect of an address: the sandbox's for plain HTTP on this machine, which a payment service
/// never uses; the documented one for any other address.
pub(super) fn of_address(base: &BaseUrl) -> Arc<Dialect> {
    let is_local = base.as_str().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
    if is_local && base.is_private() { pg_sandbox::dialect() } else { Arc::new(Dialect::documented()) }
}

fn read(path: &Path) -> Result<Arc<Dialect>, Failure> {
    let shown = mask::text(&path.display().to_string());
    let text = File::open(path).and_then(|mut file| argument::read_text(&mut file)).map_err(|error| {
        let known = known();
        Failure::misuse(format!("the dialect {shown} is not built in ({known}), and the file cannot be read: {error}"))
    })?;
    parsed(&text, &shown)
}

fn parsed(text: &str, shown: &str) -> Result<Arc<Dialect>, Failure> {
    let dialect = Dialect::from_toml(text);
    dialect.map(Arc::new).map_err(|error| Failure::misuse(format!("the dialect file {shown}, {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_on_this_machine_is_taken_for_a_sandbox() {
        for (address, name) in [
            ("http://127.0.0.1:8480", "sandbox"),
            ("http://localhost:8480", "sandbox"),
            ("HTTP://[::1]:8480", "sandbox"),
            ("https://localhost:8480", "documented"),
            ("https://gateway.example", "documented"),
            ("http://gateway.example", "documented"),
        ] {
            assert_eq!(of_address(&BaseUrl::parse(address).unwrap()).shown_name(), name, "{address}");
        }
    }

    #[test]
    fn every_known_name_is_built_in() {
        assert_eq!(known(), "documented, sandbox, six-hundreds, not-found, terse");
        known().split(", ").for_each(|name| assert_eq!(named(name).unwrap().shown_name(), name));
        let guide =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/dialects.md")).unwrap();
        let (_, table) = guide.split_once("|---|---|---|\n").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let listed: Vec<&str> = table.lines().filter_map(|row| row.split(" | ").next()?.strip_prefix("| ")).collect();
        assert_eq!(listed.join(", "), format!("{}, your own", known()), "the table of the guide");
    }

    #[test]
    fn invalid_names_and_files_are_reported() {
        let said = |name: &str| named(name).map(|_| ()).unwrap_err().message().to_owned();
        assert!(said("no such file").contains("is not built in (documented, sandbox, six-hundreds"));
        assert_eq!(named("terse").unwrap().shown_name(), "terse");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        std::fs::write(&file, "[[declined]]\ncode = \"600\"\nassumption = 11\n").unwrap();
        assert!(said(&file.display().to_string()).contains("line 2, column 8: the documents say what 600 means"));
        std::fs::write(&file, "name = \"own\"\n").unwrap();
        assert_eq!(named(&file.display().to_string()).unwrap().shown_name(), "own");
    }
}
