//! Recent requests and their replies, for people.
//!
//! The journal is bounded. Over a shared store it is in the store, where all processes write and read it
//! ([`SharedJournal`]). Otherwise it is in memory, and a restart clears it. It shows the content of refused requests,
//! which no record contains. Requests are masked before they are added.

use std::{collections::VecDeque, net::IpAddr};

use bytes::Bytes;
use http::{HeaderValue, Method};
use pg_model::method::MethodInfo;

use crate::{
    basis::Basis,
    records::FaultKind,
    secret_parameter,
    store::{JournalLine, SharedJournal},
    timestamp::Timestamp,
    warning::Warnings,
};

mod packed;
mod parameters;
mod parts;
mod reply;
mod view;

pub(crate) use packed::Packed;
pub(crate) use parameters::{MOST as MOST_PARAMETERS, Parameters};

/// The maximum number of entries.
const MOST: usize = 10_000;
/// The approximate limit of bytes of all entries together.
const MOST_BYTES: usize = 32 << 20;
/// The number of bytes kept of a reply's body.
const MOST_BODY: usize = 4_096;

/// The newest requests and their replies.
#[derive(Default)]
pub(crate) struct Journal {
    entries: VecDeque<Packed>,
    last: u64,
    bytes: usize,
    /// The buffer in which the next entry is packed, so that no entry allocates one.
    scratch: Vec<u8>,
    /// Accounts that the open transaction removes.
    leaving: Vec<String>,
    /// Accounts that are removed, but whose entries are still here.
    gone: Vec<String>,
    /// The destination of the entries of answered requests if several processes share the journal.
    shared: Option<SharedJournal>,
}

/// A request and its reply, as they are added.
pub(crate) struct Noted<'a> {
    /// Its time, on the clock of its account.
    pub(crate) at: Timestamp,
    /// Its time, on the real clock.
    pub(crate) real_at: Timestamp,
    /// The peer's address.
    pub(crate) peer: IpAddr,
    /// Its HTTP method.
    pub(crate) http_method: Method,
    /// Its path, masked.
    pub(crate) path: &'a str,
    /// The method called, if any.
    pub(crate) info: Option<&'static MethodInfo>,
    /// The account that the request named, whether or not its credentials were valid.
    pub(crate) merchant: Option<&'a str>,
    /// Its parameters, masked.
    pub(crate) parameters: &'a Parameters,
    /// The fault that affected it.
    pub(crate) fault: Option<FaultKind>,
    /// The reply, even if a fault prevented its delivery; `None` if the call was not executed.
    pub(crate) reply: Option<NotedReply<'a>>,
}

/// A reply, as it is added.
pub(crate) struct NotedReply<'a> {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The error code of a refusal.
    pub(crate) error_code: Option<&'a str>,
    /// Its basis.
    pub(crate) basis: &'a Basis,
    /// Its warnings.
    pub(crate) warnings: &'a Warnings,
    /// The target of a redirect.
    pub(crate) location: Option<&'a HeaderValue>,
    /// The body, whose start is kept; empty if it is a page.
    pub(crate) body: &'a [u8],
}

/// A request and its reply, as they are shown.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its number, from 1 since the start of the sandbox.
    pub(crate) id: u64,
    /// Its time, on the clock of its account.
    pub(crate) at: Timestamp,
    /// Its time, on the real clock.
    pub(crate) real_at: Timestamp,
    /// The peer's address.
    pub(crate) peer: IpAddr,
    /// Its HTTP method.
    pub(crate) http_method: Method,
    /// Its path, masked.
    pub(crate) path: String,
    /// The method called, if any.
    pub(crate) info: Option<&'static MethodInfo>,
    /// The account that the request named, whether or not its credentials were valid.
    pub(crate) merchant: Option<String>,
    /// Its parameters, masked.
    pub(crate) parameters: Parameters,
    /// The fault that affected it.
    pub(crate) fault: Option<FaultKind>,
    /// The reply, even if a fault prevented its delivery; `None` if the call was not executed.
    pub(crate) reply: Option<Answered>,
}

/// A reply in the journal.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The error code of a refusal.
    pub(crate) error_code: Option<String>,
    /// Its basis.
    pub(crate) basis: Basis,
    /// Its warnings.
    pub(crate) warnings: Warnings,
    /// The target of a redirect.
    pub(crate) location: Option<HeaderValue>,
    /// The start of the body, unless it is a page.
    pub(crate) body: Bytes,
}

impl Answered {
    /// Returns the warnings, one sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.sentences()
    }

    /// Returns the basis as text, for example `2 4.4, A12`.
    pub(crate) fn basis(&self) -> Option<String> {
        self.basis.text()
    }

    /// Returns the target of a redirect, masked.
    pub(crate) fn location(&self) -> Option<String> {
        let location = self.location.as_ref()?.to_str().ok()?;
        Some(secret_parameter::masked(location))
    }

    /// Returns the start of the body, masked; without the values of fields that are sensitive in a request.
    pub(crate) fn body(&self) -> String {
        let text = pg_model::mask::text(&reply::without_sensitive(&String::from_utf8_lossy(&self.body)));
        if self.body.len() < MOST_BODY {
            return text;
        }
        // A truncated card number is too short to be masked.
        let kept = text.char_indices().rev().nth(20).map_or(0, |(at, _)| at);
        format!("{}…", &text[..kept])
    }
}

impl Journal {
    /// Creates a journal in memory, or one that all processes share.
    pub(crate) fn new(shared: Option<SharedJournal>) -> Self {
        Self { shared, ..Self::default() }
    }

    /// Returns the journal that all processes share, if there is one; then this one holds only the entries of the
    /// present group.
    pub(crate) const fn shared(&self) -> Option<&SharedJournal> {
        self.shared.as_ref()
    }

    /// Hands the entries of answered requests over to the shared journal, if there is one, and forgets those of removed accounts.
    pub(crate) fn publish(&mut self) {
        let gone = std::mem::take(&mut self.gone);
        let Self { entries, bytes, shared: Some(shared), .. } = self else { return self.forget(&gone) };
        *bytes = 0;
        shared.add(entries.drain(..).map(|packed| JournalLine {
            time: packed.real_at.millis(),
            number: packed.id,
            merchant: packed.merchant().unwrap_or_default().to_owned(),
            body: Box::new(move |key| packed.entry().view(key).to_string()),
        }));
        gone.iter().for_each(|merchant| shared.forget(merchant));
    }

    fn forget(&mut self, gone: &[String]) {
        if gone.is_empty() {
            return;
        }
        self.entries.retain(|entry| entry.merchant().is_none_or(|merchant| !gone.iter().any(|name| name == merchant)));
        self.bytes = self.entries.iter().map(Packed::bytes).sum();
    }

    /// Records that the open transaction removes an account: its commit removes the account's entries.
    pub(crate) fn leave(&mut self, merchant: &str) {
        self.leaving.push(merchant.to_owned());
    }

    /// Handles the commit of the open transaction.
    pub(crate) fn committed(&mut self) {
        self.gone.append(&mut self.leaving);
    }

    /// Adds an entry and assigns its number. Reuses the memory of the last entry that was removed to make room, if the
    /// sizes are similar.
    pub(crate) fn add(&mut self, noted: &Noted<'_>) {
        self.last += 1;
        packed::write(noted, &mut self.scratch);
        let mut freed = None;
        while self.entries.len() >= MOST || self.bytes + Packed::size_of(&self.scratch) > MOST_BYTES {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.bytes();
            freed = Some(oldest);
        }
        let packed = Packed::new(self.last, noted, &self.scratch, freed);
        self.bytes += packed.bytes();
        self.entries.push_back(packed);
    }

    /// Returns the number of the newest entry so far.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns the entries after a number, oldest first.
    pub(crate) fn after(&self, id: u64) -> impl Iterator<Item = &Packed> {
        let count = self.entries.iter().rev().take_while(|entry| entry.id > id).count();
        self.entries.iter().skip(self.entries.len() - count)
    }

    /// Handles the rollback of the open transaction: removes every entry after that number, and keeps the entries of
    /// accounts that the transaction would have removed.
    pub(crate) fn forget_after(&mut self, id: u64) {
        self.leaving.clear();
        while self.entries.back().is_some_and(|entry| entry.id > id) {
            self.bytes -= self.entries.pop_back().map_or(0, |newest| newest.bytes());
        }
        self.last = id;
    }

    /// Returns the entries before a number, newest first.
    pub(crate) fn newest(&self, before: Option<u64>) -> impl Iterator<Item = &Packed> {
        self.entries.iter().rev().skip_while(move |entry| before.is_some_and(|before| entry.id >= before))
    }

    /// Returns the entry with this number.
    pub(crate) fn entry(&self, id: u64) -> Option<&Packed> {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        self.entries.get(at)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::StatusCode;
    use pg_model::Encoding;

    use super::*;
    use crate::service::{Answer, Reply};

    fn answer(body: String) -> Answer {
        Answer::new(Reply::encoded(StatusCode::OK, Encoding::Xml, body), Basis::default())
    }

    fn answered(body: String) -> Answered {
        let mut journal = Journal::default();
        add(&mut journal, None, body);
        journal.entry(1).unwrap().entry().reply.unwrap()
    }

    fn add(journal: &mut Journal, merchant: Option<&str>, body: String) {
        journal.add(&Noted {
            at: Timestamp::MIN,
            real_at: Timestamp::MIN,
            peer: Ipv4Addr::LOCALHOST.into(),
            http_method: Method::POST,
            path: "/",
            info: None,
            merchant,
            parameters: &Parameters::default(),
            fault: None,
            reply: Some(answer(body).remembered()),
        });
    }

    fn add_some(journal: &mut Journal) {
        add(journal, None, "a".repeat(10));
    }

    fn ids(journal: &Journal, before: Option<u64>) -> Vec<u64> {
        journal.newest(before).take(3).map(|entry| entry.id).collect()
    }

    #[test]
    fn the_newest_come_first_and_the_oldest_go() {
        let mut journal = Journal::default();
        (0..MOST + 5).for_each(|_| add_some(&mut journal));
        assert_eq!(journal.entries.len(), MOST);
        assert_eq!(ids(&journal, None), [10_005, 10_004, 10_003]);
        assert_eq!(ids(&journal, Some(8)), [7, 6]);
        assert_eq!(journal.entry(6).unwrap().id, 6);
        assert!(journal.entry(5).is_none() && journal.entry(10_006).is_none());
        journal.forget_after(10_003);
        add_some(&mut journal);
        assert_eq!(ids(&journal, None), [10_004, 10_003, 10_002]);
        assert_eq!(journal.bytes, journal.entries.iter().map(Packed::bytes).sum::<usize>());
    }

    #[test]
    fn entries_of_an_account_go_with_the_commit_that_removes_it() {
        let mut journal = Journal::default();
        for merchant in ["ci-1", "main", "ci-1", "ci-2"] {
            add(&mut journal, Some(merchant), String::new());
        }
        let last = journal.last();
        journal.leave("ci-1");
        add(&mut journal, Some("main"), String::new());
        journal.forget_after(last);
        journal.committed();
        journal.publish();
        assert_eq!(ids(&journal, None), [4, 3, 2], "the transaction was undone");
        journal.leave("ci-1");
        journal.committed();
        // Another transaction of the same group is rolled back.
        journal.leave("ci-2");
        journal.forget_after(last);
        journal.publish();
        assert_eq!(ids(&journal, None), [4, 2]);
        assert_eq!(journal.entry(2).unwrap().merchant(), Some("main"));
        assert!(journal.entry(1).is_none() && journal.entry(3).is_none());
        assert_eq!(journal.bytes, journal.entries.iter().map(Packed::bytes).sum::<usize>());
    }

    #[test]
    fn large_entries_are_fewer() {
        let mut journal = Journal::default();
        (0..MOST).for_each(|_| add(&mut journal, None, "a".repeat(1 << 20)));
        assert!(journal.bytes <= MOST_BYTES && journal.entries.len() < 8_000);
    }

    #[test]
    fn a_truncated_body_shows_no_part_of_a_card_number() {
        let text = "x".repeat(MOST_BODY - 11) + "4000000000001000";
        let shown = answered(text).body();
        assert!(shown.ends_with("xx…") && !shown.contains('4'), "{shown}");
        let whole = answered("4000000000001000".to_owned()).body();
        assert_eq!(whole, "400000******1000");
    }

    #[test]
    fn the_journal_holds_no_card_number_of_a_reply() {
        let before = "x".repeat(MOST_BODY - 8);
        for number in ["4000000000001000", "4000 0000 0000 1000", "\u{664}\u{660}00-0000-0000-1000"] {
            for text in [format!("<merchantReference>{number}</merchantReference>"), format!("{before}{number}")] {
                let kept = answered(text).body;
                let kept = String::from_utf8_lossy(&kept).into_owned();
                let start: String = number.chars().take(8).collect();
                assert!(!kept.contains(&start), "{number}: {}", &kept[kept.len() - 60..]);
            }
        }
        let plain = r#"{"transactionKey":"12345678901a23456789012","createdOn":"2026-01-01T00:00:00+00:00"}"#;
        assert_eq!(answered(plain.to_owned()).body, plain);
    }
}
