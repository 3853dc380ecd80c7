//! How each kind of row is read: which keys it may have, and which it must.

use super::{
    super::reading::Row as Source, Assumption, Code, CodeTable, Credentials, Currency, Empty, Field, Group, GroupRow,
    Method, Newtype, Part, Record, Retry, Row, Service, ServiceInfo,
};

impl Service {
    pub(super) fn read(root: &Source<'_>) -> Option<Self> {
        let info = root.one("service", |row| ServiceInfo {
            name: row.text("name"),
            title: row.text("title"),
            prefix: row.text("prefix"),
            version: row.number("version"),
            source: row.text("source"),
            doc: row.text("doc"),
            places: row.places(),
        });
        let methods = root.rows("method", Method::read);
        Some(Self { info: info?, methods })
    }
}

impl Method {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            name: row.text("name"),
            rust: row.text("rust"),
            title: row.text("title"),
            source: row.text("source"),
            doc: row.text("doc"),
            credentials: row.choice(
                "credentials",
                &[
                    ("signed", Credentials::Signed),
                    ("session", Credentials::Session),
                    ("enterprise", Credentials::Enterprise),
                ],
            ),
            reply: row.text("reply"),
            output: row.maybe_text("output"),
            retry: row.choice(
                "retry",
                &[("safe", Retry::Safe), ("lookup-first", Retry::LookupFirst), ("never", Retry::Never)],
            ),
            retry_why: row.text("retry_why"),
            cross: row.flag("cross"),
            fields: row.rows("fields", Row::read),
            places: row.places(),
        }
    }
}

impl Row {
    /// A row that names a group is a group, any other is a field.
    pub(super) fn read(row: &Source<'_>) -> Self {
        if row.has("group") { Self::Group(GroupRow::read(row)) } else { Self::Field(Box::new(Field::read(row))) }
    }
}

impl GroupRow {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            group: row.text("group"),
            rust: row.maybe_text("rust"),
            required: row.flag("required"),
            repeat: row.flag("repeat"),
            inline: row.flag("inline"),
            places: row.places(),
        }
    }
}

impl Field {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            wire: row.maybe_text("wire").unwrap_or_default(),
            prefix: row.maybe_text("prefix"),
            rust: row.maybe_text("rust"),
            kind: row.text("type"),
            format: row.text("format"),
            length: row.maybe_text("length"),
            range: row.maybe_text("range"),
            required: row.flag("required"),
            sensitive: row.flag("sensitive"),
            default: row.maybe_text("default"),
            values: row.texts("values"),
            spec: row.maybe_text("spec"),
            aliases: row.texts("aliases"),
            source: row.text("source"),
            doc: row.text("doc"),
            places: row.places(),
        }
    }
}

impl Group {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            name: row.text("name"),
            rust: row.text("rust"),
            source: row.text("source"),
            doc: row.text("doc"),
            fields: row.rows("fields", Row::read),
            places: row.places(),
        }
    }
}

const EMPTY: &[(&str, Empty)] = &[("keep", Empty::Keep), ("omit", Empty::Omit)];

impl Record {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            name: row.text("name"),
            source: row.text("source"),
            doc: row.text("doc"),
            empty: row.choice("empty", EMPTY),
            essential: row.texts("essential"),
            fields: row.rows("fields", Part::read),
            places: row.places(),
        }
    }
}

impl Part {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            wire: row.maybe_text("wire").unwrap_or_default(),
            rust: row.maybe_text("rust"),
            kind: row.maybe_text("type"),
            record: row.maybe_text("record"),
            list: row.maybe_text("list"),
            item: row.maybe_text("item"),
            map: row.maybe_text("map"),
            prefix: row.maybe_text("prefix"),
            json: row.maybe_text("json"),
            empty: row.maybe_choice("empty", EMPTY),
            beside: row.maybe_text("beside"),
            assumption: row.maybe_number("assumption"),
            aliases: row.texts("aliases"),
            source: row.text("source"),
            doc: row.text("doc"),
            places: row.places(),
        }
    }
}

impl CodeTable {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            name: row.text("name"),
            source: row.text("source"),
            doc: row.text("doc"),
            codes: row.rows("codes", Code::read),
            places: row.places(),
        }
    }
}

impl Code {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            code: row.text("code"),
            name: row.text("name"),
            message: row.text("message"),
            remedy: row.maybe_text("remedy"),
            http: row.maybe_number("http"),
            assumption: row.maybe_number("assumption"),
            scope: row.maybe_text("scope"),
            source: row.text("source"),
            doc: row.text("doc"),
            places: row.places(),
        }
    }
}

impl Newtype {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self { name: row.text("name"), source: row.text("source"), doc: row.text("doc"), places: row.places() }
    }
}

impl Currency {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self { code: row.text("code"), exponent: row.number("exponent"), name: row.text("name"), places: row.places() }
    }
}

impl Assumption {
    pub(super) fn read(row: &Source<'_>) -> Self {
        Self {
            number: row.number("number"),
            area: row.text("area"),
            title: row.text("title"),
            open: row.text("open"),
            chosen: row.text("chosen"),
            why: row.text("why"),
            change: row.text("change"),
            question: row.maybe_text("question"),
            depends: row.maybe_text("depends"),
            places: row.places(),
        }
    }
}
