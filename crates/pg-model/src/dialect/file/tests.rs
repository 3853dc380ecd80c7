use alloc::string::ToString as _;

use super::*;

/// The messages for a file.
fn said(text: &str) -> String {
    Dialect::from_toml(text).expect_err("it is wrong").to_string()
}

#[test]
fn every_mistake_is_reported_with_its_line_and_a_remedy() {
    for (text, wanted) in [
        ("decline = []", "line 1, column 1: unknown field `decline`, expected one of"),
        (
            "[[declined]]\ncode = 651\nassumption = 11",
            "line 2, column 8: invalid type: integer `651`, expected a string",
        ),
        (
            "[[declined]]\ncode = \"651\"\nassumption = -1",
            "line 3, column 14: invalid value: integer `-1`, expected a whole number",
        ),
        ("[[declined]]\ncode = \"651\"", "line 1, column 1: missing field `assumption`"),
        (
            "[[declined]]\ncode = \"6 1\"\nassumption = 11",
            "line 2, column 8: \"6 1\" is not a code; write 1 to 16 letters and digits, such as \"123\"",
        ),
        (
            "[[error]]\ncode = \"7\"\nassumption = 92\n[[error]]\ncode = \"7\"\nassumption = 92",
            "line 5, column 8: code \"7\" is already in line 2; keep one",
        ),
        (
            "[[error]]\ncode = \"7\"\nassumption = 92\nsituations = [\"duplicate-unique-referense\"]",
            "line 4, column 15: \"duplicate-unique-referense\" is not a situation of an error; did you mean \
             \"duplicate-unique-reference\"?",
        ),
        ("[[error]]\ncode = \"7\"\nassumption = 0", "line 3, column 14: write the number of the assumption"),
        (
            "[[error]]\ncode = \"7\"\nassumption = 1\nhttp = 99",
            "line 4, column 8: 99 is not an HTTP status of a reply; use 200 to 599",
        ),
        (
            "[[authentication]]\ncode = \"608\"\nmeans = \"authenticated\"\nassumption = 106",
            "line 3, column 9: the documents call 608 Failed (spec 2 §2.3), so it cannot mean \"authenticated\"",
        ),
        (
            "[[authentication]]\ncode = \"607\"\nmeans = \"failed\"\nassumption = 106",
            "line 3, column 9: the documents call 607 Success (spec 2 §2.3), so it cannot mean \"failed\"",
        ),
        (
            "[[authentication]]\ncode = \"600\"\nmeans = \"timed-out\"\nassumption = 106",
            "line 3, column 9: the documents call 600 approved (spec 2 §2.3), so it cannot mean \"timed-out\"",
        ),
        ("[[error]]\ncode = \"119\"\nassumption = 1", "line 2, column 8: 119 leaves open whether"),
        (
            "[[error]]\ncode = \"7\"\nassumption = 1\nscope = \"always\"",
            "line 4, column 9: a code that is looked up says nothing about other copies, so this scope has no effect: add another \
             remedy",
        ),
        (
            "[lookup]\nnothing = \"none\"",
            "line 2, column 11: \"none\" is not known; write \"empty-list\" or \"error\" or \"not-found\"",
        ),
        (
            "[lookup]\nnothing = \"error\"",
            "line 2, column 11: needs an [[error]] with situations = [\"unknown-transaction-key\"]",
        ),
        (
            "[checkout]\nfailed = [\"Declined\", \"Success\"]",
            "line 2, column 23: the documents say that Success means paid (spec 3 §4.8); leave it out",
        ),
        (
            "[checkout]\npaid = [\"X\"]\npending = [\"X\"]",
            "line 3, column 12: status text \"X\" is already in line 2; keep one",
        ),
        (
            "[session_data]\nkey = \"md5\"",
            "line 2, column 7: \"md5\" is not known; write \"verbatim\" or \"sha256\" or \"hex\"",
        ),
    ] {
        let said = said(text);
        assert!(said.starts_with(wanted), "{text}\n{said}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_their_lines() {
    let text =
        "refused_reference = \"gone\"\n[lookup]\nnothing = \"none\"\n[[declined]]\ncode = \"600\"\nassumption = 11";
    let error = Dialect::from_toml(text).unwrap_err();
    assert_eq!(error.mistakes.iter().map(|mistake| mistake.line).collect::<Vec<_>>(), [1, 3, 5]);
}

#[test]
fn a_written_dialect_reads_back_as_the_same() {
    let text = "name = \"a \\\"b\\\" \\\\ \\u0007\"\nrefused_reference = \"free\"\nshared_codes = true\n[lookup]\nnothing = \"error\"\nimmediate = true\nfound_by_initiation = true\n\
        [checkout]\npaid = [\"SUCCESS\"]\npending = [\"Waiting\"]\nfailed = [\"Failed\", \"No\"]\nrefused_cancel_means_ended = true\n\
        cancel_closes_open_pages = true\nfound_by_reference = true\n\
        [session_data]\nkey = \"sha256\"\niv = \"hex\"\npadding = \"zero\"\ntext = \"base64-url\"\n\
        [[declined]]\ncode = \"651\"\nsituations = [\"insufficient-funds\"]\nmessage = \"no\"\nassumption = 87\n\
        [[pending]]\ncode = \"652\"\nmessage = \"wait\"\nassumption = 11\n\
        [[authentication]]\ncode = \"70\"\nmeans = \"timed-out\"\nassumption = 106\n\
        [[error]]\ncode = \"404\"\nsituations = [\"unknown-transaction-key\"]\nhttp = 404\nmessage = \"gone\"\n\
        remedy = \"look-up\"\nscope = \"while-it-lasts\"\nassumption = 57\n";
    let dialect = Dialect::from_toml(text).unwrap();
    assert_eq!(Dialect::from_toml(&dialect.to_toml()).unwrap(), dialect);
    assert_eq!(Dialect::from_toml(&Dialect::documented().to_toml()).unwrap(), Dialect::documented());
    assert!(dialect.proves_nothing_there(EmptyLookup::Error) && !dialect.proves_nothing_there(EmptyLookup::EmptyList));
}
