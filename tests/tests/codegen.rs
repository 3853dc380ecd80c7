//! Checks that generated documents and generated code agree: compares the OpenAPI document with the request types and
//! replies.

use std::path::PathBuf;

use pg_model::field::Field;
use pg_model::method::{AuthScheme, MethodInfo};
use pg_model::{Encoding, METHODS, Parameters, decode_into, encode};
use regex::Regex;
use serde_json::Value;

fn document() -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/openapi.yaml");
    let text =
        std::fs::read_to_string(path).expect("docs/reference/openapi.yaml exists; cargo xtask codegen writes it");
    let yaml: yaml_serde::Value = yaml_serde::from_str(&text).expect("the document is YAML");
    serde_json::to_value(yaml).expect("all keys are strings")
}

/// Follows a reference, if the node is one.
fn resolve<'d>(document: &'d Value, node: &'d Value) -> &'d Value {
    let Some(to) = node["$ref"].as_str() else { return node };
    document.pointer(to.trim_start_matches('#')).expect("a reference leads to something")
}

fn operation<'d>(document: &'d Value, method: &MethodInfo) -> &'d Value {
    &document["paths"][format!("{}{}", method.service.prefix, method.name)]["post"]
}

fn form<'d>(document: &'d Value, method: &MethodInfo) -> &'d Value {
    &operation(document, method)["requestBody"]["content"]["application/x-www-form-urlencoded"]
}

const CREDENTIALS: [&str; 6] = ["apiKey", "apiPassword", "shaSignature", "api_key", "api_password", "version"];

/// A form value as it is sent on the wire: lists are joined by commas.
fn wire_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(wire_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[test]
fn every_request_that_is_shown_is_valid() {
    let document = document();
    for method in METHODS {
        let examples = form(&document, method)["examples"].as_object().unwrap_or_else(|| panic!("{method:?} has none"));
        for (name, example) in examples {
            let pairs = example["value"].as_object().expect("a form is an object");
            let (credentials, own): (Vec<_>, Vec<_>) =
                pairs.iter().partition(|(name, _)| CREDENTIALS.contains(&name.as_str()));
            let mut parameters = Parameters::new();
            for (name, value) in own {
                parameters.push(name.as_str(), wire_text(value));
            }
            let violations = method.check_parameters(&parameters);
            assert!(violations.is_empty(), "{method:?}, {name}: {violations}");
            let expected = if method.credentials == AuthScheme::Session { 0 } else { 3 };
            assert_eq!(credentials.len(), expected, "{method:?}, {name}");
            if name == "full" {
                let shown = |field: &Field| parameters.iter().any(|(name, _)| field.is_named(name));
                assert!(method.fields.iter().all(|field| shown(field)), "{method:?}: not every parameter");
            }
        }
    }
}

/// Both encodings of a reply contain the same record and no unknown field.
#[test]
fn every_reply_that_is_shown_can_be_read() {
    let document = document();
    for method in METHODS.iter().filter(|method| method.credentials != AuthScheme::Session) {
        let content = &resolve(&document, &operation(&document, method)["responses"]["200"])["content"];
        let xml = content["application/xml"]["example"].as_str().unwrap_or_else(|| panic!("{method:?} has no XML"));
        let json = &content["application/json"]["example"];
        assert_eq!(json.is_null(), method.service.version == 5, "{method:?}: version 5 has no JSON");
        let mut written = Vec::new();
        for body in [Some(xml.to_owned()), (!json.is_null()).then(|| json.to_string())].into_iter().flatten() {
            let mut record = (method.new_reply)();
            decode_into(body.as_bytes(), &mut *record).unwrap_or_else(|error| panic!("{method:?}: {error}"));
            assert_eq!(record.missing(), None, "{method:?}");
            assert!(record.extra().is_empty(), "{method:?}: {:?}", record.extra());
            written.push(encode(&*record, Encoding::Json));
            assert!(!encode(&*record, Encoding::Xml).contains("<serviceResponse/>"), "{method:?} is empty");
        }
        assert!(written.iter().all(|one| *one == written[0]), "{method:?}: {written:?}");
    }
}

/// Returns the schema of one parameter of a method.
fn schema_of<'d>(document: &'d Value, schema: &'d Value, field: &Field) -> Option<&'d Value> {
    let schema = resolve(document, schema);
    let here = schema["properties"].get(field.wire).map(|property| resolve(document, property));
    let open = || {
        let patterns = schema["patternProperties"].as_object()?;
        let name = field.wire.replace("{n}", "7").replace('*', "X");
        let found = patterns.iter().find(|(pattern, _)| Regex::new(pattern).is_ok_and(|regex| regex.is_match(&name)));
        found.map(|(_, schema)| schema)
    };
    let parts = || schema["allOf"].as_array().into_iter().flatten();
    here.or_else(open).or_else(|| parts().find_map(|part| schema_of(document, part, field)))
}

/// The rules of a schema for one text.
struct Rules<'d> {
    pattern: Option<Regex>,
    listed: Option<&'d Vec<Value>>,
    lengths: std::ops::RangeInclusive<usize>,
}

impl<'d> Rules<'d> {
    /// Whether a text equals one of the listed words except for letter case.
    fn is_a_word_in_other_letters(&self, text: &str) -> bool {
        let words = self.listed.into_iter().flatten().filter_map(Value::as_str);
        words.into_iter().any(|word| word != text && word.eq_ignore_ascii_case(text))
    }

    fn of(schema: &'d Value) -> Self {
        let bound = |name: &str| schema[name].as_u64().and_then(|bound| bound.try_into().ok());
        Self {
            pattern: schema["pattern"].as_str().map(|pattern| Regex::new(pattern).expect("it is a pattern")),
            listed: schema["enum"].as_array(),
            lengths: bound("minLength").unwrap_or(0)..=bound("maxLength").unwrap_or(usize::MAX),
        }
    }

    fn admit(&self, text: &str) -> bool {
        self.lengths.contains(&text.chars().count())
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
            && self.listed.is_none_or(|values| values.iter().any(|value| value == text))
    }
}

/// Texts around every rule that a format or a length makes.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        "a",
        "A1",
        "a-1",
        "a b",
        "é",
        "Grüße",
        "a\nb",
        "a\u{85}b",
        "\u{7f}",
        "\0",
        "0",
        "1",
        "2",
        "-1",
        "+1",
        "01",
        "12",
        "13",
        "00",
        "1a",
        "26",
        "2030",
        "030",
        "1230",
        "1330",
        "123",
        "1234",
        "12345",
        "122030",
        "19800131",
        "19801301",
        "19800132",
        "31011980",
        "00011980",
        "5",
        "5.95",
        "5.",
        ".5",
        "1.2.3",
        "1,5",
        "GB",
        "GBP",
        "gbp",
        "GBPX",
        "G1P",
        "ecomm",
        "Ecomm",
        "moto",
        "Auth",
        "auth",
        "PreAuth",
        "purchase",
        "booking",
        "https://shop.example/a?b=c#d",
        "http://127.0.0.1:80/",
        "HTTPS://SHOP.EXAMPLE",
        "https://",
        "https:///x",
        "https://:80/",
        "ftp://a/",
        "shop.example",
        "https://a b/",
        "https://a/\"b",
        "https://a/\\b",
        "https://[::1]/",
        "https://a<b>/",
        "+447700900123",
        "00447700900123",
        "447700900123",
        "07700900123",
        "+",
        "+44 7700",
        "a@b.example",
        "a@",
        "@b",
        "a@b@c",
        "a b@c",
        "4000000000001000",
        "400000000001",
        "4000 0000",
        "collect",
        ",",
        "a,b",
    ]
    .map(str::to_owned)
    .to_vec();
    for length in [3, 8, 10, 12, 14, 16, 19, 20, 32, 45, 50, 64, 100, 128, 150, 160] {
        for character in ["7", "x", "ä"] {
            texts.extend([character.repeat(length - 1), character.repeat(length), character.repeat(length + 1)]);
        }
    }
    texts
}

/// The document accepts and refuses the same values as the validators.
#[test]
fn the_schemas_have_the_rules_of_the_validators() {
    let (document, texts) = (document(), texts());
    let mut compared = 0;
    for method in METHODS {
        for field in method.fields {
            let schema = schema_of(&document, &form(&document, method)["schema"], field)
                .unwrap_or_else(|| panic!("{method:?}: {} has no schema", field.wire));
            if schema["type"] != "string" {
                assert!(matches!(schema["type"].as_str(), Some("integer" | "array")), "{method:?}: {}", field.wire);
                continue;
            }
            let rules = Rules::of(schema);
            for text in &texts {
                let taken = field.broken_rule(text).is_none();
                // The document shows words as the specification writes them; the validators take them in any letter case.
                if taken && rules.is_a_word_in_other_letters(text) {
                    continue;
                }
                assert_eq!(rules.admit(text), taken, "{method:?}: {} with {text:?}, {schema}", field.wire);
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn required_parameters_are_required_in_the_document() {
    let document = document();
    for method in METHODS {
        let mut required = Vec::new();
        collect_required(&document, &form(&document, method)["schema"], &mut required);
        let own: Vec<&str> = required.into_iter().filter(|name| !CREDENTIALS.contains(name)).collect();
        let mut expected: Vec<&str> = method
            .fields
            .iter()
            .filter(|field| field.required && !field.wire.contains("{n}"))
            .map(|field| field.wire)
            .collect();
        expected.sort_unstable();
        let mut own_sorted = own.clone();
        own_sorted.sort_unstable();
        assert_eq!(own_sorted, expected, "{method:?}");
    }
}

fn collect_required<'d>(document: &'d Value, schema: &'d Value, required: &mut Vec<&'d str>) {
    let schema = resolve(document, schema);
    required.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str));
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect_required(document, part, required);
    }
}
