//! Upgrades files of earlier formats to the newest one, in a transaction that is left open: a store that is refused later, for
//! example for its redo log, stays as it is.

use rusqlite::{Connection, Row as Found, ToSql, types::ValueRef};

use super::{
    super::{
        Row, StoreError, schema,
        seal::{Sealer, Since, Whole},
    },
    table::Table,
};

const BEGIN: &str = "BEGIN IMMEDIATE";

/// Creates the tables of an empty file, or migrates the records of an older one.
pub(super) fn upgrade(connection: &Connection, sealer: &mut Sealer) -> Result<Whole, StoreError> {
    // Unsealed data is overwritten in place, not only freed.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.execute_batch(BEGIN)?;
    overwrite_free_pages(connection)?;
    let old = put_aside(connection)?;
    schema::create(connection)?;
    let mut whole = Whole::default();
    for table in Table::all(connection)? {
        let aside = aside(&table.name);
        if old.contains(&table.name) {
            fill(connection, sealer, &table, &aside, &mut whole)?;
            connection.execute_batch(&format!("DROP TABLE {aside}"))?;
        }
    }
    connection.execute("INSERT INTO whole (id, body) VALUES (0, ?1)", [sealer.seal_whole(whole, Since::default())])?;
    schema::add(connection, schema::FIRST_SEALED)?;
    connection.pragma_update(None, "secure_delete", false)?;
    Ok(whole)
}

/// Upgrades a file with sealed rows to the newest format.
pub(super) fn add(connection: &Connection, format: i64) -> Result<(), StoreError> {
    connection.execute_batch(BEGIN)?;
    schema::add(connection, format)
}

fn aside(table: &str) -> String {
    format!("old_{table}")
}

/// Overwrites the pages that the file already has free: the program that freed them left their content in them. A table that
/// takes all of them is dropped again.
fn overwrite_free_pages(connection: &Connection) -> Result<(), StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (free, size) = (number("freelist_count")?, number("page_size")?);
    connection.execute_batch("CREATE TABLE filler (content BLOB)")?;
    let mut insert = connection.prepare("INSERT INTO filler VALUES (zeroblob(?1))")?;
    // A row of this size takes one page or more.
    for _ in 0..free {
        insert.execute([size])?;
    }
    Ok(connection.execute_batch("DROP TABLE filler")?)
}

/// Renames the tables, without their indexes. Returns their names.
fn put_aside(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let names = |kind: &str| -> Result<Vec<String>, StoreError> {
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = ?1 AND sql IS NOT NULL ORDER BY name")?;
        let names = statement.query_map([kind], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(names)
    };
    for index in names("index")? {
        connection.execute_batch(&format!("DROP INDEX {index}"))?;
    }
    let tables = names("table")?;
    for table in &tables {
        connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO {}", aside(table)))?;
    }
    Ok(tables)
}

fn fill(
    connection: &Connection,
    sealer: &mut Sealer,
    table: &Table,
    aside: &str,
    whole: &mut Whole,
) -> Result<(), StoreError> {
    let columns: String = table.columns().map(|column| format!(", {column}")).collect();
    let mut old = connection.prepare(&format!("SELECT key, merchant, body{columns} FROM {aside} ORDER BY key"))?;
    let mut insert = connection.prepare(&table.insert)?;
    let mut rows = old.query([])?;
    while let Some(row) = rows.next()? {
        let mut index = [const { None }; super::super::INDEX_COLUMNS];
        for (at, value) in index.iter_mut().enumerate().take(table.width()) {
            *value = text(row, at + 3)?.map(Into::into);
        }
        let missing = || StoreError::Damaged(format!("a record of {} lacks a part", table.name));
        let (key, merchant, body) = (text(row, 0)?, text(row, 1)?, text(row, 2)?.ok_or_else(missing)?);
        let row = Row { key: key.ok_or_else(missing)?, merchant: merchant.ok_or_else(missing)?, index, body };
        whole.add(put(&mut insert, sealer, table, &row)?);
    }
    Ok(())
}

fn put(
    insert: &mut rusqlite::Statement<'_>,
    sealer: &mut Sealer,
    table: &Table,
    row: &Row<'_>,
) -> Result<u64, StoreError> {
    let place = table.place(sealer, row);
    let mut body = Vec::new();
    let share = sealer.seal(&place, row.body.as_bytes(), &mut body);
    let mut values: Vec<&dyn ToSql> = vec![&place.key, &place.merchant, &body];
    values.extend(place.index[..table.width()].iter().map(|value| value as &dyn ToSql));
    insert.execute(&*values)?;
    Ok(share)
}

fn text<'a>(row: &'a Found<'_>, at: usize) -> Result<Option<&'a str>, StoreError> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        value => value.as_str().map(Some).map_err(|_| StoreError::Damaged("a text is none".to_owned())),
    }
}
