//! Each mistake is made in a copy of the tables, and must be told with its place.

use std::{fs, path::Path};

use super::super::{TABLES, checked};

/// A mistake: which file, what is replaced by what (the first time it occurs), and what must be said about it.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

const SHAPE: &[Mistake] = &[
    (
        "token",
        "required = true, spec",
        "requird = true, spec",
        "key \"requird\" is not known; did you mean \"required\"? (allowed: aliases,",
    ),
    ("token", "retry_why = \"reads only\"", "retry_wy = \"reads only\"", "did you mean \"retry_why\"?"),
    ("token", "retry_why = \"reads only\"", "", "the row has no retry_why"),
    ("token", "type = \"CardKey\", ", "", "the row has no type"),
    ("token", "required = true", "required = \"yes\"", "required must be true or false"),
    ("token", "type = \"CardKey\"", "type = 7", "type must be a text in quotes"),
    (
        "token",
        "credentials = \"signed\"",
        "credentials = \"sigend\"",
        "did you mean \"signed\"? (allowed: enterprise, session, signed)",
    ),
    (
        "token",
        "retry = \"safe\"",
        "retry = \"always\"",
        "retry \"always\" is not known (allowed: lookup-first, never, safe)",
    ),
    (
        "token",
        "{ group = \"customer\" }",
        "{ group = \"customer\", wire = \"x\" }",
        "key \"wire\" is not known (allowed: group, inline, repeat, required, rust)",
    ),
    ("token", "version = 3", "version = \"3\"", "version must be a whole number"),
    ("enterprise", "values = [\"ecomm\", \"moto\"]", "values = \"ecomm\"", "values must be a list of texts"),
    ("token", "{ group = \"customer\" }", "\"customer\"", "fields must be rows in curly brackets"),
    ("codes", "http = 400", "http = 99999", "http must be a whole number of its size"),
    ("records", "empty = \"keep\"", "empty = \"kept\"", "did you mean \"keep\"?"),
    ("records", "essential = [\"cardKey\"]", "essential = [1]", "essential must be a list of texts"),
    ("types", "[[type]]", "[[kind]]", "key \"kind\" is not known"),
    ("session", "title = \"Client session\"", "title = \"Client session", "session.toml:3:"),
];

const FIELDS: &[Mistake] = &[
    (
        "token",
        "type = \"CardKey\"",
        "type = \"Cardkey\"",
        "type \"Cardkey\" is in none of types.toml and codes.toml; did you mean \"CardKey\"?",
    ),
    (
        "token",
        "format = \"text\"",
        "format = \"txt\"",
        "format \"txt\" is not known; did you mean \"text\"? (allowed: alphanumeric,",
    ),
    (
        "token",
        "{ group = \"customer\" }",
        "{ group = \"custommer\" }",
        "group \"custommer\" is not in groups.toml; did you mean \"customer\"?",
    ),
    (
        "token",
        "reply = \"CardKeyDetails\"",
        "reply = \"CardKeyDetial\"",
        "record \"CardKeyDetial\" is not in records.toml; did you mean",
    ),
    (
        "token",
        "wire = \"merchantCustomerReference\"",
        "wire = \"CARDKEY\", rust = \"b\"",
        "parameter \"cardkey\" stands twice, first at crates/pg-model/tables/token.toml:20:3",
    ),
    ("token", "wire = \"customerTelephone\"", "wire = \"customerEmail\"", "parameter \"customeremail\" stands twice"),
    (
        "token",
        "wire = \"customerTelephone\"",
        "wire = \"customerTelephone\", aliases = [\"cardKey\"]",
        "parameter \"cardkey\" stands twice",
    ),
    ("session", "prefix = \"collect\"", "prefix = \"card\"", "can be taken for \"card*\""),
    ("token", "wire = \"cardKey\"", "wire = \"\"", "the row needs exactly one of wire and prefix"),
    ("token", "wire = \"cardKey\"", "wire = \"card key\"", "holds more than letters, digits"),
    ("token", "wire = \"cardKey\"", "wire = \"apiKey\"", "is a credential"),
    ("token", "wire = \"cardKey\"", "wire = \"cardKey{n}\"", "its group does not repeat"),
    ("groups", "itemName{n}", "itemName", "it needs {n} once"),
    (
        "token",
        "wire = \"cardKey\"",
        "wire = \"aNameThatIsMuchLongerThanAnyBufferWouldTakeOfIt\"",
        "longer than 40 characters",
    ),
    ("token", "wire = \"cardKey\"", "wire = \"3D\"", "\"3_d\" is no name of a Rust field"),
    ("token", "wire = \"cardKey\"", "wire = \"type\"", "\"type\" is taken in Rust"),
    ("token", "wire = \"cardKey\"", "wire = \"check\"", "\"check\" is taken in Rust"),
    (
        "token",
        "wire = \"customerTelephone\"",
        "wire = \"customerTelephone\", rust = \"customer\"",
        "member \"customer\" stands twice",
    ),
    ("token", "source = \"1 §4.2\"", "source = \"4 §4.2\"", "source \"4 §4.2\" is not of the form \"2 §4.3\""),
    ("token", "source = \"1 §4.2\"", "source = \"1 4.2\"", "source \"1 4.2\" is not of the form"),
    ("token", "source = \"1 §4.2\"", "source = \"\"", "source is empty"),
    ("token", "with this key.\"", "with this key\"", "doc is no sentence"),
    ("token", "with this key.\"", "with this key (A999).\"", "assumption A999 is not in assumptions.toml"),
    ("token", "length = \"..45\"", "length = \"45..\"", "length \"45..\" is not of the form"),
    ("token", "length = \"..45\"", "length = \"9..8\"", "no value can have the length \"9..8\""),
    ("token", "length = \"..45\"", "length = \"0\"", "no value can have the length \"0\""),
    (
        "token",
        "format = \"month\", length = \"2\"",
        "format = \"month\", length = \"3\"",
        "length \"3\" is impossible: a value of format \"month\" has 2 characters",
    ),
    ("enterprise", "range = \"-1..127\"", "range = \"127..-1\"", "no number lies in the range"),
    ("enterprise", "range = \"-1..127\"", "range = \"127\"", "range \"127\" is not of the form"),
    ("enterprise", "range = \"-1..127\"", "range = \"-1..127\", length = \"3\"", "a number has a range"),
    ("enterprise", "type = \"i64\"", "type = \"u64\"", "a u64 cannot be below 0"),
    ("enterprise", "type = \"i64\"", "type = \"String\"", "format \"integer\" needs type u64 or i64"),
    ("token", "type = \"CardKey\"", "type = \"u64\"", "format \"text\" does not go with type u64"),
    ("enterprise", "values = [\"ecomm\", \"moto\"], ", "", "values go with format one-of"),
    (
        "enterprise",
        "values = [\"ecomm\", \"moto\"]",
        "values = [\"ecom\", \"moto\"]",
        "value \"ecom\" is no code of PaymentSource; did you mean \"ecomm\"?",
    ),
    ("enterprise", "values = [\"ecomm\", \"moto\"]", "values = [\"moto\", \"moto\"]", "empty or stands twice"),
    ("enterprise", "length = \"..10\", values", "length = \"..3\", values", "breaks the length"),
    (
        "groups",
        "required = true, sensitive = true, spec = \"13-19",
        "required = true, spec = \"13-19",
        "needs sensitive = true",
    ),
    ("groups", "default = \"1\"", "default = \"1\", required = true", "a required field has no default"),
    ("groups", "default = \"1\"", "default = \"\"", "default is empty: leave it out"),
];

const THE_REST: &[Mistake] = &[
    ("token", "name = \"disable\"", "name = \"enable\"", "method \"/v3/token/enable\" stands twice"),
    ("token", "rust = \"EnableToken\"", "rust = \"CardKey\"", "type \"CardKey\" stands twice"),
    ("token", "rust = \"EnableToken\"", "rust = \"enable_token\"", "is no name of a Rust type"),
    ("token", "name = \"token\"", "name = \"tokens\"", "name is \"tokens\" in the table of \"token\""),
    ("token", "prefix = \"/v3/token/\"", "prefix = \"/v3/token\"", "prefix must begin and end with a slash"),
    ("token", "version = 3", "version = 4", "version must be 3 or 5"),
    ("token", "credentials = \"signed\"", "credentials = \"enterprise\"", "do not belong to version 3"),
    ("token", "reply = \"CardKeyDetails\"", "reply = \"\"", "reply is empty"),
    ("token", "retry_why = \"reads only\"", "retry_why = \"reads only.\"", "retry_why is a clause"),
    (
        "transaction",
        "output = \"Outcome<Transaction>\"",
        "output = \"Transaction\"",
        "output must be \"Outcome<Transaction>\"",
    ),
    (
        "transaction",
        "{ group = \"card\", required = true }",
        "{ group = \"card\" }",
        "group \"card\" has required fields, so it needs required = true",
    ),
    ("groups", "{ group = \"mcc\" }", "{ group = \"order\" }", "the group holds itself"),
    ("groups", "  { group = \"mcc\" },\n", "", "group \"mcc\" is used nowhere"),
    (
        "groups",
        "{ group = \"item\", repeat = true }",
        "{ group = \"item\", repeat = true, required = true }",
        "may always be empty",
    ),
    (
        "groups",
        "{ group = \"references\", inline = true }",
        "{ group = \"references\", inline = true, required = true }",
        "inline goes with none of",
    ),
    ("groups", "name = \"mcc\"", "name = \"item\"", "group \"item\" stands twice"),
    (
        "records",
        "wire = \"cardDescription\"",
        "wire = \"cardNumber\", rust = \"a\"",
        "field \"cardNumber\" stands twice",
    ),
    ("records", "wire = \"cardDescription\"", "wire = \"extra\"", "holds what the tables do not know"),
    ("records", "record = \"Card\"", "record = \"Crad\"", "record \"Crad\" is not in records.toml"),
    ("records", "record = \"Card\"", "record = \"CardKeyDetail\"", "the record holds itself"),
    (
        "records",
        "record = \"Card\"",
        "record = \"Card\", type = \"String\"",
        "exactly one of type, record, list, map and prefix",
    ),
    (
        "records",
        "essential = [\"cardKey\"]",
        "essential = [\"cardKye\"]",
        "essential \"cardKye\" is no field; did you mean \"cardKey\"?",
    ),
    ("records", "json = \"indexed\"", "json = \"index\"", "json \"index\" does not go with this row"),
    ("records", "json = \"indexed\", ", "", "a list says json ="),
    ("records", "type = \"CardNumber\"", "type = \"CardNumber\", item = \"x\"", "item goes with list only"),
    ("codes", "code = \"102\"", "code = \"101\"", "code \"101\" stands twice"),
    ("codes", "name = \"NO_DATA_SENT\"", "name = \"NoDataSent\"", "is no name of a constant"),
    ("codes", "remedy = \"retry\"", "remedy = \"retyr\"", "remedy \"retyr\" is not known; did you mean \"retry\"?"),
    ("codes", "http = 400", "http = 200", "200 is no HTTP status of an error"),
    ("codes", "assumption = 87, ", "", "a code that the sandbox invents names its assumption"),
    ("codes", "assumption = 87", "assumption = 870", "assumption A870 is not in assumptions.toml"),
    ("types", "name = \"CardKey\"", "name = \"CardUniqueIdentifier\"", "type \"CardUniqueIdentifier\" stands twice"),
    ("currencies", "code = \"AED\"", "code = \"aed\"", "is not three capital letters"),
    ("currencies", "exponent = 2", "exponent = 5", "exponent must be 0, 2, 3 or 4"),
    ("currencies", "code = \"AED\"", "code = \"AFN\"", "currency \"AFN\" stands twice"),
    ("assumptions", "number = 2\n", "number = 3\n", "number 3 where 2 is next"),
    ("assumptions", "area = \"model\"", "area = \"modle\"", "area \"modle\" is not known; did you mean \"model\"?"),
    ("assumptions", "chosen = \"", "chosen = \"\" # ", "chosen is empty"),
];

/// A copy of the tables with some mistakes in it, and what is said about them.
fn complaints(mistakes: &[Mistake]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(TABLES);
    for entry in fs::read_dir(tables).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    for (file, from, to, _) in mistakes {
        let path = folder.path().join(format!("{file}.toml"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}.toml no longer holds {from:?}, which this test replaces");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }
    checked(folder.path()).err().map(|error| error.to_string()).unwrap_or_default()
}

fn each_is_told(mistakes: &[Mistake]) {
    for mistake in mistakes {
        let said = complaints(std::slice::from_ref(mistake));
        let (file, from, to, expected) = mistake;
        let line = said.lines().find(|line| line.contains(expected));
        let line = line.unwrap_or_else(|| panic!("{file}: {from} -> {to} should say {expected:?}, but says {said:?}"));
        let place = line.strip_prefix(&format!("{TABLES}/")).and_then(|rest| rest.split(": ").next());
        let place: Vec<&str> = place.into_iter().flat_map(|place| place.split(':')).collect();
        let [_, line_number, column] = place[..] else { panic!("{line:?} has no file, line and column") };
        assert!(line_number.parse::<usize>().is_ok_and(|n| n > 0), "{line}");
        assert!(column.parse::<usize>().is_ok_and(|n| n > 0), "{line}");
    }
}

#[test]
fn nothing_is_wrong_with_the_tables() {
    assert_eq!(complaints(&[]), "");
}

#[test]
fn rows_of_a_wrong_shape_are_told() {
    each_is_told(SHAPE);
}

#[test]
fn fields_that_make_no_sense_are_told() {
    each_is_told(FIELDS);
}

#[test]
fn mistakes_in_methods_groups_records_and_codes_are_told() {
    each_is_told(THE_REST);
}

#[test]
fn a_message_holds_file_line_and_column_and_what_is_allowed() {
    let said = complaints(&[("session", "retry = \"safe\"", "retry = \"save\"", "")]);
    assert_eq!(
        said,
        "1 mistake in the tables\ncrates/pg-model/tables/session.toml:17:9: retry \"save\" is not known; did you mean \
         \"safe\"? (allowed: lookup-first, never, safe)"
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_files() {
    let mistakes = [SHAPE[0], FIELDS[0], THE_REST[0], THE_REST[26], THE_REST[32]];
    let said = complaints(&mistakes);
    for (.., expected) in mistakes {
        assert!(said.contains(expected), "{said}");
    }
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert!(said.starts_with(&format!("{} mistakes in the tables\n", lines.len())), "{said}");
    assert!(lines.is_sorted_by_key(|line| line.split(':').next().unwrap().to_owned()), "{said}");
}

#[test]
fn a_file_that_is_missing_or_not_a_table_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tokens.toml"), "").unwrap();
    let said = checked(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("crates/pg-model/tables: tokens.toml is none of the tables"), "{said}");
    assert!(said.contains("crates/pg-model/tables/token.toml:1:1: cannot be read"), "{said}");
    assert!(said.contains("crates/pg-model/tables/codes.toml:1:1: cannot be read"), "{said}");
}
