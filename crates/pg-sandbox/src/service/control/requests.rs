//! The newest requests and their replies.

use serde_json::Value;

use super::listing::{Listing, Page};
use crate::{
    journal::{Entry, Journal, Packed},
    store::{JournalRow, SharedJournal, StoreError, first_key, is_key},
    timestamp::Timestamp,
};

/// The maximum number of entries of a shared journal that one request searches, and the number that it reads at a time.
const LOOKED_THROUGH: u32 = 10_000;
const AT_A_TIME: u32 = 500;
/// The size of entries after which a page ends early: about a thousand usual ones.
const MOST_BYTES: usize = 2 << 20;

/// Returns a page of requests since an instant of the real clock.
pub(super) fn page(journal: &Journal, listing: &Listing, since: Timestamp) -> Result<Page<Value>, StoreError> {
    match journal.shared() {
        Some(shared) => shared_page(shared, listing, since),
        None => Ok(page_in_memory(journal, listing, since)),
    }
}

pub(super) fn entry(journal: &Journal, key: &str) -> Result<Option<Value>, StoreError> {
    match journal.shared() {
        Some(shared) => shared.get(key)?.map(|body| read(&body)).transpose(),
        None => Ok(key.parse().ok().and_then(|number| journal.entry(number)).map(|packed| view(&packed.entry()))),
    }
}

fn page_in_memory(journal: &Journal, listing: &Listing, since: Timestamp) -> Page<Value> {
    // An invalid number sorts before everything.
    let before = listing.before().map(|before| before.parse().unwrap_or(0));
    let method = listing.method().and_then(pg_model::method::method);
    let wanted = |entry: &&Packed| {
        entry.real_at >= since
            && listing.merchant().is_none_or(|merchant| entry.merchant() == Some(merchant))
            && method.is_none_or(|method| entry.info.is_some_and(|info| std::ptr::eq(info, method)))
            && listing.wants(|| view(&entry.entry()))
    };
    let (mut shown, mut bytes, mut next) = (Vec::<&Packed>::new(), 0, None);
    for packed in journal.newest(before).filter(wanted) {
        if shown.len() == listing.limit() || bytes > MOST_BYTES {
            next = shown.last().map(|last| id(last.id));
            break;
        }
        bytes += packed.bytes();
        shown.push(packed);
    }
    Page { entries: shown.into_iter().map(|packed| view(&packed.entry())).collect(), next }
}

/// Reads a limited number of entries, as for the records of an account. The next page continues where this page
/// stopped.
fn shared_page(shared: &SharedJournal, listing: &Listing, since: Timestamp) -> Result<Page<Value>, StoreError> {
    // As in memory, an invalid key sorts before everything.
    if listing.before().is_some_and(|before| !is_key(before)) {
        return Ok(Page { entries: Vec::new(), next: None });
    }
    let first = first_key(since.millis());
    let mut before = listing.before().map(str::to_owned);
    let (mut entries, mut last, mut bytes) = (Vec::new(), None, 0);
    for _ in 0..LOOKED_THROUGH / AT_A_TIME {
        let rows = shared.newest(listing.merchant(), before.as_deref(), AT_A_TIME)?;
        let is_end = rows.len() < usize::try_from(AT_A_TIME).unwrap_or(usize::MAX);
        for JournalRow { key, body, .. } in rows {
            if key < first {
                return Ok(Page { entries, next: None });
            }
            let (entry, size) = (read(&body)?, body.len());
            if listing.method().is_none_or(|method| entry["method"] == method) && listing.wants(|| entry.clone()) {
                if entries.len() == listing.limit() || bytes > MOST_BYTES {
                    return Ok(Page { entries, next: last });
                }
                bytes += size;
                entries.push(entry);
                last = Some(key.clone());
            }
            before = Some(key);
        }
        if is_end {
            return Ok(Page { entries, next: None });
        }
    }
    Ok(Page { entries, next: before })
}

fn read(body: &str) -> Result<Value, StoreError> {
    let unreadable = |_| StoreError::Body { table: "journal", problem: "an entry is not JSON".to_owned() };
    serde_json::from_str(body).map_err(unreadable)
}

/// Returns digits that sort in the order of the numbers.
fn id(number: u64) -> String {
    format!("{number:010}")
}

fn view(entry: &Entry) -> Value {
    entry.view(&id(entry.id))
}
