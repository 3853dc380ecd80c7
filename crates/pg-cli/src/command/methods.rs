//! `pg methods`: the reference, from the tables.

use pg_model::{
    METHODS,
    field::{Field, Length},
    method::{AuthScheme, MethodInfo, RetrySafety, ServiceInfo},
};
use serde::Serialize;

use crate::{
    failure::{Exit, Failure},
    output::{self, Paint},
    reference,
};

/// Shows the methods of the service, or the parameters of one method
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg methods                             all methods, by service
  pg methods transaction/authSessionKey  its parameters, with lengths, defaults and sources
  pg methods --json                      the whole reference for programs")]
pub(crate) struct Arguments {
    /// The method, such as token/lookup
    #[arg(value_name = "SERVICE/METHOD")]
    method: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let paint = Paint::of_stdout();
    match &arguments.method {
        Some(path) => {
            let info = reference::method(path)?;
            if json { output::json(&Entry::of(info))? } else { output::page(&details(info, paint))? }
        }
        None if json => output::json(&METHODS.iter().map(|info| Entry::of(info)).collect::<Vec<_>>())?,
        None => output::page(&overview(paint))?,
    }
    Ok(Exit::Done)
}

fn overview(paint: Paint) -> String {
    let width = METHODS.iter().map(|info| reference::path(info).len()).max().unwrap_or_default();
    let mut lines = vec![paint.bold(&format!("  {:width$}  {:12}  {}", "method", "retry", "what it does"))];
    let mut service: Option<&ServiceInfo> = None;
    for info in METHODS {
        if service != Some(info.service) {
            service = Some(info.service);
            let ServiceInfo { title, version, source, doc, .. } = info.service;
            lines.push(String::new());
            lines.push(paint.bold(&format!("{title} (version {version}, spec {source})")));
            lines.push(paint.dim(doc));
        }
        let path = format!("{:width$}", reference::path(info));
        lines.push(format!("  {path}  {:12}  {}", retry(info.retry), info.title));
    }
    lines.push(String::new());
    let count = METHODS.len();
    lines.push(paint.dim(&format!(
        "{count} methods of five APIs: card tokenisation and account updater share token/.\n\
         The retry class says what to do when it is unknown whether a request was executed."
    )));
    lines.join("\n")
}

fn details(info: &MethodInfo, paint: Paint) -> String {
    let mut lines = vec![
        paint.bold(&format!("{}: {}", reference::path(info), info.title)),
        info.doc.to_owned(),
        String::new(),
        format!("POST {}{} (spec {})", info.service.prefix, info.name, info.source),
        format!("Credentials: {}", credentials(info.credentials)),
        format!("Retry: {} ({})", retry(info.retry), info.retry_why),
        format!("Reply: {}", info.reply),
        String::new(),
    ];
    let mut rows = vec![["parameter", "required", "length", "default", "source", "format"].map(str::to_owned)];
    rows.extend(info.fields.iter().map(|field| row(field)));
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let line = cells.join("  ").trim_end().to_owned();
        if at == 0 {
            lines.push(paint.bold(&line));
        } else {
            lines.push(line);
            lines.push(paint.dim(&format!("    {}", info.fields[at - 1].doc)));
        }
    }
    lines.join("\n")
}

fn row(field: &Field) -> [String; 6] {
    let length = if field.length == Length::Any { String::new() } else { length(field.length) };
    let mut format = if field.values.is_empty() {
        field.format.description().to_owned()
    } else {
        format!("one of {}", field.values.join(", "))
    };
    if let Some((least, most)) = field.range {
        format.push_str(&format!(", {least} to {most}"));
    }
    if field.sensitive {
        format.push_str(" (never shown)");
    }
    let required = if field.required { "yes" } else { "" };
    [field.wire, required, &length, field.default.unwrap_or_default(), field.source, &format].map(str::to_owned)
}

fn length(length: Length) -> String {
    match length {
        Length::Any => String::new(),
        Length::Between(0 | 1, most) => format!("≤ {most}"),
        Length::Between(least, most) if least == most => most.to_string(),
        Length::Between(least, most) => format!("{least}–{most}"),
    }
}

const fn retry(retry: RetrySafety) -> &'static str {
    match retry {
        RetrySafety::Safe => "safe",
        RetrySafety::LookupFirst => "lookup-first",
        RetrySafety::Never => "never",
    }
}

const fn credentials(credentials: AuthScheme) -> &'static str {
    match credentials {
        AuthScheme::Signed => "apiKey, apiPassword and shaSignature",
        AuthScheme::Session => "only the session key: the customer's browser sends it",
        AuthScheme::Enterprise => "api_key, api_password and version",
    }
}

/// A method, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    method: String,
    service: &'static str,
    name: &'static str,
    version: u8,
    title: &'static str,
    doc: &'static str,
    http_path: String,
    credentials: &'static str,
    retry: &'static str,
    retry_why: &'static str,
    reply: &'static str,
    source: &'static str,
    parameters: Vec<EntryField>,
}

/// A parameter, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryField {
    name: &'static str,
    required: bool,
    format: &'static str,
    min_length: Option<u16>,
    max_length: Option<u16>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    values: &'static [&'static str],
    default: Option<&'static str>,
    sensitive: bool,
    also_read_as: &'static [&'static str],
    documented_as: &'static str,
    source: &'static str,
    doc: &'static str,
}

impl Entry {
    fn of(info: &MethodInfo) -> Self {
        Self {
            method: reference::path(info),
            service: info.service.name,
            name: info.name,
            version: info.service.version,
            title: info.title,
            doc: info.doc,
            http_path: format!("{}{}", info.service.prefix, info.name),
            credentials: match info.credentials {
                AuthScheme::Signed => "signed",
                AuthScheme::Session => "session",
                AuthScheme::Enterprise => "enterprise",
            },
            retry: retry(info.retry),
            retry_why: info.retry_why,
            reply: info.reply,
            source: info.source,
            parameters: info.fields.iter().map(|field| EntryField::of(field)).collect(),
        }
    }
}

impl EntryField {
    const fn of(field: &Field) -> Self {
        let (min_length, max_length) = match field.length {
            Length::Any => (None, None),
            Length::Between(least, most) => (Some(least), Some(most)),
        };
        let (minimum, maximum) = match field.range {
            None => (None, None),
            Some((least, most)) => (Some(least), Some(most)),
        };
        Self {
            name: field.wire,
            required: field.required,
            format: field.format.description(),
            min_length,
            max_length,
            minimum,
            maximum,
            values: field.values,
            default: field.default,
            sensitive: field.sensitive,
            also_read_as: field.aliases,
            documented_as: field.spec,
            source: field.source,
            doc: field.doc,
        }
    }
}
