//! Replies: a schema for each record, value type and code table, and the responses that hold them.

use super::{
    super::{
        examples::{self, Sample},
        node::Node,
        tables::{CodeTable, Credentials, Empty, Method, Part, Record, Tables},
    },
    reference,
};

/// What the two encodings call themselves.
const XML: &str = "application/xml";
const JSON: &str = "application/json";
/// The outermost element of every XML reply (spec 1 §2).
const ROOT: &str = "serviceResponse";
/// The response to a browser that has posted the card form.
const REDIRECT: &str = "CardFormRedirect";

/// HTTP statuses of refusals of version 3, and their names.
const REFUSALS: &[(u16, &str, &str)] = &[
    (400, "BadRequest", "The request cannot be processed"),
    (401, "Unauthorized", "The credentials or the signature are not accepted"),
    (403, "Forbidden", "The account may not do this, or is locked out for a while"),
];
/// The same of version 5, each with an error code. The documents show no status for it.
const ENTERPRISE_REFUSALS: &[(u16, &str, &str, &str)] = &[
    (400, "EnterpriseBadRequest", "The request cannot be processed", "1"),
    (401, "EnterpriseUnauthorized", "The credentials are not accepted", "3"),
    (
        403,
        "EnterpriseForbidden",
        "The address is locked out for a while (A53), or a page of another site sent the request (A195)",
        "121",
    ),
];

/// The responses of a method, by status.
pub(super) fn of_method(method: &Method) -> Node {
    let enterprise = method.credentials == Credentials::Enterprise;
    if method.reply.is_empty() {
        return Node::map().with("303", reference("responses", REDIRECT));
    }
    let refusals: Vec<(u16, &str)> = if enterprise {
        ENTERPRISE_REFUSALS.iter().map(|(status, name, ..)| (*status, *name)).collect()
    } else {
        REFUSALS.iter().map(|(status, name, _)| (*status, *name)).collect()
    };
    let refusals = refusals.into_iter().map(|(status, name)| (status.to_string(), reference("responses", name)));
    std::iter::once(("200".to_owned(), reference("responses", &method.reply))).chain(refusals).collect()
}

/// Every response that a method may refer to.
pub(super) fn responses(tables: &Tables) -> Vec<(String, Node)> {
    let mut responses = Vec::new();
    for (_, method) in tables.methods() {
        let known = responses.iter().any(|(name, _)| *name == method.reply);
        if let Some(record) = tables.record(&method.reply).filter(|_| !known) {
            responses.push((record.name.clone(), success(tables, record, method.credentials)));
        }
    }
    responses.push((REDIRECT.to_owned(), redirect()));
    for (status, name, meaning) in REFUSALS {
        responses.push(((*name).to_owned(), refusal(tables, *status, meaning)));
    }
    for (_, name, meaning, code) in ENTERPRISE_REFUSALS {
        responses.push(((*name).to_owned(), enterprise_refusal(meaning, code)));
    }
    responses
}

fn success(tables: &Tables, record: &Record, credentials: Credentials) -> Node {
    let sample = examples::of_record(tables, record, true);
    let xml_name = if differs(record) { format!("{}Xml", record.name) } else { record.name.clone() };
    let content = Node::map().with(XML, xml(&xml_name, &sample));
    let content = match credentials {
        Credentials::Enterprise => content,
        _ => content.with(JSON, json(&record.name, &sample)),
    };
    Node::map().with("description", &record.doc).with("content", content).with("x-source", &record.source)
}

fn xml(schema: &str, sample: &Sample) -> Node {
    let schema = reference("schemas", schema).with("xml", Node::map().with("name", ROOT));
    Node::map().with("schema", schema).with("example", sample.xml())
}

fn json(schema: &str, sample: &Sample) -> Node {
    Node::map().with("schema", reference("schemas", schema)).with("example", sample.json())
}

fn redirect() -> Node {
    let location = Node::map()
        .with(
            "description",
            "A page of the merchant, with `formId`, `data` and `iv` added to its query. How the encrypted data is written as text is an assumption (A33).",
        )
        .with("required", true)
        .with("schema", Node::map().with("type", "string").with("format", "uri"))
        .with("example", "https://shop.example/next-page?formId=card-form&data=q83vEjRWeJCrze8SNFZ4kA%3D%3D&iv=0123456789abcdef");
    Node::map()
        .with(
            "description",
            "The browser is sent on: to `nextPageUrl` when all is valid, to `currentPageUrl` when a field is invalid, to the \
             `errorPageUrl` of the session when a required field is missing, and to a page of the service when no session \
             has this key. `data` is encrypted with AES-256 in CBC mode; what it holds is under `x-decrypted-data`.",
        )
        .with("headers", Node::map().with("Location", location))
        .with("x-decrypted-data", reference("schemas", "RedirectData"))
        .with("x-source", "2 §4.2")
}

/// A refusal of version 3, with the codes that have this status.
fn refusal(tables: &Tables, status: u16, meaning: &str) -> Node {
    let codes = tables.code_table("ErrorCode").map(|table| &table.codes[..]).unwrap_or_default();
    let of_status = || codes.iter().filter(|code| code.http == Some(status) && code.code.len() == 3);
    let list: String = of_status().map(|code| format!("\n- `{}` {}", code.code, code.message)).collect();
    let first = of_status().next();
    let sample = Sample::Record(vec![
        ("errorCode".to_owned(), Sample::Text(first.map_or_else(String::new, |code| code.code.clone()))),
        ("traceCode".to_owned(), Sample::Text("12345678".to_owned())),
        ("errorMessage".to_owned(), Sample::Text(first.map_or_else(String::new, |code| code.message.clone()))),
    ]);
    let content = Node::map().with(XML, xml("ServiceError", &sample)).with(JSON, json("ServiceError", &sample));
    Node::map()
        .with("description", format!("{meaning}. Which code has which status is an assumption (A40):\n{list}"))
        .with("content", content)
        .with("x-source", "2 §7")
}

/// A refusal of version 5: a number and nothing else (A39).
fn enterprise_refusal(meaning: &str, code: &str) -> Node {
    let sample = Sample::Record(vec![("errorcode".to_owned(), Sample::Text(code.to_owned()))]);
    Node::map()
        .with("description", format!("{meaning}. The status is an assumption (A39): a reply with `errorcode` is a refusal whatever its status."))
        .with("content", Node::map().with(XML, xml("EnterpriseError", &sample)))
        .with("x-source", "3 §7")
}

/// The schemas of records, value types and code tables.
pub(super) fn schemas(tables: &Tables) -> Vec<(String, Node)> {
    let mut schemas = Vec::new();
    for record in &tables.records {
        schemas.push((record.name.clone(), schema(record, false)));
        if differs(record) {
            schemas.push((format!("{}Xml", record.name), schema(record, true)));
        }
    }
    for newtype in &tables.types {
        let node =
            Node::map().with("type", "string").with("description", &newtype.doc).with("x-source", &newtype.source);
        schemas.push((newtype.name.clone(), node));
    }
    schemas.extend(tables.codes.iter().map(|table| (table.name.clone(), code_table(table))));
    let hand_written = [
        ("Currency", "Currency by its ISO 4217 code.", "2 §4.3"),
        ("Decimal", "Amount in units of the currency, such as 5.95.", "3 §2"),
        ("CardNumber", "Masked card number: digits and asterisks.", "1 §2.1"),
        ("Cv2", "Security code; replies never show it.", "2 §2.2"),
        ("Secret", "Text about a person that belongs in no log.", "3 §2.1"),
    ];
    schemas.extend(hand_written.map(|(name, doc, source)| {
        (name.to_owned(), Node::map().with("type", "string").with("description", doc).with("x-source", source))
    }));
    schemas
}

fn code_table(table: &CodeTable) -> Node {
    let codes: Node = table
        .codes
        .iter()
        .map(|code| {
            let facts = Node::map()
                .with("name", &code.name)
                .with("message", &code.message)
                .with("description", &code.doc)
                .with_some("remedy", code.remedy.as_ref())
                .with_some("status", code.http)
                .with("source", &code.source);
            (code.code.clone(), facts)
        })
        .collect();
    Node::map()
        .with("type", "string")
        .with("description", format!("{} Other values may occur.", table.doc))
        .with("x-codes", codes)
        .with("x-source", &table.source)
}

/// Whether a record has another shape in XML than in JSON: a list that JSON shows as an object keyed by index.
fn differs(record: &Record) -> bool {
    record.fields.iter().any(|part| part.json.as_deref() == Some("indexed"))
}

fn schema(record: &Record, in_xml: bool) -> Node {
    let fixed = record.fields.iter().filter(|part| part.prefix.is_none());
    let properties: Node = fixed.map(|part| (&part.wire, property(record, part, in_xml))).collect();
    let open = record.fields.iter().filter_map(|part| Some((format!("^{}", part.prefix.as_ref()?), part)));
    let patterns: Node =
        open.map(|(pattern, part)| (pattern, described(Node::map().with("type", "string"), part))).collect();
    Node::map()
        .with("type", "object")
        .with("description", if in_xml { format!("{} As XML.", record.doc) } else { record.doc.clone() })
        .with_filled("properties", properties)
        .with_filled("patternProperties", patterns)
        .with_filled("required", record.essential.clone())
        .with("x-source", &record.source)
}

fn property(record: &Record, part: &Part, in_xml: bool) -> Node {
    let node = if let Some(inner) = &part.record {
        reference("schemas", inner)
    } else if let Some(inner) = &part.map {
        Node::map().with("type", "object").with("additionalProperties", reference("schemas", inner))
    } else if let Some(inner) = &part.list {
        list(inner, part, in_xml)
    } else {
        let kind = part.kind.as_deref().unwrap_or("String");
        let known = kind != "String";
        let kept = record.empty == Empty::Keep || part.beside.is_some();
        let empty = kept && !record.essential.contains(&part.wire);
        match (part.json.as_deref() == Some("number"), known, empty) {
            (true, ..) => Node::map().with("type", vec!["integer", "string", "null"]),
            (_, true, false) => reference("schemas", kind),
            (_, true, true) => {
                let null = Node::map().with("type", "null");
                Node::map().with("anyOf", vec![reference("schemas", kind), null])
            }
            (_, false, false) => Node::map().with("type", "string"),
            (_, false, true) => Node::map().with("type", vec!["string", "null"]),
        }
    };
    described(node, part)
}

fn list(inner: &str, part: &Part, in_xml: bool) -> Node {
    if part.json.as_deref() == Some("indexed") && !in_xml {
        let keys = Node::map().with("pattern", "^[0-9]+$");
        return Node::map()
            .with("type", "object")
            .with("propertyNames", keys)
            .with("additionalProperties", reference("schemas", inner));
    }
    let item = part.item.as_deref().unwrap_or("item");
    Node::map()
        .with("type", "array")
        .with("items", reference("schemas", inner).with("xml", Node::map().with("name", item)))
        .with("xml", Node::map().with("name", &part.wire).with("wrapped", true))
}

fn described(node: Node, part: &Part) -> Node {
    node.with("description", &part.doc).with("x-source", &part.source).with_filled("x-aliases", part.aliases.clone())
}
