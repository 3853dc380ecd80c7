//! The page of a service: its methods with all their parameters.

use super::{
    super::{
        formats::{self, bounds, range_bounds},
        openapi::retry_class,
        tables::{Credentials, Field, Method, Row, Service, Tables},
    },
    markdown::{anchor, code, table, text},
};

/// A parameter of a method, and where its value is in the Rust request.
struct Parameter<'t> {
    field: &'t Field,
    path: String,
}

pub(super) fn page(tables: &Tables, service: &Service) -> String {
    let info = &service.info;
    let mut page = format!(
        "# {}\n\n{}\n\nVersion {}, methods below `{}` (spec {}). [How to read this](README.md).\n\n",
        info.title,
        text(&info.doc),
        info.version,
        info.prefix,
        info.source
    );
    let rows = service.methods.iter().map(|method| {
        vec![
            format!("[{}](#{})", text(&method.name), anchor(&method.name)),
            text(&method.title),
            code(&method.rust),
            reply(method),
            format!("[{}](README.md#retry-classes)", retry_class(method.retry)),
        ]
    });
    page += &table(&["Method", "What it is", "Rust", "Reply", "Retry"], rows);
    for method in &service.methods {
        page += &section(tables, service, method);
    }
    page
}

fn section(tables: &Tables, service: &Service, method: &Method) -> String {
    let path = format!("{}{}", service.info.prefix, method.name);
    let encodings = if service.info.version == 3 { ", or with `/xml` or `/json` at its end" } else { "" };
    let mut section = format!(
        "## {}\n\n{}. {}\n\n- **Path:** `POST {path}`{encodings}\n- **Rust:** `{}`\n- **Credentials:** {}\n\
         - **Retry:** {}, because: {}\n- **Reply:** {}\n- **Source:** spec {}\n\n",
        text(&method.name),
        text(&method.title),
        text(&method.doc),
        method.rust,
        credentials(method.credentials),
        retry_class(method.retry),
        text(&method.retry_why),
        reply(method),
        method.source,
    );
    let mut parameters = Vec::new();
    collect(tables, &method.fields, "", &mut parameters);
    section += &table(
        &["Parameter", "Rust", "Format", "Length or range", "Required", "Default", "Sensitive", "Meaning", "Source"],
        parameters.iter().map(row),
    );
    if method.cross {
        section += "A further rule concerns several of these parameters together; it is in `crates/pg-model/src/cross.rs`.\n\n";
    }
    section
}

fn collect<'t>(tables: &'t Tables, rows: &'t [Row], path: &str, parameters: &mut Vec<Parameter<'t>>) {
    for row in rows {
        match row {
            Row::Field(field) => parameters.push(Parameter { field, path: format!("{path}{}", field.rust_name()) }),
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                let name = row.rust.as_ref().unwrap_or(&row.group);
                let inner = match (row.inline, row.repeat) {
                    (true, _) => path.to_owned(),
                    (_, true) => format!("{path}{name}s[n]."),
                    _ => format!("{path}{name}."),
                };
                collect(tables, &group.fields, &inner, parameters);
            }
        }
    }
}

fn row(parameter: &Parameter<'_>) -> Vec<String> {
    let field = parameter.field;
    let required = match (field.required, field.is_open()) {
        (true, true) => "in each item",
        (true, false) => "yes",
        _ => "no",
    };
    let mut meaning = text(&field.doc);
    if let Some(spec) = &field.spec {
        meaning += &format!(" Documents: “{}”.", text(spec));
    }
    if !field.aliases.is_empty() {
        let aliases: Vec<String> = field.aliases.iter().map(|alias| code(alias)).collect();
        meaning += &format!(" Readers also take {}.", aliases.join(", "));
    }
    vec![
        code(&field.name()),
        code(&parameter.path),
        format(field),
        limits(field),
        required.to_owned(),
        field.default.as_deref().map_or_else(|| "–".to_owned(), text),
        if field.sensitive { "yes" } else { "–" }.to_owned(),
        meaning,
        field.source.clone(),
    ]
}

fn format(field: &Field) -> String {
    if !field.values.is_empty() {
        return field.values.iter().map(|value| code(value)).collect::<Vec<_>>().join(", ");
    }
    formats::find(&field.format).map_or_else(String::new, |format| format!("[{0}](README.md#{0})", format.name))
}

fn limits(field: &Field) -> String {
    if let Some((least, most)) = field.range.as_deref().and_then(range_bounds) {
        return format!("{least} to {most}");
    }
    match field.length.as_deref().and_then(bounds) {
        None => "–".to_owned(),
        Some((least, most)) if least == most => most.to_string(),
        Some((0 | 1, most)) => format!("≤ {most}"),
        Some((least, most)) => format!("{least}–{most}"),
    }
}

const fn credentials(credentials: Credentials) -> &'static str {
    match credentials {
        Credentials::Signed => "[signed](README.md#credentials): `apiKey`, `apiPassword`, `shaSignature`",
        Credentials::Session => "[session](README.md#credentials): the session key alone",
        Credentials::Enterprise => "[enterprise](README.md#credentials): `api_key`, `api_password`, `version`",
    }
}

fn reply(method: &Method) -> String {
    if method.reply.is_empty() {
        return "redirect of the browser, with [RedirectData](records.md#redirectdata) in it".to_owned();
    }
    let record = format!("[{}](records.md#{})", method.reply, anchor(&method.reply));
    if method.output.is_some() { format!("{record}, read as an outcome") } else { record }
}
