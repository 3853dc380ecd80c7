//! What the last word of a command line may become: a method, a parameter, one of its values.

use clap::{Command, CommandFactory};
use pg_model::{
    METHODS,
    field::Field,
    format::Format,
    method::{MethodInfo, method},
};

use crate::reference;

/// A word with what it is.
type Candidate = (String, String);

/// The candidates for the last word of a line, which is empty behind a blank. None for flags and their values: those
/// are the shell's and clap's.
pub(super) fn of(line: &str) -> Vec<Candidate> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let current = if line.ends_with(char::is_whitespace) { "" } else { words.pop().unwrap_or_default() };
    let Some((command, before)) = arguments(words.get(1..).unwrap_or_default()) else { return Vec::new() };
    if current.starts_with('-') {
        return Vec::new();
    }
    match (command, before.first()) {
        ("call" | "methods", None) => methods(current),
        ("call", Some(name)) => {
            method(name).map_or_else(Vec::new, |info| parameters(info.fields, &before[1..], current))
        }
        ("sign" | "verify" | "explain", _) => parameters(&fields_of_all(), &before, current),
        _ => Vec::new(),
    }
}

/// The command and its arguments before the cursor, without flags. Nothing if the cursor is where a flag's value goes.
fn arguments<'w>(words: &[&'w str]) -> Option<(&'w str, Vec<&'w str>)> {
    let root = crate::Arguments::command();
    let (mut known, mut command, mut plain) = (&root, None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--") {
            if !flag.contains('=') && takes_a_value(known, flag) {
                words.next()?;
            }
        } else if command.is_some() {
            plain.push(*word);
        } else if let Some(found) = root.find_subcommand(word) {
            (known, command) = (found, Some(*word));
        }
    }
    Some((command?, plain))
}

fn takes_a_value(command: &Command, flag: &str) -> bool {
    let named = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
    named.is_some_and(|argument| argument.get_action().takes_values())
}

fn methods(current: &str) -> Vec<Candidate> {
    let named = METHODS.iter().map(|info: &&MethodInfo| (reference::path(info), info.title.to_owned()));
    named.filter(|(path, _)| path.starts_with(current)).collect()
}

/// Every parameter that any method has, once.
fn fields_of_all() -> Vec<&'static Field> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in METHODS.iter().flat_map(|info| info.fields) {
        if !fields.iter().any(|known| known.wire == field.wire) {
            fields.push(field);
        }
    }
    fields
}

/// The parameters that are not given yet, or the values of the one that is being written.
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

/// The field's name, with the first number that is not given yet where items are numbered.
fn next_name(field: &Field, given: &[&str]) -> Option<String> {
    // A list that is given by prefix has no names of its own.
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
    fn flags_other_commands_and_unknown_methods_are_left_to_the_shell() {
        for line in
            ["", "pg", "pg ca", "pg call --dr", "pg call --timeout ", "pg demo ", "pg call token/none ", "pg sign --f"]
        {
            assert_eq!(words(line), [""; 0], "{line}");
        }
    }
}
