//! `name=value` arguments. A value can also come from a file (`name=@FILE`) or from standard input (`name=-`), so that
//! card data need not be on the command line, where other users of the machine can see it.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use pg_model::{Parameters, mask};
use pg_sandbox::cards;

use crate::{failure::Failure, output};

/// The syntax of arguments, for `--help`.
pub(crate) const HELP: &str = "\
Values: name=VALUE as given, name=@FILE from a file, name=- from standard input, name=@@x for a value that begins with @. One line break at the end of a file or of standard input is removed.";

/// The given parameters.
pub(crate) struct Given {
    /// Names and values in order.
    pub(crate) parameters: Parameters,
    /// Names whose values are on the command line.
    inline: Vec<String>,
}

impl Given {
    /// Reads the arguments.
    ///
    /// # Errors
    /// If an argument is not `name=value`, a file or standard input cannot be read or is empty, or standard input is used
    /// twice.
    pub(crate) fn read(arguments: &[String]) -> Result<Self, Failure> {
        let mut given = Self { parameters: Parameters::new(), inline: Vec::new() };
        let mut input = None;
        for (at, argument) in arguments.iter().enumerate() {
            // The message does not repeat a wrong argument: it may be a card number whose name was left out.
            let (name, value) = argument
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| Failure::misuse(format!("parameter {} is not of the form name=value", at + 1)))?;
            let value = match value.strip_prefix('@') {
                None if value == "-" => {
                    if let Some(first) = input.replace(name) {
                        return Err(Failure::misuse(format!(
                            "{first} and {name} cannot both be read from standard input; use {name}=@FILE"
                        )));
                    }
                    let from = "standard input";
                    let mut file = standard_input().map_err(|error| unreadable(name, from, &error))?;
                    read_value(name, from, &mut file)?
                }
                Some(rest) if !rest.starts_with('@') => {
                    let from = format!("the file {:?}", mask::text(rest));
                    let mut file = File::open(rest).map_err(|error| unreadable(name, &from, &error))?;
                    read_value(name, &from, &mut file)?
                }
                escaped => {
                    given.inline.push(name.to_owned());
                    escaped.unwrap_or(value).to_owned()
                }
            };
            given.parameters.push(name, value);
        }
        Ok(given)
    }

    /// Warns about secret values on the command line.
    pub(crate) fn warn_of_secrets(&self) {
        let mut names: Vec<&str> = self.inline.iter().map(String::as_str).filter(|name| is_secret(name)).collect();
        names.dedup();
        if !names.is_empty() {
            warn_of_visible(&names, "name=@FILE or name=-");
        }
    }

    /// Whether there is no card, or the card is a published test card: then no argument for a sandbox is secret.
    pub(crate) fn is_test_data(&self) -> bool {
        let numbers = self.parameters.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cardNumber"));
        numbers.map(|(_, number)| number).all(|number| number.is_empty() || is_published(number))
    }

    /// Returns names and values for signing.
    pub(crate) fn pairs(&self) -> Vec<(&str, &str)> {
        self.parameters.iter().collect()
    }
}

/// Warns about secrets on the command line.
pub(crate) fn warn_of_visible(names: &[&str], instead: &str) {
    let (are, stay) = if names.len() == 1 { ("is", "stays") } else { ("are", "stay") };
    output::warn(&format!(
        "{} on the command line {are} visible to other users and {stay} in the shell's history; use {instead}",
        names.join(", ")
    ));
}

/// Warns about a likely card number anywhere on the command line, except in values of secret parameters, which
/// [`Given::warn_of_secrets`] reports, and except the published test cards; and about a password in an address.
pub(crate) fn warn_of_misplaced(arguments: impl Iterator<Item = String>) {
    for (at, argument) in arguments.enumerate().skip(1) {
        let (is, instead) = if is_misplaced_number(&argument) {
            ("looks like a card number", "name=@FILE or name=-")
        } else if has_password(&argument) {
            ("has a password", "PG_INTENTS_STORE or PG_SANDBOX_STORE, if the command reads it")
        } else {
            continue;
        };
        output::warn(&format!(
            "argument {at} {is}: other users can see it (ps) and it stays in the shell's history; use {instead}"
        ));
    }
}

/// Whether an address has a password, as in `postgres://user:password@host`, also if it has a mistake.
pub(crate) fn has_password(argument: &str) -> bool {
    let text = argument.strip_prefix("--store=").unwrap_or(argument).to_ascii_lowercase();
    if ["?password=", "&password=", ";password=", " password="].iter().any(|setting| text.contains(setting)) {
        return true;
    }
    let authority = match text.strip_prefix("postgres") {
        // The driver reads the password up to the last `@`.
        Some(rest) => rest.trim_start_matches("ql").trim_start_matches([':', '/']),
        None => text.split_once("://").and_then(|(_, rest)| rest.split('/').next()).unwrap_or_default(),
    };
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

fn is_misplaced_number(argument: &str) -> bool {
    let is_told = argument.split_once('=').is_some_and(|(name, _)| is_secret(name));
    !is_told && mask::has_card_number(argument) && !is_published(argument)
}

/// Whether the digits of a text are the number of a published test card.
fn is_published(text: &str) -> bool {
    let digits: String = text.chars().filter_map(mask::digit).map(|digit| char::from(b'0' + digit)).collect();
    cards::CARDS.iter().any(|card| card.number == digits)
}

/// Whether a parameter's value is secret: a sensitive parameter of any method, or a credential. A similar name counts
/// too, since it may be a typo.
pub(crate) fn is_secret(name: &str) -> bool {
    let sensitive = pg_model::METHODS.iter().flat_map(|info| info.fields).filter(|field| field.sensitive);
    let credentials = ["apiPassword", "api_password", "apiKey", "api_key"];
    let typed = mask::plain_name(name);
    let known = sensitive.flat_map(|field| std::iter::once(&field.wire).chain(field.aliases));
    known.chain(&credentials).any(|secret| mask::plain_name(secret) == typed) || mask::names_a_cv2(name)
}

/// Maximum length of a text from a file or from standard input.
const LONGEST: u64 = 1 << 20;
/// Maximum length of a file of certificates.
const LONGEST_CERTIFICATES: u64 = 16 << 20;
/// The capacity with which reading begins.
const BLOCK: usize = 1 << 10;

/// Reads a whole file, as [`read_text`] does.
///
/// # Errors
/// As [`read_text`], or if it cannot be opened.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    read_text(&mut File::open(path)?)
}

/// Returns standard input without the buffer of [`io::stdin`], which is never freed and so never wiped.
///
/// # Errors
/// If the system allows no further open file.
pub(crate) fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?;
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?;
    Ok(handle.into())
}

/// Reads a whole text, without the byte order mark that some editors put before it; the limit is above every limit of the service.
///
/// # Errors
/// If it is longer than 1 MiB, is not valid UTF-8, or cannot be read.
pub(crate) fn read_text(from: &mut dyn Read) -> io::Result<String> {
    let bytes = read_bytes(from, LONGEST)?;
    let mut text = String::from_utf8(bytes).map_err(|_| io::Error::other("not valid UTF-8"))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Reads a file of certificates or of a key. A list of the world's certificate authorities has about 200 KiB.
///
/// # Errors
/// If it is longer than 16 MiB, or cannot be read.
pub(crate) fn read_certificates(path: &Path) -> io::Result<Vec<u8>> {
    read_bytes(&mut File::open(path)?, LONGEST_CERTIFICATES)
}

fn read_bytes(from: &mut dyn Read, most: u64) -> io::Result<Vec<u8>> {
    // An empty vector would get its first bytes by way of the stack.
    let mut bytes = Vec::with_capacity(BLOCK);
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("longer than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// Returns a value without the trailing line break that editors and `echo` add.
///
/// # Errors
/// If it cannot be read, or is empty: the source may be an empty file, or a command that failed.
fn read_value(name: &str, source: &str, from: &mut dyn Read) -> Result<String, Failure> {
    let mut value = read_text(from).map_err(|error| unreadable(name, source, &error))?;
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    if value.is_empty() {
        return Err(Failure::misuse(format!("{name}: {source} is empty; write {name}= for an empty value")));
    }
    Ok(value)
}

fn unreadable(name: &str, source: &str, error: &io::Error) -> Failure {
    Failure::misuse(format!("{name}: cannot read {source}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Given, Failure> {
        Given::read(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_taken_as_they_are() {
        let given = read(&["a=1=2", "b=", "c=@@x", "d=--"]).unwrap();
        assert_eq!(given.pairs(), [("a", "1=2"), ("b", ""), ("c", "@x"), ("d", "--")]);
    }

    #[test]
    fn values_come_from_files_without_their_last_line_break() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "4111\r\n").unwrap();
        let given = read(&[&format!("cardNumber=@{}", file.path().display())]).unwrap();
        assert_eq!(given.pairs(), [("cardNumber", "4111")]);
        assert!(given.inline.is_empty());
        std::fs::write(file.path(), "\u{feff}4111\r\n").unwrap();
        assert_eq!(
            read(&[&format!("cardNumber=@{}", file.path().display())]).unwrap().pairs(),
            [("cardNumber", "4111")]
        );
        for empty in ["", "\n"] {
            std::fs::write(file.path(), empty).unwrap();
            let failure = read(&[&format!("cardNumber=@{}", file.path().display())]).err().unwrap();
            assert!(failure.message().contains("is empty"), "{}", failure.message());
        }
    }

    #[test]
    fn a_lost_name_does_not_show_the_value() {
        let failure = format!("{:?}", read(&["a=1", "4111111111111111"]).err().unwrap());
        assert!(failure.contains("parameter 2") && !failure.contains("4111"), "{failure}");
        assert!(read(&["=1"]).is_err());
    }

    #[test]
    fn card_numbers_anywhere_are_noticed() {
        for argument in [
            "4111111111111111",
            "merchantReference=4111 1111-1111.1111",
            "--base-url=https://a/4111111111111111",
            "４１１１１１１１１１１１１１１１",
        ] {
            assert!(is_misplaced_number(argument), "{argument}");
        }
        for argument in [
            "cardNumber=4111111111111111",
            "cardNumber=4000000000001000",
            "4000000000001000",
            "order=202611220000",
            "4111111111111112",
        ] {
            assert!(!is_misplaced_number(argument), "{argument}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_noticed() {
        for (argument, has) in [
            ("postgres://u:p@db/shop", true),
            ("--store=postgres://u:p@db", true),
            ("postgres://u:a/b@db/shop", true),
            ("postgresql://u@db/shop?sslmode=require&password=p", true),
            ("postgres:u:p@db", true),
            ("--store=Postgresql:/u:p@db/shop", true),
            ("postgres//u:p@db/shop", true),
            ("host=db user=u password=p dbname=shop", true),
            ("Host=db;Username=u;Password=p", true),
            ("https://u:p@postgres/shop", true),
            ("postgres://u@db:5432/shop", false),
            ("--store=postgres://u@db:5432/shop", false),
            ("https://shop.example:80/a@b", false),
            ("a:b@c", false),
        ] {
            assert_eq!(has_password(argument), has, "{argument}");
        }
    }

    #[test]
    fn published_cards_are_test_data() {
        assert!(read(&["cardNumber=4000000000001000", "cardCV2=917"]).unwrap().is_test_data());
        assert!(read(&["cardCV2=917"]).unwrap().is_test_data());
        assert!(!read(&["cardNumber=4111111111111111"]).unwrap().is_test_data());
        assert!(!read(&["CARDNUMBER=5", "cardNumber=4000000000001000"]).unwrap().is_test_data());
    }

    #[test]
    fn secrets_are_known_by_name_in_any_case() {
        for (name, secret) in
            [("cardNumber", true), ("cardcv2", true), ("apiPassword", true), ("currency", false), ("cardKey", false)]
        {
            assert_eq!(is_secret(name), secret, "{name}");
        }
    }
}
