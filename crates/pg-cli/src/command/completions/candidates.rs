//! Completion candidates for the last word of a command line: a method, a parameter, a scenario, a fault, a profile, or
//! a value.

use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use pg_model::{
    METHODS,
    field::Field,
    format::Format,
    method::{MethodInfo, method},
};

use crate::{
    account::{Setting, profile},
    argument, reference,
};

/// A word with its description.
type Candidate = (String, String);

/// Returns the candidates for the last word of a line, which is empty after a space. There are none for names of flags
/// and subcommands: the shell script that clap generates completes these.
pub(super) fn of(line: &str) -> Vec<Candidate> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let current = if line.ends_with(char::is_whitespace) { "" } else { words.pop().unwrap_or_default() };
    let mut root = crate::Arguments::command();
    // Building makes subcommands know their inherited flags.
    root.build();
    let place = Place::of(&root, words.get(1..).unwrap_or_default());
    if let Some(flag) = place.flag {
        return values_of(flag, current);
    }
    if current.starts_with('-') {
        return Vec::new();
    }
    match (place.command.get_name(), place.plain.first()) {
        ("call", Some(name)) => {
            method(name).map_or_else(Vec::new, |info| parameters(info.fields, &place.plain[1..], current))
        }
        ("sign" | "verify" | "explain", _) => parameters(&fields_of_all(), &place.plain, current),
        _ => {
            let positional = |at: usize| place.command.get_positionals().nth(at);
            // The last positional argument may be repeated.
            let repeated = || {
                positional(1).filter(|last| {
                    last.get_action().takes_values() && last.get_num_args().is_some_and(|range| range.max_values() > 1)
                })
            };
            positional(place.plain.len())
                .or_else(repeated)
                .map_or_else(Vec::new, |argument| values_of(argument, current))
        }
    }
}

/// The position of the cursor.
struct Place<'c, 'w> {
    /// The deepest subcommand.
    command: &'c Command,
    /// Its arguments before the cursor, without flags.
    plain: Vec<&'w str>,
    /// The flag whose value is being written.
    flag: Option<&'c Arg>,
}

impl<'c, 'w> Place<'c, 'w> {
    fn of(root: &'c Command, words: &[&'w str]) -> Self {
        let mut place = Self { command: root, plain: Vec::new(), flag: None };
        for word in words {
            if place.flag.take().is_some() {
                continue;
            }
            if let Some(flag) = word.strip_prefix("--") {
                let mut named = place.command.get_arguments().filter(|argument| argument.get_long() == Some(flag));
                place.flag = named.find(|argument| argument.get_action().takes_values());
            } else if let Some(found) = place.command.find_subcommand(word).filter(|_| place.plain.is_empty()) {
                place.command = found;
            } else {
                place.plain.push(word);
            }
        }
        place
    }
}

/// Returns the possible values of an argument.
fn values_of(argument: &Arg, current: &str) -> Vec<Candidate> {
    let name = argument.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let all: Vec<Candidate> = match (argument.get_id().as_str(), name) {
        (_, "SERVICE/METHOD") => return methods(current),
        (_, "METHOD") => {
            let others = [("any", "every method"), ("page/pay", "the hosted payment page")];
            let others = others.map(|(name, about)| (name.to_owned(), about.to_owned()));
            methods("").into_iter().chain(others).collect()
        }
        ("profile", _) => profiles(),
        (_, "SETTING=VALUE") => Setting::ALL
            .into_iter()
            .map(|setting| (format!("{}=", setting.member()), setting.variable().to_owned()))
            .collect(),
        (_, "ACCOUNT") => {
            ["main", "strict", "other"].map(|name| (name.to_owned(), "built-in account".to_owned())).to_vec()
        }
        _ => argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| (value.get_name().to_owned(), value.get_help().map_or_else(String::new, ToString::to_string)))
            .collect(),
    };
    all.into_iter().filter(|(name, _)| name.starts_with(current)).collect()
}

/// Returns the profiles of the default file; none if it cannot be read, since completion reports no errors.
fn profiles() -> Vec<Candidate> {
    let named = std::env::var_os("PG_PROFILE_FILE").filter(|file| !file.is_empty()).map(PathBuf::from);
    let text = named.or_else(profile::usual_file).and_then(|file| argument::read_file(&file).ok());
    let profiles = text.and_then(|text| profile::parse(&text).ok()).unwrap_or_default();
    let url = |entries: &[profile::Entry]| {
        let url = entries.iter().find(|entry| entry.setting == Setting::BaseUrl);
        url.map_or_else(String::new, |entry| pg_model::mask::text(&entry.value))
    };
    profiles.into_iter().map(|(name, entries)| (name, url(&entries))).collect()
}

fn methods(current: &str) -> Vec<Candidate> {
    let named = METHODS.iter().map(|info: &&MethodInfo| (reference::path(info), info.title.to_owned()));
    named.filter(|(path, _)| path.starts_with(current)).collect()
}

/// Returns every parameter of any method, once.
fn fields_of_all() -> Vec<&'static Field> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in METHODS.iter().flat_map(|info| info.fields) {
        if !fields.iter().any(|known| known.wire == field.wire) {
            fields.push(field);
        }
    }
    fields
}

/// Returns the parameters that are not given yet, or the values of the one that is being written.
fn parameters(fields: &[&'static Field], before: &[&str], current: &str) -> Vec<Candidate> {
    if let Some((name, value)) = current.split_once('=') {
        let field = fields.iter().find(|field| field.is_named(name));
        let values = field.map_or_else(Vec::new, |field| values(field));
        let fitting = values.into_iter().filter(|(known, _)| known.starts_with(value));
        return fitting.map(|(known, about)| (format!("{name}={known}"), about)).collect();
    }
    let given: Vec<&str> = before.iter().filter_map(|word| Some(word.split_once('=')?.0)).collect();
    let names = fields.iter().filter_map(|field| Some((next_name(field, &given)?, field.doc.to_owned())));
    names.filter(|(name, _)| name.starts_with(current)).map(|(name, about)| (format!("{name}="), about)).collect()
}

/// Returns the field's name, with the first number that is not given yet where items are numbered.
fn next_name(field: &Field, given: &[&str]) -> Option<String> {
    // A list that is given by prefix has no fixed names.
    if field.wire.ends_with('*') {
        return None;
    }
    if !field.is_numbered() {
        return (!given.contains(&field.wire)).then(|| field.wire.to_owned());
    }
    (0..=given.len())
        .map(|number| field.wire.replace("{n}", &number.to_string()))
        .find(|name| !given.contains(&&**name))
}

fn values(field: &Field) -> Vec<Candidate> {
    match field.format {
        Format::Flag => ["1", "0"].map(|flag| (flag.to_owned(), field.doc.to_owned())).to_vec(),
        Format::OneOf => field.values.iter().map(|&word| (word.to_owned(), field.doc.to_owned())).collect(),
        Format::Currency => pg_model::Currency::KNOWN
            .iter()
            .map(|currency| (currency.as_str().to_owned(), currency.message().unwrap_or_default().to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        of(line).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn methods_come_first() {
        assert_eq!(words("pg call token/loo"), ["token/lookup"]);
        assert_eq!(words("pg --json methods enterprise/s"), ["enterprise/sms"]);
        assert_eq!(words("pg call "), METHODS.iter().map(|info| reference::path(info)).collect::<Vec<_>>());
        assert_eq!(words("pg call --timeout 5 token/loo"), ["token/lookup"]);
    }

    #[test]
    fn then_the_parameters_that_are_not_given_yet() {
        assert_eq!(words("pg call token/lookup "), ["cardKey=", "merchantCustomerReference="]);
        assert_eq!(words("pg call token/lookup cardKey=a --dry-run "), ["merchantCustomerReference="]);
        assert_eq!(words("pg call transaction/auth itemN"), ["itemName0="]);
        assert_eq!(words("pg call transaction/auth itemName0=a itemName1=b itemN"), ["itemName2="]);
        assert_eq!(words("pg call enterprise/gettoken item_p"), ["item_price[0]="]);
        assert_eq!(words("pg sign msi"), ["msisdn="]);
    }

    #[test]
    fn then_their_values() {
        assert_eq!(words("pg call enterprise/repeat trans_type="), ["trans_type=Auth", "trans_type=PreAuth"]);
        assert_eq!(words("pg call enterprise/repeat trans_type=P"), ["trans_type=PreAuth"]);
        assert_eq!(words("pg call enterprise/gettoken auto_redirect="), ["auto_redirect=1", "auto_redirect=0"]);
        assert_eq!(words("pg call transaction/auth currency=GB"), ["currency=GBP"]);
    }

    #[test]
    fn scenarios_faults_and_other_known_words_are_offered() {
        assert_eq!(words("pg trigger lost-"), ["lost-reply", "lost-request"]);
        assert_eq!(words("pg trigger --standalone dec"), ["decline"]);
        assert_eq!(words("pg sandbox faults add transaction/captu"), ["transaction/capturepreauth"]);
        assert_eq!(words("pg sandbox faults add page"), ["page/pay"]);
        assert_eq!(words("pg sandbox faults add transaction/auth drop"), ["drop-request", "drop-reply"]);
        assert_eq!(words("pg sandbox faults --sandbox http://127.0.0.1:1 add any ga"), ["garble"]);
        assert_eq!(words("pg sandbox callbacks misbehave "), ["fail", "late", "twice"]);
        assert_eq!(words("pg sandbox list tra"), ["transactions"]);
        assert_eq!(words("pg sandbox open cal"), ["callbacks"]);
        assert_eq!(words("pg trigger decline --merchant s"), ["strict"]);
        assert_eq!(words("pg config set staging baseU"), ["baseUrl="]);
        assert_eq!(words("pg config set staging baseUrl=x api"), ["apiKey=", "apiPassword="]);
        assert_eq!(words("pg sandbox faults "), [""; 0]);
    }

    #[test]
    fn flags_other_commands_and_unknown_methods_are_left_to_the_shell() {
        for line in
            ["", "pg", "pg ca", "pg call --dr", "pg call --timeout ", "pg demo ", "pg call token/none ", "pg sign --f"]
        {
            assert_eq!(words(line), [""; 0], "{line}");
        }
    }
}
