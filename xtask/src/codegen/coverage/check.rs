//! Mistakes in the list: unknown entries, and missing ones.

use std::collections::BTreeSet;

use super::{
    super::{
        check::mentioned_assumptions,
        place::{Place, Problems, allowed},
        tables::Tables,
    },
    entries::{self, Entry},
    list::{List, Statement},
};

/// Notes every mistake.
pub(super) fn check(list: &List, tables: &Tables, problems: &mut Problems) {
    let mut named = BTreeSet::new();
    for section in &list.sections {
        for table in &section.tables {
            let statements = list.of(&section.at, Some(&table.name)).count();
            if table.from.is_empty() && statements == 0 {
                let what = format!("table {:?} of {} needs rows from tables, or statements", table.name, section.at);
                problems.push(table.place, what);
            }
            let mut listed = statements;
            for from in &table.from {
                match entries::of(tables, &list.of_tables, from) {
                    Ok(entries) => {
                        listed += entries.len();
                        named.extend(entries.into_iter().map(|entry| entry.key));
                    }
                    Err(what) => problems.push(table.place, what),
                }
            }
            // More is right: a row of our tables may come from an assumption.
            if listed < table.rows {
                let what = format!("{} has {} rows in {:?}, {listed} are listed", section.at, table.rows, table.name);
                problems.push(table.place, what);
            }
        }
        let said = || list.statements.iter().chain(&list.cited).filter(|statement| statement.at == section.at);
        if section.tables.is_empty() && section.not_testable.is_empty() && said().next().is_none() {
            problems.push(section.place, format!("nothing is listed of {} {}", section.at, section.title));
        }
        for open in section.open.iter().flat_map(|open| mentioned_assumptions(open)) {
            if !said().any(|one| one.assumptions.contains(&open)) {
                problems.push(section.place, format!("no statement of {} shows A{open:02}", section.at));
            }
        }
    }
    for statement in list.statements.iter().chain(&list.cited) {
        statement_is_sound(list, tables, statement, problems);
    }
    all_rows(list, tables, &named, problems);
}

fn statement_is_sound(list: &List, tables: &Tables, statement: &Statement, problems: &mut Problems) {
    let place = statement.place;
    let Some(section) = list.sections.iter().find(|section| section.at == statement.at) else {
        let hint = allowed(&statement.at, list.sections.iter().map(|section| section.at.as_str()));
        return problems.push(place, format!("{:?} is not a section{hint}", statement.at));
    };
    let names = || section.tables.iter().map(|table| table.name.as_str());
    if let Some(table) = &statement.table
        && !names().any(|name| name == table)
    {
        problems.push(place, format!("{:?} is not a table of {}{}", table, section.at, allowed(table, names())));
    }
    for number in &statement.assumptions {
        if !tables.assumptions.iter().any(|known| known.number == *number) {
            problems.push(place, format!("A{number:02} is not an assumption"));
        }
    }
}

/// Checks that every row of the tables belongs to a section and has a test, and that every citation has a row.
fn all_rows(list: &List, tables: &Tables, named: &BTreeSet<String>, problems: &mut Problems) {
    let rows: Vec<Entry> = entries::all(tables, &list.of_tables);
    let known: BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    for row in &rows {
        let place = section_of(list, &row.source);
        if !named.contains(&row.key) {
            problems.push(place, format!("{} is in no table of a section; its source is {}", row.key, row.source));
        }
        if row.shown.is_empty() {
            problems.push(place, format!("no test says `// spec: {}`", row.key));
        }
    }
    let rules = ["fields", "parameters signed", "parameters session", "parameters enterprise"];
    for (key, (place, _)) in &list.of_tables {
        if !known.contains(key.as_str()) && !rules.contains(&key.as_str()) {
            problems.push(*place, format!("{key:?} is neither a section nor a row of the tables"));
        }
    }
}

/// The section that a source names, or the one before it where several share a heading (`1 §4.3` to `1 §4.5`).
fn section_of(list: &List, source: &str) -> Place {
    let number = |at: &str| -> Vec<u32> { at.split([' ', '§', '.']).filter_map(|part| part.parse().ok()).collect() };
    let wanted = number(source);
    let before = list.sections.iter().filter(|section| {
        let at = number(&section.at);
        at.first() == wanted.first() && at <= wanted
    });
    let nearest = before.max_by_key(|section| number(&section.at)).or_else(|| list.sections.first());
    nearest.map_or_else(Place::default, |section| section.place)
}
