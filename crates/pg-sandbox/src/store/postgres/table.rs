//! The columns of a table, and its statements.

use std::borrow::Cow;

use bytes::BytesMut;
use tokio_postgres::{
    Row as Found,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

use super::{
    super::{
        INDEX_COLUMNS, Query, Row, StoreError,
        record::Match,
        seal::{Cell, Opened, Place, Sealer},
    },
    link,
};

/// A table of records.
pub(super) struct Table {
    pub(super) name: String,
    /// Whether keys are stored as digests.
    digested_key: bool,
    /// The index columns, and whether they contain digests.
    columns: Vec<(String, bool)>,
    listed: String,
    pub(super) get: String,
    pub(super) holds: String,
}

/// The character that no text in PostgreSQL can contain.
const NUL: char = '\0';
/// The name of the journal's table.
const JOURNAL: &str = "journal";

/// A statement and its values.
pub(super) struct Batch {
    pub(super) text: String,
    values: Vec<Value>,
}

/// A value of a statement.
enum Value {
    Cell(Cell<'static>),
    Count(i64),
    Cells(Vec<Option<Cell<'static>>>, bool),
    Bodies(Vec<Vec<u8>>),
}

impl Batch {
    /// The statement with its values.
    pub(super) fn statement(&self) -> link::Statement<'_> {
        (&self.text, self.values())
    }

    pub(super) fn values(&self) -> Vec<link::Value<'_>> {
        self.values.iter().map(Value::typed).collect()
    }
}

impl Value {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Cell(cell) => (cell, type_of(matches!(cell, Cell::Digest(_)))),
            Self::Count(count) => (count, Type::INT8),
            Self::Cells(cells, digested) => (cells, if *digested { Type::BYTEA_ARRAY } else { Type::TEXT_ARRAY }),
            Self::Bodies(bodies) => (bodies, Type::BYTEA_ARRAY),
        }
    }
}

const fn type_of(digested: bool) -> Type {
    if digested { Type::BYTEA } else { Type::TEXT }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Text(text) => (&**text).to_sql(of, out),
            Self::Digest(digest) => digest.as_slice().to_sql(of, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        matches!(*of, Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl Table {
    /// Returns the tables with these columns, which are sorted by table.
    pub(super) fn all<'a>(columns: impl Iterator<Item = (&'a str, &'a str, bool)>) -> Vec<Self> {
        let mut tables: Vec<(String, Vec<(String, bool)>)> = Vec::new();
        for (table, column, digested) in columns {
            if tables.last().is_none_or(|(last, _)| last != table) {
                tables.push((table.to_owned(), Vec::new()));
            }
            if let Some((_, columns)) = tables.last_mut() {
                columns.push((column.to_owned(), digested));
            }
        }
        tables.into_iter().map(|(name, columns)| Self::new(name, columns)).collect()
    }

    /// Returns the table with this name.
    pub(super) fn named<'a>(tables: &'a [Self], name: &str) -> Result<&'a Self, StoreError> {
        let found = tables.iter().find(|table| table.name == name);
        found.ok_or_else(|| StoreError::Engine(format!("there is no table {name}")))
    }

    fn new(name: String, all: Vec<(String, bool)>) -> Self {
        let digested_key = all.iter().any(|(column, digested)| column == "key" && *digested);
        let named = |column: &str| matches!(column, "key" | "merchant" | "body");
        let columns: Vec<_> = all.into_iter().filter(|(column, _)| !named(column)).collect();
        let mut listed = String::from("key, merchant, body");
        columns.iter().for_each(|(column, _)| listed.push_str(&format!(", {column}")));
        Self {
            get: format!("SELECT {listed} FROM payment_sandbox.{name} WHERE key = $1"),
            holds: format!("SELECT 1 FROM payment_sandbox.{name} WHERE key = $1"),
            listed,
            name,
            digested_key,
            columns,
        }
    }

    /// Returns the stored form of a key.
    pub(super) fn key(&self, sealer: &Sealer, key: &str) -> Cell<'static> {
        self.cell(sealer, "key", self.digested_key, key)
    }

    pub(super) const fn key_type(&self) -> Type {
        type_of(self.digested_key)
    }

    fn cell(&self, sealer: &Sealer, column: &str, digested: bool, text: &str) -> Cell<'static> {
        if digested {
            Cell::Digest(sealer.digest(&self.name, column, text))
        } else {
            Cell::Text(Cow::Owned(text.to_owned()))
        }
    }

    /// Whether a row can have this key: a text in PostgreSQL has no NUL, and no record has one in its key.
    pub(super) fn can_hold(&self, key: &str) -> bool {
        self.digested_key || !key.contains(NUL)
    }

    /// Returns the statement that inserts or replaces rows; empty without rows.
    pub(super) fn put<'a>(&self, sealer: &mut Sealer, rows: impl Iterator<Item = Row<'a>>) -> Option<Batch> {
        let (mut keys, mut merchants, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        let mut index: Vec<Vec<Option<Cell<'static>>>> = vec![Vec::new(); self.columns.len()];
        for row in rows {
            let mut cells = [const { None }; INDEX_COLUMNS];
            for ((cell, value), (column, digested)) in cells.iter_mut().zip(&row.index).zip(&self.columns) {
                *cell = value.as_deref().map(|value| self.cell(sealer, column, *digested, value));
            }
            index.iter_mut().zip(&cells).for_each(|(column, cell)| column.push(cell.clone()));
            keys.push(Some(self.key(sealer, row.key)));
            let key = self.key(sealer, row.key);
            let place = Place { table: &self.name, key, merchant: row.merchant, index: cells };
            let mut sealed = Vec::new();
            sealer.seal(&place, row.body.as_bytes(), &mut sealed);
            bodies.push(sealed);
            merchants.push(Some(Cell::Text(Cow::Owned(row.merchant.to_owned()))));
        }
        if keys.is_empty() {
            return None;
        }
        let mut values =
            vec![Value::Cells(keys, self.digested_key), Value::Cells(merchants, false), Value::Bodies(bodies)];
        let mut arrays = format!("$1::{}[], $2::text[], $3::bytea[]", self.key_type().name());
        let mut changes = String::from("merchant = EXCLUDED.merchant, body = EXCLUDED.body");
        for (at, ((column, digested), cells)) in self.columns.iter().zip(index).enumerate() {
            arrays.push_str(&format!(", ${}::{}[]", at + 4, type_of(*digested).name()));
            changes.push_str(&format!(", {column} = EXCLUDED.{column}"));
            values.push(Value::Cells(cells, *digested));
        }
        let text = format!(
            "INSERT INTO payment_sandbox.{} ({}) SELECT * FROM unnest({arrays}) ON CONFLICT (key) DO UPDATE SET {changes}",
            self.name, self.listed
        );
        Some(Batch { text, values })
    }

    /// Returns the statement that removes rows; empty without rows.
    pub(super) fn remove<'a>(&self, sealer: &Sealer, keys: impl Iterator<Item = &'a str>) -> Option<Batch> {
        let keys: Vec<_> = keys.filter(|key| self.can_hold(key)).map(|key| Some(self.key(sealer, key))).collect();
        if keys.is_empty() {
            return None;
        }
        let text = format!("DELETE FROM payment_sandbox.{} WHERE key = ANY($1)", self.name);
        Some(Batch { text, values: vec![Value::Cells(keys, self.digested_key)] })
    }

    /// Returns the statement that reads the rows with these keys.
    pub(super) fn with_keys<'a>(&self, sealer: &Sealer, keys: impl Iterator<Item = &'a str>) -> Batch {
        let keys = keys.map(|key| Some(self.key(sealer, key))).collect();
        let text = format!("SELECT {} FROM payment_sandbox.{} WHERE key = ANY($1)", self.listed, self.name);
        Batch { text, values: vec![Value::Cells(keys, self.digested_key)] }
    }

    /// Returns the row with a key among the found ones.
    pub(super) fn row_of<'a>(&self, sealer: &Sealer, key: &str, rows: &'a [Found]) -> Option<&'a Found> {
        match self.key(sealer, key) {
            Cell::Text(text) => rows.iter().find(|row| row.try_get::<_, &str>(0).is_ok_and(|found| found == text)),
            Cell::Digest(digest) => {
                rows.iter().find(|row| row.try_get::<_, &[u8]>(0).is_ok_and(|found| found == digest))
            }
        }
    }

    /// Returns the body of a row that has all columns in the order of these statements.
    pub(super) fn open(&self, sealer: &mut Sealer, row: &Found) -> Result<String, StoreError> {
        let opened = self.opened(sealer, row)?.1?;
        String::from_utf8(opened.body)
            .map_err(|_| StoreError::Damaged(format!("a record of {} was altered", self.name)))
    }

    /// Returns the statement that reads rows after a key, in the order of their keys.
    pub(super) fn after(&self, key: Option<Cell<'static>>, limit: i64) -> Batch {
        let (mut text, mut values) = (format!("SELECT {} FROM payment_sandbox.{}", self.listed, self.name), Vec::new());
        if let Some(key) = key {
            text.push_str(" WHERE key > $1");
            values.push(Value::Cell(key));
        }
        values.push(Value::Count(limit));
        text.push_str(&format!(" ORDER BY key LIMIT ${}", values.len()));
        Batch { text, values }
    }

    /// Reseals those of these rows that are sealed with an older key. Returns the statement if there are any, the last
    /// key, and their number.
    pub(super) fn resealed(
        &self,
        sealer: &mut Sealer,
        rows: &[Found],
    ) -> Result<(Option<Batch>, Option<Cell<'static>>, usize), StoreError> {
        let (mut keys, mut bodies, mut last) = (Vec::new(), Vec::new(), None);
        for row in rows {
            let (place, opened) = self.opened(sealer, row)?;
            let key = match &place.key {
                Cell::Text(text) => Cell::Text(Cow::Owned(text.clone().into_owned())),
                Cell::Digest(digest) => Cell::Digest(*digest),
            };
            match opened {
                Ok(opened) if opened.is_current => {}
                Ok(opened) => {
                    let mut sealed = Vec::new();
                    sealer.seal(&place, &opened.body, &mut sealed);
                    keys.push(Some(key.clone()));
                    bodies.push(sealed);
                }
                // An entry that was late for an earlier change of the key: it is removed when it is old.
                Err(_) if self.name == JOURNAL => {}
                Err(error) => return Err(error),
            }
            last = Some(key);
        }
        let count = keys.len();
        let text = format!(
            "UPDATE payment_sandbox.{} AS held SET body = fresh.body FROM unnest($1::{}[], $2::bytea[]) AS fresh (key, body) \
             WHERE held.key = fresh.key",
            self.name,
            self.key_type().name()
        );
        let values = vec![Value::Cells(keys, self.digested_key), Value::Bodies(bodies)];
        Ok(((count > 0).then_some(Batch { text, values }), last, count))
    }

    /// Returns the columns of a row, and its body if it can be opened.
    fn opened<'a>(
        &'a self,
        sealer: &mut Sealer,
        row: &'a Found,
    ) -> Result<(Place<'a>, Result<Opened, StoreError>), StoreError> {
        let altered = |_| StoreError::Damaged(format!("a record of {} was altered", self.name));
        let cell = |at: usize, digested: bool| -> Result<Option<Cell<'_>>, tokio_postgres::Error> {
            if digested {
                let bytes: Option<&[u8]> = row.try_get(at)?;
                return Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map(Cell::Digest));
            }
            Ok(row.try_get::<_, Option<&str>>(at)?.map(|text| Cell::Text(text.into())))
        };
        let mut index = [const { None }; INDEX_COLUMNS];
        for (at, (value, (_, digested))) in index.iter_mut().zip(&self.columns).enumerate() {
            *value = cell(at + 3, *digested).map_err(altered)?;
        }
        let key = cell(0, self.digested_key).map_err(altered)?.unwrap_or(Cell::Text("".into()));
        let place = Place { table: &self.name, key, merchant: row.try_get(1).map_err(altered)?, index };
        let sealed: &[u8] = row.try_get(2).map_err(altered)?;
        let damaged = |_| StoreError::Damaged(format!("a record of {} was altered", self.name));
        let opened = sealer.opened(&place, sealed).map_err(damaged);
        Ok((place, opened))
    }

    /// Returns the statement of a query; `None` if no row can match.
    pub(super) fn selection(&self, sealer: &Sealer, query: &Query<'_>) -> Result<Option<Batch>, StoreError> {
        let mut text = format!("SELECT {} FROM payment_sandbox.{}", self.listed, self.name);
        let (mut values, mut order) = (Vec::new(), String::new());
        let direction = if query.oldest_first { "ASC" } else { "DESC" };
        let mut condition = |condition: &str, value| {
            values.push(value);
            text.push_str(if values.len() == 1 { " WHERE " } else { " AND " });
            text.push_str(&format!("{condition} ${}", values.len()));
        };
        if let Some(merchant) = query.merchant {
            if merchant.contains(NUL) {
                return Ok(None);
            }
            condition("merchant =", Value::Cell(Cell::Text(Cow::Owned(merchant.to_owned()))));
        }
        if let Some((column, wanted)) = query.column {
            let digested = self.columns.iter().any(|(known, digested)| known == column && *digested);
            match wanted {
                Match::Equal(value) if !digested && value.contains(NUL) => return Ok(None),
                Match::Equal(value) => {
                    condition(&format!("{column} ="), Value::Cell(self.cell(sealer, column, digested, value)));
                }
                Match::AtMost(_) if digested => {
                    return Err(StoreError::Engine(format!("{column} of {} has no order", self.name)));
                }
                Match::AtMost(value) => {
                    order = format!("{column} {direction}, ");
                    let value = value.split(NUL).next().unwrap_or_default();
                    condition(&format!("{column} <="), Value::Cell(self.cell(sealer, column, false, value)));
                }
            }
        }
        match query.before {
            // A text without NUL that sorts before it is at most its part before the NUL.
            Some(before) if !self.can_hold(before) => {
                let before = before.split(NUL).next().unwrap_or_default();
                condition("key <=", Value::Cell(self.key(sealer, before)));
            }
            Some(before) => condition("key <", Value::Cell(self.key(sealer, before))),
            None => {}
        }
        values.push(Value::Count(i64::from(query.limit)));
        text.push_str(&format!(" ORDER BY {order}key {direction} LIMIT ${}", values.len()));
        Ok(Some(Batch { text, values }))
    }
}
