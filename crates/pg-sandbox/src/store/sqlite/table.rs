//! The columns of a table, and its statements.

use std::borrow::Cow;

use rusqlite::{
    Connection, Row as Found, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    super::{
        INDEX_COLUMNS, Query, Row, StoreError,
        record::Match,
        seal::{Cell, Place, Sealer},
    },
    known_keys::{Era, KnownKeys, hash},
};

/// The names of columns, and whether they contain digests.
type Columns = Vec<(String, bool)>;

/// A table of records.
pub(super) struct Table {
    pub(super) name: String,
    /// Whether keys are stored as digests.
    digested_key: bool,
    /// The index columns.
    columns: Columns,
    pub(super) eras: Eras,
    pub(super) get: String,
    pub(super) insert: String,
    pub(super) update: String,
    pub(super) remove: String,
    pub(super) all: String,
}

/// Whether the rows of a table are kept in eras. Those of tables with digests are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eras {
    /// The table has no digests.
    None,
    /// Index columns contain digests, and their indexes begin with the era.
    OfIndexes,
    /// Keys are digests, and the primary key begins with the era.
    OfKeys,
}

impl Table {
    /// Returns all tables of records of a checked file in the newest format.
    pub(super) fn all(connection: &Connection) -> Result<Vec<Self>, StoreError> {
        let mut statement = connection.prepare(
            "SELECT schema.name, column.name, column.type, column.pk
             FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS column
             WHERE schema.type = 'table' AND schema.name <> 'whole' ORDER BY schema.name, column.cid",
        )?;
        let mut tables: Vec<(String, Columns, Eras)> = Vec::new();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, column, kind): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if tables.last().is_none_or(|(last, ..)| *last != table) {
                tables.push((table, Vec::new(), Eras::None));
            }
            match tables.last_mut() {
                Some((_, _, eras)) if column == "era" => {
                    *eras = if row.get::<_, u32>(3)? > 0 { Eras::OfKeys } else { Eras::OfIndexes };
                }
                Some((_, columns, _)) => columns.push((column, kind == "BLOB")),
                None => {}
            }
        }
        Ok(tables.into_iter().map(|(name, columns, eras)| Self::new(name, columns, eras)).collect())
    }

    fn new(name: String, all: Columns, eras: Eras) -> Self {
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
        // The era comes last. Where it identifies the row, it has a separate parameter.
        let era = columns.len() + 4;
        let (mut of_old, mut of_key, mut order) = (String::new(), "", "key");
        if eras != Eras::None {
            listed.push_str(", era");
            values.push_str(&format!(", ?{era}"));
            of_old = format!(" AND era = ?{era}");
        }
        if eras == Eras::OfKeys {
            (of_key, order) = (" AND era = ?2", "era, key");
        }
        Self {
            get: format!("SELECT {listed} FROM {name} WHERE key = ?1{of_key}"),
            insert: format!("INSERT INTO {name} ({listed}) VALUES ({values}) ON CONFLICT DO NOTHING"),
            update: format!("UPDATE {name} SET {changes} WHERE key = ?1{of_old}"),
            remove: format!("DELETE FROM {name} WHERE key = ?1{of_key}"),
            all: format!("SELECT {listed} FROM {name} NOT INDEXED ORDER BY {order}"),
            name,
            digested_key,
            columns,
            eras,
        }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(column, _)| &**column)
    }

    /// Returns the number of index columns.
    pub(super) const fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the stored form of a key.
    pub(super) fn key<'a>(&self, sealer: &Sealer, key: &'a str) -> Cell<'a> {
        self.cell(sealer, "key", self.digested_key, key.into())
    }

    /// Returns the stored form of a row, without its body.
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

    /// Returns the body of a row that has all columns in the order of these statements, and its share of the sum.
    pub(super) fn open(&self, sealer: &mut Sealer, row: &Found<'_>) -> Result<(String, u64), StoreError> {
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(|_| self.damaged("a column"));
        let place = Place { table: &self.name, key: self.key_of(row)?, merchant: text(1)?, index: self.index(row)? };
        self.unseal(sealer, &place, row.get_ref(2)?.as_blob().map_err(|_| self.damaged("a record"))?)
    }

    /// Adds the key of a row with all columns, and its digests.
    pub(super) fn note(&self, keys: &mut KnownKeys, row: &Found<'_>) -> Result<(), StoreError> {
        let key = hash(&self.name, &self.key_of(row)?);
        keys.add(key);
        let era = self.era_of(row)?;
        self.digests(key, &self.index(row)?).for_each(|digest| keys.add_to(era, digest));
        Ok(())
    }

    /// Returns the hashes by which a row with this hash of its key is found within its era.
    pub(super) fn digests(&self, key: u64, index: &[Option<Cell<'_>>; INDEX_COLUMNS]) -> impl Iterator<Item = u64> {
        let key = (self.eras == Eras::OfKeys).then_some(key);
        let indexes = if self.eras == Eras::OfIndexes { &index[..] } else { &[] };
        let digests = indexes.iter().flatten().filter(|cell| matches!(cell, Cell::Digest(_)));
        key.into_iter().chain(digests.map(|digest| hash(&self.name, digest)))
    }

    /// Reads from the row with this key and hash; `None` if it does not exist.
    pub(super) fn find<T>(
        &self,
        connection: &Connection,
        keys: &KnownKeys,
        (key, hash): (&Cell<'_>, u64),
        mut read: impl FnMut(&Found<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if !keys.may_hold(hash) {
            return Ok(None);
        }
        let mut statement = connection.prepare_cached(&self.get)?;
        if self.eras != Eras::OfKeys {
            return statement.query([key])?.next()?.map(read).transpose();
        }
        for era in keys.eras(hash) {
            if let Some(row) = statement.query((key, era))?.next()? {
                return read(row).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the era of a row that has all columns in the order of these statements; any era if the table has none.
    pub(super) fn era_of(&self, row: &Found<'_>) -> Result<Era, StoreError> {
        match self.eras {
            Eras::None => Ok(0),
            _ => row.get(3 + self.width()).map_err(|_| self.damaged("an era")),
        }
    }

    /// Returns the key of a row, its first column.
    pub(super) fn key_of<'a>(&self, row: &'a Found<'_>) -> Result<Cell<'a>, StoreError> {
        cell(row.get_ref(0)?).ok_or_else(|| self.damaged("a key"))
    }

    /// Returns the body of a row that was sealed for this place, and its share of the sum.
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

    /// Returns the statement of a query, and the values of its parameters. The text depends only on the shape of the
    /// query, so that one cached statement serves all values.
    pub(super) fn selection<'a>(&self, sealer: &Sealer, query: &'a Query<'_>) -> Result<Selection<'a>, StoreError> {
        let mut text = String::from("SELECT key, merchant, body");
        self.columns().for_each(|column| text.push_str(&format!(", {column}")));
        text.push_str(&format!(" FROM {}", self.name));
        let (mut values, mut digest) = (Vec::new(), None);
        let mut condition = |condition: &str, value| {
            text.push_str(if values.is_empty() { " WHERE " } else { " AND " });
            text.push_str(condition);
            values.push(value);
        };
        let no_order = |column: &str| StoreError::Engine(format!("{column} of {} has no order", self.name));
        let direction = if query.oldest_first { "ASC" } else { "DESC" };
        let mut order = format!("key {direction}");
        if self.eras == Eras::OfKeys {
            order = format!("era {direction}, {order}");
        }
        if let Some((column, wanted)) = query.column {
            let digested = self.columns.iter().any(|(known, digested)| known == column && *digested);
            match wanted {
                Match::Equal(value) => {
                    let value = self.cell(sealer, column, digested, value.into());
                    if digested {
                        digest = Some(hash(&self.name, &value));
                        condition("era = ?", Value::Number(0));
                    }
                    condition(&format!("{column} = ?"), Value::Cell(value));
                }
                Match::AtMost(_) if digested => return Err(no_order(column)),
                Match::AtMost(value) => {
                    order = format!("{column} {direction}, {order}");
                    condition(&format!("{column} <= ?"), Value::Cell(Cell::Text(value.into())));
                }
            }
        }
        if let Some(merchant) = query.merchant {
            condition("merchant = ?", Value::Cell(Cell::Text(merchant.into())));
        }
        match query.before {
            Some(_) if self.digested_key => return Err(no_order("key")),
            Some(before) => condition("key < ?", Value::Cell(Cell::Text(before.into()))),
            None => {}
        }
        text.push_str(&format!(" ORDER BY {order} LIMIT ?"));
        values.push(Value::Number(query.limit));
        Ok(Selection { text, values, digest })
    }
}

/// The statement of a query.
pub(super) struct Selection<'a> {
    pub(super) text: String,
    values: Vec<Value<'a>>,
    /// The hash of the digest by which rows are found.
    digest: Option<u64>,
}

impl<'a> Selection<'a> {
    /// The values of the statement's parameters: once, or once for each possible era of the rows.
    pub(super) fn values(self, keys: &KnownKeys) -> Vec<Vec<Value<'a>>> {
        let Some(digest) = self.digest else { return vec![self.values] };
        let of_era = |era| {
            let mut values = self.values.clone();
            values[0] = Value::Number(era);
            values
        };
        keys.eras(digest).map(of_era).collect()
    }
}

/// A value of a statement's parameter.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Cell(Cell<'a>),
    Number(u32),
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Cell(cell) => cell.to_sql(),
            Self::Number(number) => Ok(ToSqlOutput::from(*number)),
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

/// Returns the value of a column; `None` if it is null, or of a type that no table has.
fn cell(value: ValueRef<'_>) -> Option<Cell<'_>> {
    match value {
        ValueRef::Text(text) => std::str::from_utf8(text).ok().map(|text| Cell::Text(text.into())),
        ValueRef::Blob(digest) => digest.try_into().ok().map(Cell::Digest),
        _ => None,
    }
}
