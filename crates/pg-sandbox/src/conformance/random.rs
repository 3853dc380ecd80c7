//! Random writes and queries, compared with a list of rows.

use std::borrow::Cow;

use super::{Checked, Probe};
use crate::{
    records::{Batch, Callback, CardToken, Payment, Session},
    store::{INDEX_COLUMNS, Kind, Query, Row, StoredRecord as _},
};

/// The number of writes.
const STEPS: u32 = 600;
/// The kinds that have index columns, and the column that has an order, if there is one.
const INDEXED: [(&Kind, Option<&str>); 5] = [
    (Batch::KIND, Some(Batch::DUE)),
    (Callback::KIND, Some(Callback::DUE)),
    (CardToken::KIND, Some(CardToken::PARENT)),
    (Payment::KIND, Some(Payment::PARENT)),
    (Session::KIND, Some(Session::CARD_UNTIL)),
];

/// A row of the list.
#[derive(Clone, Debug)]
struct Held {
    kind: &'static Kind,
    key: String,
    merchant: &'static str,
    index: [Option<String>; INDEX_COLUMNS],
    body: String,
}

/// Xorshift: the same numbers in every run.
struct Dice(u32);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        usize::try_from(self.0).unwrap_or_default() % limit
    }
}

pub(super) fn agrees(probe: &mut Probe<'_>) -> Checked {
    let mut dice = Dice(0x9e37_79b9);
    let (mut committed, mut current): (Vec<Held>, Vec<Held>) = (Vec::new(), Vec::new());
    probe.begin()?;
    for step in 0..STEPS {
        write(probe, &mut dice, &mut current, step)?;
        query(probe, &mut dice, &current)?;
        match dice.below(12) {
            0 => {
                probe.commit()?;
                committed.clone_from(&current);
                probe.begin()?;
            }
            1 => {
                probe.rollback()?;
                current.clone_from(&committed);
                probe.begin()?;
            }
            _ => {}
        }
    }
    probe.commit()?;
    let rows: Vec<_> = current.iter().map(|held| (held.kind, &*held.key)).collect();
    probe.clean(&rows)
}

fn write(probe: &mut Probe<'_>, dice: &mut Dice, current: &mut Vec<Held>, step: u32) -> Checked {
    let kind = INDEXED[dice.below(INDEXED.len())].0;
    let key = format!("k{}", dice.below(14));
    current.retain(|held| held.kind.table != kind.table || held.key != key);
    if dice.below(4) == 0 {
        return probe.remove(kind, &key);
    }
    let mut index = [const { None }; INDEX_COLUMNS];
    for column in index.iter_mut().take(kind.columns.len()) {
        *column = (dice.below(3) > 0).then(|| format!("v{}", dice.below(5)));
    }
    let merchant = ["main", "other"][dice.below(2)];
    let held = Held { kind, body: format!("{{\"step\":{step}}}"), merchant, index, key };
    let columns = held.index.each_ref().map(|value| value.as_deref().map(Cow::Borrowed));
    probe.put(kind, &Row { key: &held.key, merchant, index: columns, body: &held.body })?;
    current.push(held);
    Ok(())
}

fn query(probe: &mut Probe<'_>, dice: &mut Dice, current: &[Held]) -> Checked {
    let (kind, ordered) = INDEXED[dice.below(INDEXED.len())];
    let limit = u32::try_from(dice.below(9)).unwrap_or_default();
    let ascending = dice.below(2) == 0;
    let mut rows: Vec<&Held> = current.iter().filter(|held| held.kind.table == kind.table).collect();
    let mut query = if ascending { Query::oldest(limit) } else { Query::newest(limit) };
    let (merchant, value, before) =
        (["main", "other"][dice.below(2)], format!("v{}", dice.below(5)), format!("k{}", dice.below(14)));
    if dice.below(3) == 0 {
        query = query.of(merchant);
        rows.retain(|held| held.merchant == merchant);
    }
    if dice.below(4) == 0 {
        query = query.before(&before);
        rows.retain(|held| held.key < before);
    }
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    match (dice.below(3), ordered) {
        (0, _) => {
            let at = dice.below(kind.columns.len());
            query = query.equal(kind.columns[at], &value);
            rows.retain(|held| held.index[at].as_ref() == Some(&value));
        }
        (1, Some(column)) => {
            let at = kind.columns.iter().position(|named| *named == column).unwrap_or_default();
            query = query.at_most(column, &value);
            rows.retain(|held| held.index[at].as_ref().is_some_and(|held| *held <= value));
            rows.sort_by(|one, other| one.index[at].cmp(&other.index[at]));
        }
        _ => {}
    }
    if !ascending {
        rows.reverse();
    }
    rows.truncate(usize::try_from(limit).unwrap_or_default());
    let bodies: Vec<&str> = rows.iter().map(|held| &*held.body).collect();
    probe.selects(kind, &query, &bodies)
}
