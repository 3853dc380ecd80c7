//! `docs/reference/openapi.yaml` is OpenAPI 3.1 and shows every method of the tables, and nothing else.
//!
//! The types of the `oas3` crate check its structure. The tests here check what types cannot: that every
//! reference resolves, that names are unique, that nothing required is missing. A validator
//! from outside the Rust ecosystem checks it again in `cargo xtask test`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text() -> String {
    std::fs::read_to_string(root().join("docs/reference/openapi.yaml"))
        .expect("docs/reference/openapi.yaml exists; cargo xtask codegen writes it")
}

/// The document as plain values. The detour over YAML's own values refuses duplicate keys.
fn document() -> Value {
    let yaml: yaml_serde::Value = yaml_serde::from_str(&text()).expect("the document is YAML without duplicate keys");
    serde_json::to_value(yaml).expect("all keys are strings")
}

/// Every operation with its path and method.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths is an object");
    paths
        .iter()
        .flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| Some((path.as_str(), *method, item.get(*method)?)))
        })
        .collect()
}

/// Calls `visit` with every value of the document and the JSON pointer to it.
fn walk(value: &Value, pointer: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(pointer, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            walk(member, &format!("{pointer}/{key}"), visit);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| walk(item, &format!("{pointer}/{index}"), visit));
        }
        _ => {}
    }
}

/// The value at the pointer of a reference. Percent-encoding is not supported, because the document does not use it.
fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}

#[test]
fn the_document_has_the_shape_of_openapi_3_1() {
    let spec = oas3::from_yaml(text()).expect("the document has the types of OpenAPI 3.1");
    let version = spec.validate_version().expect("the version is one that oas3 knows");
    assert_eq!((version.major, version.minor), (3, 1));
    assert!(!spec.info.title.is_empty());
    assert!(!spec.info.version.is_empty());
    for (path, method, operation) in spec.operations() {
        operation.parameters(&spec).unwrap_or_else(|error| panic!("parameters of {method} {path}: {error}"));
        operation.request_body(&spec).unwrap_or_else(|error| panic!("request body of {method} {path}: {error}"));
        assert_eq!(operation.responses(&spec).len(), operation.responses.as_ref().map_or(0, |all| all.len()), "{path}");
    }
}

#[test]
fn the_document_has_exactly_the_methods_of_the_tables() {
    let mut expected = BTreeSet::new();
    for service in ["token", "session", "transaction", "enterprise"] {
        let path = root().join(format!("crates/pg-model/tables/{service}.toml"));
        let table: toml::Table = std::fs::read_to_string(path).expect("the table exists").parse().expect("it is TOML");
        let prefix = table["service"]["prefix"].as_str().expect("a service has a prefix");
        for method in table["method"].as_array().expect("a service has methods") {
            expected.insert(format!("{prefix}{}", method["name"].as_str().expect("a method has a name")));
        }
    }
    let document = document();
    let shown: BTreeSet<String> = operations(&document).into_iter().map(|(path, ..)| path.to_owned()).collect();
    assert_eq!(shown, expected);
}

/// The sandbox refuses a search without a key, and a token that expires at its start.
#[test]
fn examples_of_searches_have_a_key_and_tokens_end_after_their_start() {
    let document = document();
    let example = |path: &str, name: &str| {
        let form = &document["paths"][path]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"];
        form["examples"][name]["value"].clone()
    };
    assert!(example("/v3/token/lookup", "minimal")["cardKey"].is_string());
    assert!(example("/v3/transaction/lookup", "minimal")["transactionKey"].is_string());
    let token = example("/gettoken", "full");
    assert!(token["token_start"].as_u64() < token["token_expiry"].as_u64(), "{token}");
}

#[test]
fn every_reference_leads_to_something_of_its_kind() {
    let document = document();
    let mut count = 0;
    walk(&document, "", &mut |pointer, value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let target = resolve(&document, reference);
            assert!(target.is_some_and(Value::is_object), "{pointer} refers to {reference}, which is not there");
            count += 1;
        }
    });
    assert!(count > 0, "groups and replies are defined once and referred to");
}

#[test]
fn every_component_is_used() {
    let document = document();
    let mut used = BTreeSet::new();
    walk(&document, "", &mut |_, value| {
        used.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    let components = document["components"].as_object().expect("components is an object");
    for (kind, members) in components.iter().filter(|(kind, _)| *kind != "securitySchemes") {
        for name in members.as_object().expect("components are named").keys() {
            let reference = format!("#/components/{kind}/{name}");
            let refers_to_it =
                |to: &String| to.strip_prefix(&reference).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            assert!(used.iter().any(refers_to_it), "{reference} is never referred to");
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
            assert!(plain, "{reference} is not an allowed component name");
        }
    }
}

#[test]
fn operations_have_unique_names_and_described_responses() {
    let document = document();
    let mut seen = BTreeMap::new();
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no operationId"));
        assert_eq!(seen.insert(id.to_owned(), path), None, "{id} is used twice, the second time by {path}");
        let responses =
            operation["responses"].as_object().unwrap_or_else(|| panic!("{method} {path} has no responses"));
        assert!(!responses.is_empty(), "{method} {path} has no responses");
        for (status, response) in responses {
            let known = status == "default"
                || status.parse::<u16>().is_ok_and(|code| (100..600).contains(&code))
                || matches!(status.as_str(), "1XX" | "2XX" | "3XX" | "4XX" | "5XX");
            assert!(known, "{path}: {status} is not a status");
            let response = response["$ref"].as_str().map_or(Some(response), |to| resolve(&document, to));
            let description = response.and_then(|response| response["description"].as_str());
            assert!(description.is_some_and(|text| !text.is_empty()), "{path} {status} is not described");
        }
        assert!(!path.contains('{'), "{path}: no method of the service has a parameter in its path");
    }
}

#[test]
fn security_requirements_name_schemes_that_exist() {
    let document = document();
    let schemes = &document["components"]["securitySchemes"];
    let of_operations = operations(&document).into_iter().map(|(path, _, operation)| (path, &operation["security"]));
    for (place, requirements) in of_operations.chain([("the document", &document["security"])]) {
        for requirement in requirements.as_array().into_iter().flatten() {
            for name in requirement.as_object().expect("a requirement is an object").keys() {
                assert!(schemes.get(name).is_some(), "{place} requires {name}, which is not a security scheme");
            }
        }
    }
}

#[test]
fn schemas_are_sound() {
    const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
    let document = document();
    let mut typed = 0;
    walk(&document, "", &mut |pointer, value| {
        let examples = pointer.contains("/example") || pointer.ends_with("/properties") || pointer.contains("/default");
        let Some(schema) = value.as_object().filter(|_| !examples) else { return };
        if let Some(kind) = schema.get("type").filter(|_| pointer.contains("/schema")) {
            let kinds: Vec<&str> = kind
                .as_str()
                .into_iter()
                .chain(kind.as_array().into_iter().flatten().filter_map(Value::as_str))
                .collect();
            assert!(!kinds.is_empty() && kinds.iter().all(|kind| TYPES.contains(kind)), "{pointer}: type {kind}");
            typed += 1;
            assert!(!kinds.contains(&"array") || schema.contains_key("items"), "{pointer}: an array of what?");
        }
        if let (Some(required), Some(properties)) =
            (schema.get("required").and_then(Value::as_array), schema.get("properties"))
        {
            let names: BTreeSet<&str> = required.iter().filter_map(Value::as_str).collect();
            assert_eq!(names.len(), required.len(), "{pointer}: required names are unique strings");
            assert!(
                names.iter().all(|name| properties.get(name).is_some()),
                "{pointer}: a required name is not a property"
            );
        }
        assert!(!schema.contains_key("nullable"), "{pointer}: nullable is OpenAPI 3.0");
        if let Some(pattern) = schema.get("pattern") {
            assert!(pattern.as_str().is_some_and(|pattern| !pattern.is_empty()), "{pointer}: pattern");
        }
        if let (Some(least), Some(most)) = (schema.get("minLength"), schema.get("maxLength")) {
            assert!(least.as_u64() <= most.as_u64(), "{pointer}: minLength is above maxLength");
        }
    });
    assert!(typed > 0, "the document has schemas");
}

// spec: 1 §7, A40; 3 §7, A39: Refusals have HTTP 400, 401 or 403 in both versions. 500 is a failure of the sandbox, not of a request.
#[test]
fn every_status_of_an_error_code_is_listed_for_every_method() {
    let path = root().join("crates/pg-model/tables/codes.toml");
    let table: toml::Table = std::fs::read_to_string(path).expect("the table exists").parse().expect("it is TOML");
    let tables = table["table"].as_array().expect("it has tables");
    let codes = tables.iter().flat_map(|table| table["codes"].as_array().expect("a table has codes"));
    let statuses = codes.filter_map(|code| code.get("http")?.as_integer()).filter(|status| *status < 500);
    let statuses: BTreeSet<String> = statuses.map(|status| status.to_string()).collect();
    assert_eq!(statuses.len(), 3, "{statuses:?}");
    let document = document();
    for (path, _, operation) in operations(&document) {
        let listed = operation["responses"].as_object().expect("there are responses");
        // The card form is answered with a redirect.
        if !listed.contains_key("303") {
            assert!(statuses.iter().all(|status| listed.contains_key(status)), "{path}: {:?}", listed.keys());
        }
        for status in &statuses {
            let Some(response) = listed.get(status) else { continue };
            let response = resolve(&document, response["$ref"].as_str().expect("a reference")).expect("a response");
            let example = response["content"]["application/xml"]["example"].to_string().to_ascii_lowercase();
            let code = example.split("<errorcode>").nth(1).and_then(|rest| rest.chars().next());
            assert!(code.is_some_and(|digit| digit.is_ascii_digit()), "{path} {status}: {example}");
        }
    }
}

// spec: 1 §5, A27; 2 §4.2; 3 §4
#[test]
fn credentials_are_marked_as_secrets_and_signatures_are_in_small_letters() {
    let document = document();
    let property = |schema: &str, name: &str| &document["components"]["schemas"][schema]["properties"][name];
    for (schema, names) in
        [("SignedCredentials", ["apiKey", "apiPassword"]), ("EnterpriseCredentials", ["api_key", "api_password"])]
    {
        for name in names {
            let said = property(schema, name);
            assert_eq!((&said["x-sensitive"], &said["format"]), (&true.into(), &"password".into()), "{name}");
        }
    }
    assert_eq!(property("SignedCredentials", "shaSignature")["pattern"], "^[0-9a-f]{128}$");
}
