//! Requests: a schema for each method and each group, and the form that they make.

use super::{
    super::{
        examples,
        node::Node,
        tables::{Credentials, Field, Group, Method, Retry, Row, Service, Tables},
    },
    property::property,
    reference,
};

/// The number of an item: no leading zero, at most six digits.
const NUMBER: &str = "(0|[1-9][0-9]{0,5})";

/// The form of a method, with examples.
pub(super) fn body(tables: &Tables, method: &Method) -> Node {
    let own_encodings = tables.flatten(&method.fields).into_iter().filter(|field| field.kind.starts_with("Vec<"));
    // A list is one parameter, joined by commas.
    let joined = Node::map().with("style", "form").with("explode", false);
    let encoding: Node = own_encodings.map(|field| (&field.wire, joined.clone())).collect();
    let form = Node::map()
        .with("schema", reference("schemas", &method.rust))
        .with_filled("encoding", encoding)
        .with("examples", examples_of(tables, method));
    Node::map().with("required", true).with("content", Node::map().with("application/x-www-form-urlencoded", form))
}

/// The schemas of credentials, groups and methods.
pub(super) fn schemas(tables: &Tables) -> Vec<(String, Node)> {
    let mut schemas = credentials();
    for group in &tables.groups {
        schemas.push((group.rust.clone(), group_schema(tables, group)));
    }
    for (service, method) in tables.methods() {
        schemas.push((method.rust.clone(), method_schema(tables, service, method)));
    }
    schemas
}

const fn credentials_name(credentials: Credentials) -> Option<&'static str> {
    match credentials {
        Credentials::Signed => Some("SignedCredentials"),
        Credentials::Session => None,
        Credentials::Enterprise => Some("EnterpriseCredentials"),
    }
}

fn credentials() -> Vec<(String, Node)> {
    let text =
        |doc: &str, pattern: &str| Node::map().with("type", "string").with("description", doc).with("pattern", pattern);
    let secret = |doc: &str, pattern: &str| text(doc, pattern).with("format", "password").with("x-sensitive", true);
    let signed = Node::map()
        .with("apiKey", secret("Key of the account.", "^[A-Za-z0-9]+$"))
        .with("apiPassword", secret("Password of the account.", "^[A-Za-z0-9]+$"))
        .with(
            "shaSignature",
            text("SHA-512 over the parameters and the SHA key, in hexadecimal digits.", "^[0-9a-f]{128}$"),
        );
    let version =
        Node::map().with("type", "integer").with("description", "Version of the service.").with("enum", vec![5_i64]);
    let enterprise = Node::map()
        .with(
            "api_key",
            secret("Key of the account.", "^[^\\u0000-\\u001F\\u007F-\\u009F]+$").with("maxLength", 32_i64),
        )
        .with(
            "api_password",
            secret("Password of the account.", "^[^\\u0000-\\u001F\\u007F-\\u009F]+$").with("maxLength", 32_i64),
        )
        .with("version", version);
    let object = |doc: &str, source: &str, properties: Node, required: Vec<&str>| {
        Node::map()
            .with("type", "object")
            .with("description", doc)
            .with("properties", properties)
            .with("required", required)
            .with("x-source", source)
    };
    let doc = "Credentials of every request of version";
    vec![
        (
            "SignedCredentials".to_owned(),
            object(&format!("{doc} 3."), "1 §5", signed, vec!["apiKey", "apiPassword", "shaSignature"]),
        ),
        (
            "EnterpriseCredentials".to_owned(),
            object(&format!("{doc} 5."), "3 §4", enterprise, vec!["api_key", "api_password", "version"]),
        ),
    ]
}

/// The object of a group, including the fields of its groups.
fn group_schema(tables: &Tables, group: &Group) -> Node {
    let mut object = Object::default();
    for row in &group.fields {
        match row {
            Row::Group(row) => {
                object.parts.extend(tables.group(&row.group).map(|group| reference("schemas", &group.rust)))
            }
            Row::Field(field) => object.add(field, property(field)),
        }
    }
    object.node(&group.doc, &group.source)
}

/// The form of a method: every parameter by its name, so that tools which do not put objects together see it too. What
/// several methods share is referred to where it is defined.
fn method_schema(tables: &Tables, service: &Service, method: &Method) -> Node {
    let mut object = Object::default();
    if let Some(name) = credentials_name(method.credentials) {
        for (wire, _) in credentials_example(method.credentials) {
            object.properties.push((wire.clone(), property_of(name, &wire)));
            object.required.push(wire);
        }
    }
    collect(tables, &method.fields, None, &mut object);
    object.node(&format!("Parameters of `{}{}`.", service.info.prefix, method.name), &method.source)
}

/// The fields of a method; those of a group are references to it.
fn collect(tables: &Tables, rows: &[Row], of: Option<&Group>, object: &mut Object) {
    for row in rows {
        match (row, of) {
            (Row::Group(row), _) => match tables.group(&row.group) {
                // Names that end in a number go by patterns, which are not names to refer to.
                Some(group) if row.repeat => object.parts.push(reference("schemas", &group.rust)),
                Some(group) => collect(tables, &group.fields, Some(group), object),
                None => {}
            },
            (Row::Field(field), None) => object.add(field, property(field)),
            (Row::Field(field), Some(group)) => object.add(field, property_of(&group.rust, &field.wire)),
        }
    }
}

/// A reference to one property of a schema.
fn property_of(schema: &str, wire: &str) -> Node {
    reference("schemas", &format!("{schema}/properties/{wire}"))
}

/// The content of an object's schema.
#[derive(Default)]
struct Object {
    parts: Vec<Node>,
    properties: Vec<(String, Node)>,
    patterns: Vec<(String, Node)>,
    required: Vec<String>,
}

impl Object {
    /// A parameter with several names is a pattern.
    fn add(&mut self, field: &Field, node: Node) {
        if let Some(pattern) = names_pattern(field) {
            self.patterns.push((pattern, node));
            return;
        }
        self.properties.push((field.wire.clone(), node));
        if field.required {
            self.required.push(field.wire.clone());
        }
    }

    fn node(self, doc: &str, source: &str) -> Node {
        Node::map()
            .with("type", "object")
            .with("description", doc)
            .with_filled("allOf", self.parts)
            .with_filled("properties", Node::Map(self.properties))
            .with_filled("patternProperties", Node::Map(self.patterns))
            .with_filled("required", self.required)
            .with("x-source", source)
    }
}

/// The pattern of a field's names, if it has more than one.
fn names_pattern(field: &Field) -> Option<String> {
    if let Some(prefix) = &field.prefix {
        return Some(format!("^{prefix}"));
    }
    let (before, after) = field.wire.split_once("{n}")?;
    let escape = |text: &str| text.replace('[', "\\[").replace(']', "\\]");
    Some(format!("^{}{NUMBER}{}$", escape(before), escape(after)))
}

/// The least that a request can hold, and all of it. A rule between fields may make the first one too little; a payment
/// always shows the reference that it can be found by, and a search its first key, since one without a key is refused.
fn examples_of(tables: &Tables, method: &Method) -> Node {
    let fields = tables.flatten(&method.fields);
    let searches = method.retry == Retry::Safe && !fields.iter().any(|field| field.required);
    let first = fields.first().filter(|_| searches).map(|field| field.wire.as_str());
    let wanted = |field: &Field| {
        field.required
            || first == Some(field.wire.as_str())
            || (method.retry == Retry::LookupFirst && field.kind == "UniqueMerchantReference")
    };
    let credentials = credentials_example(method.credentials);
    let example = |summary: &str, own: Vec<(String, Node)>| {
        let value = credentials.iter().cloned().chain(own).collect::<Node>();
        Node::map().with("summary", summary).with("value", value)
    };
    let least = form(tables, &method.fields, &wanted);
    let all = form(tables, &method.fields, &|_| true);
    if method.cross || least == all {
        return Node::map().with("full", example("Every parameter", all));
    }
    Node::map().with("minimal", example("No more than it needs", least)).with("full", example("Every parameter", all))
}

fn form(tables: &Tables, rows: &[Row], wanted: &dyn Fn(&Field) -> bool) -> Vec<(String, Node)> {
    let fields = tables.flatten(rows).into_iter().filter(|field| wanted(field));
    fields.map(|field| (examples::name(&field.name()), examples::of_field(tables, field))).collect()
}

fn credentials_example(credentials: Credentials) -> Vec<(String, Node)> {
    let pairs: Vec<(&str, Node)> = match credentials {
        Credentials::Signed => vec![
            ("apiKey", "0123456789abcdef0123456789abcdef".into()),
            ("apiPassword", "examplePassword".into()),
            ("shaSignature", "0123456789abcdef".repeat(8).into()),
        ],
        Credentials::Session => Vec::new(),
        Credentials::Enterprise => {
            vec![
                ("api_key", "exampleKey".into()),
                ("api_password", "examplePassword".into()),
                ("version", Node::Number(5)),
            ]
        }
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
