//! What a table looks like, and the statements that use it.

use std::borrow::Cow;

use rusqlite::{
    Connection, Row as Found, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::super::{
    INDEX_COLUMNS, Query, Row, StoreError,
    record::Match,
    seal::{Cell, Place, Sealer},
};

/// A table of records.
pub(super) struct Table {
    pub(super) name: String,
    /// Whether keys are held as digests.
    digested_key: bool,
    /// The index columns, and whether they hold digests.
    columns: Vec<(String, bool)>,
    pub(super) get: String,
    pub(super) holds: String,
    pub(super) insert: String,
    pub(super) update: String,
    pub(super) remove: String,
    pub(super) all: String,
}

impl Table {
    /// Every table of records of a checked file in the newest format.
    pub(super) fn all(connection: &Connection) -> Result<Vec<Self>, StoreError> {
        let mut statement = connection.prepare(
            "SELECT schema.name, column.name, column.type FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS column
             WHERE schema.type = 'table' AND schema.name <> 'whole' ORDER BY schema.name, column.cid",
        )?;
        let mut tables: Vec<(String, Vec<(String, bool)>)> = Vec::new();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, column, kind): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if tables.last().is_none_or(|(last, _)| *last != table) {
                tables.push((table, Vec::new()));
            }
            if let Some((_, columns)) = tables.last_mut() {
                columns.push((column, kind == "BLOB"));
            }
        }
        Ok(tables.into_iter().map(|(name, columns)| Self::new(name, columns)).collect())
    }

    fn new(name: String, all: Vec<(String, bool)>) -> Self {
        let digested_key = all.iter().any(|(column, digested)| column == "key" && *digested);
        let named = |column: &str| matches!(column, "key" | "merchant" | "body");
        let columns: Vec<_> = all.into_iter().filter(|(column, _)| !named(column)).collect();
        let mut listed = String::from("key, merchant, body");
        let (mut values, mut changes) = (String::from("?1, ?2, ?3"), String::from("merchant = ?2, body = ?3"));
        for (at, (column, _)) in columns.iter().enumerate() {
            listed.push_str(&format!(", {column}"));
            values.push_str(&format!(", ?{}", at + 4));
            changes.push_str(&format!(", {column} = ?{}", at + 4));
        }
        Self {
            get: format!("SELECT {listed} FROM {name} WHERE key = ?1"),
            holds: format!("SELECT 1 FROM {name} WHERE key = ?1"),
            insert: format!("INSERT INTO {name} ({listed}) VALUES ({values}) ON CONFLICT (key) DO NOTHING"),
            update: format!("UPDATE {name} SET {changes} WHERE key = ?1"),
            remove: format!("DELETE FROM {name} WHERE key = ?1"),
            all: format!("SELECT {listed} FROM {name} NOT INDEXED ORDER BY key"),
            name,
            digested_key,
            columns,
        }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(column, _)| &**column)
    }

    /// How many index columns there are.
    pub(super) const fn width(&self) -> usize {
        self.columns.len()
    }

    /// A key as the table holds it.
    pub(super) fn key<'a>(&self, sealer: &Sealer, key: &'a str) -> Cell<'a> {
        self.cell(sealer, "key", self.digested_key, key.into())
    }

    /// A row as the table holds it, but for its body.
    pub(super) fn place<'a>(&'a self, sealer: &Sealer, row: &'a Row<'_>) -> Place<'a> {
        let mut index = [const { None }; INDEX_COLUMNS];
        for ((place, value), (column, digested)) in index.iter_mut().zip(&row.index).zip(&self.columns) {
            *place = value.as_deref().map(|value| self.cell(sealer, column, *digested, value.into()));
        }
        Place { table: &self.name, key: self.key(sealer, row.key), merchant: row.merchant, index }
    }

    fn cell<'a>(&self, sealer: &Sealer, column: &str, digested: bool, text: Cow<'a, str>) -> Cell<'a> {
        if digested { Cell::Digest(sealer.digest(&self.name, column, &text)) } else { Cell::Text(text) }
    }

    /// The body of a row with all columns in the order of the statements here, and its share of the whole.
    pub(super) fn open(&self, sealer: &mut Sealer, row: &Found<'_>) -> Result<(String, u64), StoreError> {
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(|_| self.damaged("a column"));
        let place = Place { table: &self.name, key: self.key_of(row)?, merchant: text(1)?, index: self.index(row)? };
        self.unseal(sealer, &place, row.get_ref(2)?.as_blob().map_err(|_| self.damaged("a record"))?)
    }

    /// The key of a row whose first column it is.
    pub(super) fn key_of<'a>(&self, row: &'a Found<'_>) -> Result<Cell<'a>, StoreError> {
        cell(row.get_ref(0)?).ok_or_else(|| self.damaged("a key"))
    }

    /// The body of a row that was sealed for this place, and its share of the whole.
    pub(super) fn unseal(
        &self,
        sealer: &mut Sealer,
        place: &Place<'_>,
        sealed: &[u8],
    ) -> Result<(String, u64), StoreError> {
        let (body, share) = sealer.open(place, sealed).map_err(|_| self.damaged("a record"))?;
        let body = String::from_utf8(body).map_err(|_| self.damaged("a record"))?;
        Ok((body, share))
    }

    fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged(format!("{what} of {} is damaged", self.name))
    }

    fn index<'a>(&self, row: &'a Found<'_>) -> Result<[Option<Cell<'a>>; INDEX_COLUMNS], StoreError> {
        let mut index = [const { None }; INDEX_COLUMNS];
        for (at, cell) in index.iter_mut().enumerate().take(self.width()) {
            *cell = self::cell(row.get_ref(at + 3)?);
        }
        Ok(index)
    }

    /// The statement of a query and the values of its parameters. The text depends on the query's
    /// shape only, so that SQLite's cache of statements serves every value.
    pub(super) fn selection<'a>(
        &self,
        sealer: &Sealer,
        query: &'a Query<'_>,
    ) -> Result<(String, Vec<Value<'a>>), StoreError> {
        let mut text = String::from("SELECT key, merchant, body");
        self.columns().for_each(|column| text.push_str(&format!(", {column}")));
        text.push_str(&format!(" FROM {}", self.name));
        let (mut values, mut order) = (Vec::new(), String::new());
        let direction = if query.oldest_first { "ASC" } else { "DESC" };
        let mut condition = |condition: &str, value| {
            text.push_str(if values.is_empty() { " WHERE " } else { " AND " });
            text.push_str(condition);
            values.push(value);
        };
        if let Some(merchant) = query.merchant {
            condition("merchant = ?", Value::Cell(Cell::Text(merchant.into())));
        }
        if let Some((column, wanted)) = query.column {
            let digested = self.columns.iter().any(|(known, digested)| known == column && *digested);
            match wanted {
                Match::Equal(value) => {
                    let value = self.cell(sealer, column, digested, value.into());
                    condition(&format!("{column} = ?"), Value::Cell(value));
                }
                Match::AtMost(_) if digested => {
                    return Err(StoreError::Engine(format!("{column} of {} has no order", self.name)));
                }
                Match::AtMost(value) => {
                    order = format!("{column} {direction}, ");
                    condition(&format!("{column} <= ?"), Value::Cell(Cell::Text(value.into())));
                }
            }
        }
        if let Some(before) = query.before {
            condition("key < ?", Value::Cell(self.key(sealer, before)));
        }
        text.push_str(&format!(" ORDER BY {order}key {direction} LIMIT ?"));
        values.push(Value::Count(query.limit));
        Ok((text, values))
    }
}

/// A value of a statement's parameter.
pub(super) enum Value<'a> {
    Cell(Cell<'a>),
    Count(u32),
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Cell(cell) => cell.to_sql(),
            Self::Count(count) => Ok(ToSqlOutput::from(*count)),
        }
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Digest(digest) => ValueRef::Blob(digest),
        }))
    }
}

/// A column's value; nothing when there is none, or one that no table has.
fn cell(value: ValueRef<'_>) -> Option<Cell<'_>> {
    match value {
        ValueRef::Text(text) => std::str::from_utf8(text).ok().map(|text| Cell::Text(text.into())),
        ValueRef::Blob(digest) => digest.try_into().ok().map(Cell::Digest),
        _ => None,
    }
}
