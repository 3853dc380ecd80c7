//! Neither errors nor `Debug` show a card number, a CV2, or anything else that the tables call sensitive.

use std::fmt::Debug;

use pg_model::{ApiRequest, METHODS, Parameters, Rule, each_method, field::Field, format::Format, method::EachMethod};

use crate::requests::methods::names;

const PAN: &str = "4929000000000006";
const CV2: &str = "7531";
const CANARY: &str = "CANARY-9c1f";

/// The test value of a sensitive field, and the part of it that must not be shown.
fn secret(field: &Field) -> (&'static str, &'static str) {
    match field.format {
        Format::CardNumber => (PAN, "9290000"),
        Format::Cv2 => (CV2, CV2),
        _ => (CANARY, CANARY),
    }
}

struct DebugHides;

impl EachMethod for DebugHides {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        let mut parameters = Parameters::new();
        let mut hidden = Vec::new();
        for field in M::INFO.fields {
            for name in names(field, 2) {
                match field.format {
                    _ if field.sensitive => {
                        let (value, never) = secret(field);
                        parameters.push(name, value);
                        hidden.push((field.wire, never));
                    }
                    Format::Integer | Format::Minor | Format::UnixTime => parameters.push(name, "1"),
                    _ => parameters.push(name, "x"),
                }
            }
        }
        let request = M::from_parameters(&parameters).expect("a request");
        let violations = request.check();
        for shown in [
            format!("{request:?}"),
            format!("{request:#?}"),
            format!("{violations:?} {violations}"),
            format!("{parameters:?}"),
        ] {
            for (wire, never) in &hidden {
                assert!(!shown.contains(never), "{:?} shows {wire}: {shown}", M::INFO);
            }
        }
    }
}

#[test]
fn requests_hide_what_is_sensitive() {
    each_method(&mut DebugHides);
}

#[test]
fn card_numbers_and_cv2s_are_sensitive_wherever_they_occur() {
    for method in METHODS {
        for field in method.fields {
            let is_secret = matches!(field.format, Format::CardNumber | Format::Cv2);
            assert!(!is_secret || field.sensitive, "{method:?} {}", field.wire);
        }
    }
}

/// Broken rules about sensitive fields say how long the value was, and no more.
#[test]
fn violations_of_sensitive_fields_show_nothing_of_the_value() {
    for method in METHODS {
        for field in method.fields.iter().filter(|field| field.sensitive) {
            for wrong in [format!("{CANARY}\u{7}"), format!("{PAN}{PAN}"), "75\u{7}31".into(), format!("{CV2}{CV2}")] {
                let parameters = Parameters::from_iter([(field.wire, wrong.as_str())]);
                let found = method.check_parameters(&parameters);
                let shown = format!("{found:?} {found}");
                for never in [CANARY, "9290000", CV2] {
                    assert!(!shown.contains(never), "{method:?} {}: {shown}", field.wire);
                }
            }
        }
    }
}

/// A card number that ended up in the wrong parameter, or in a name, is masked all the same.
#[test]
fn a_card_number_in_the_wrong_place_is_masked() {
    for method in METHODS {
        for field in method.fields {
            for name in names(field, 1) {
                for wrong in
                    [format!("{PAN}\u{7}"), format!("{} x\u{7}", PAN.repeat(30)), "4929 0000 0000 0006\u{7}".to_owned()]
                {
                    let found = method.check_parameters(&Parameters::from_iter([(name.as_str(), wrong.as_str())]));
                    let shown = format!("{found:?} {found}");
                    assert!(!shown.contains("9290000") && !shown.contains("29 0000 00"), "{method:?} {name}: {shown}");
                }
            }
        }
        let parameters = Parameters::from_iter([(PAN, "x"), ("other", PAN)]);
        let found = method.check_parameters(&parameters);
        assert_eq!(found.iter().filter(|violation| violation.rule == Rule::Unknown).count(), 2);
        let shown = format!("{found:?} {found} {parameters:?}");
        assert!(!shown.contains(PAN), "{method:?}: {shown}");
    }
}
