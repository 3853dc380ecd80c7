//! The table: one row an attack.

use crate::{
    Result,
    target::{Program, Target},
};

/// How often an attack was tried, and what got through.
pub(crate) type Tried = (usize, Vec<String>);

/// The result of an attack.
pub(crate) struct Row {
    /// What the attacker does.
    pub(crate) attack: String,
    /// The result before the fix, if known.
    pub(crate) before: &'static str,
    /// The result now.
    pub(crate) now: String,
    /// The bar.
    pub(crate) bar: &'static str,
    pub(crate) kept: bool,
}

/// All rows so far. Each is printed as soon as it is complete, since the whole run takes minutes.
pub(crate) struct Table<'a> {
    only: Option<&'a str>,
    rows: Vec<Row>,
}

impl<'a> Table<'a> {
    pub(crate) const fn new(only: Option<&'a str>) -> Self {
        Self { only, rows: Vec::new() }
    }

    /// Whether an attack is selected.
    pub(crate) fn wants(&self, attack: &str) -> bool {
        self.only.is_none_or(|only| attack.to_lowercase().contains(only))
    }

    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("{} {}: {}", if row.kept { "kept  " } else { "MISSED" }, row.attack, row.now);
        self.rows.push(row);
    }

    /// Adds a row of many tries, each of which has to be fended off: what got through is named.
    pub(crate) fn add_tries(&mut self, attack: &str, before: &'static str, tries: usize, through: &[String]) {
        let now = match through {
            [] => format!("{tries} of {tries} fended off"),
            some => format!("{} of {tries} got through: {}", some.len(), some.join("; ")),
        };
        self.add(Row { attack: attack.to_owned(), before, now, bar: "none gets through", kept: through.is_empty() });
    }

    /// Tries an attack at a new sandbox, if it is selected, and adds its row.
    pub(crate) async fn try_at_sandbox(
        &mut self,
        program: &Program,
        attack: &str,
        before: &'static str,
        tries: impl AsyncFnOnce(&Target) -> Result<Tried>,
    ) -> Result<()> {
        if self.wants(attack) {
            let (count, through) = tries(&program.sandbox(&[], &[])?).await?;
            self.add_tries(attack, before, count, &through);
        }
        Ok(())
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints the table as Markdown; true when every bar is kept.
    pub(crate) fn print(&self) -> bool {
        println!("| attack | before | now | bar | |\n|---|---|---|---|---|");
        for row in &self.rows {
            let cells = [
                row.attack.as_str(),
                row.before,
                row.now.as_str(),
                row.bar,
                if row.kept { "kept" } else { "**missed**" },
            ];
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
            println!("| {} |", cells.join(" | "));
        }
        let missed = self.rows.iter().filter(|row| !row.kept).count();
        println!("\n{} attacks, {missed} bars missed.", self.rows.len());
        missed == 0
    }
}
