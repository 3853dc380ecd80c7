//! The findings of a survey so far.

use std::collections::{BTreeMap, BTreeSet};

use pg_proto::model::dialect::SessionData;

use crate::{
    answer::{Answer, Evidence},
    cards::Role,
    point::Seen,
};

/// The findings of a survey so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    seed: u64,
    texts: BTreeMap<String, String>,
    /// Why there is no text with a name.
    missing: BTreeMap<&'static str, String>,
    /// Test cards that do not do what their role says, and what they did.
    cards: BTreeMap<Role, String>,
    /// Status and code of the replies to probes, by name.
    answers: BTreeMap<&'static str, (u16, String)>,
    sightings: BTreeMap<&'static str, Sighting>,
    /// Observations that a later request has to confirm.
    suspected: BTreeMap<&'static str, Sighting>,
    /// Statuses of payments that have no reason to be declined: they decide nothing about declines.
    ordinary: BTreeSet<String>,
    /// Why points were not decided.
    reasons: BTreeMap<&'static str, String>,
    /// Codes that are about requests, not about the account or the service.
    believed: BTreeSet<String>,
    pub(crate) session_data: SessionData,
}

/// The observation of a point.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) seen: Seen,
    pub(crate) evidence: Evidence,
    /// The message that came with a code.
    pub(crate) message: String,
}

impl Sighting {
    fn new(seen: Seen, evidence: &Evidence) -> Self {
        Self { seen, message: evidence.excerpt.clone(), evidence: evidence.clone() }
    }
}

impl Notes {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Generates an unused text of 32 letters and digits, and notes it under a name.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let text = format!("{:016x}{:016x}", self.number(), self.number());
        self.note(name, text.clone());
        text
    }

    /// SplitMix64.
    fn number(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn note(&mut self, name: &str, text: impl Into<String>) {
        self.texts.insert(name.to_owned(), text.into());
    }

    /// Forgets the text with a name, which the service did not return or does not accept, and notes why.
    pub(crate) fn lacks(&mut self, name: &'static str, why: impl Into<String>) {
        self.texts.remove(name);
        self.missing.insert(name, why.into());
    }

    /// Returns the text noted under a name.
    ///
    /// # Errors
    /// If nothing was noted: why not.
    pub(crate) fn text(&self, name: &str) -> Result<&str, String> {
        let why = || self.missing.get(name).map_or("an earlier request got no usable reply", String::as_str);
        self.texts.get(name).map(String::as_str).ok_or_else(|| why().to_owned())
    }

    /// Notes what a test card did instead of what its role says. The first observation counts.
    pub(crate) fn unusable(&mut self, card: Role, why: &str) {
        self.cards.entry(card).or_insert_with(|| why.to_owned());
    }

    pub(crate) fn unusable_cards(&self) -> impl Iterator<Item = (Role, &str)> {
        self.cards.iter().map(|(card, why)| (*card, why.as_str()))
    }

    pub(crate) fn answered(&mut self, probe: &'static str, answer: &Answer) {
        self.answers.insert(probe, (answer.http, answer.code.clone()));
    }

    /// Whether the probe with this name got the same reply.
    pub(crate) fn is_same(&self, probe: &str, answer: &Answer) -> bool {
        self.answers.get(probe).is_some_and(|(http, code)| *http == answer.http && *code == answer.code)
    }

    /// Whether the probe with this name has a reply of the service.
    pub(crate) fn is_answered(&self, probe: &str) -> bool {
        self.answers.contains_key(probe)
    }

    /// Whether the page of the probe with this name was opened, or redirected to another one.
    pub(crate) fn is_opened(&self, probe: &str) -> bool {
        self.answers.get(probe).is_some_and(|(http, _)| (200..400).contains(http))
    }

    /// Whether the probe with this name was answered without an error code.
    pub(crate) fn succeeded(&self, probe: &str) -> bool {
        self.answers.get(probe).is_some_and(|(http, code)| (200..300).contains(http) && code.is_empty())
    }

    pub(crate) fn sight(&mut self, point: &'static str, seen: Seen, evidence: &Evidence) {
        self.sightings.insert(point, Sighting::new(seen, evidence));
    }

    /// Notes an observation that counts only after [`confirm`](Self::confirm).
    pub(crate) fn suspect(&mut self, point: &'static str, seen: Seen, evidence: &Evidence) {
        self.suspected.insert(point, Sighting::new(seen, evidence));
    }

    /// Returns what was observed, confirmed or not.
    pub(crate) fn observed(&self, point: &str) -> Option<&Seen> {
        self.sightings.get(point).or_else(|| self.suspected.get(point)).map(|sighting| &sighting.seen)
    }

    /// Returns a status that was observed, and is not confirmed yet.
    pub(crate) fn suspected_status(&self, point: &str) -> Option<&str> {
        match &self.suspected.get(point)?.seen {
            Seen::Status(code) => Some(code),
            _ => None,
        }
    }

    pub(crate) fn confirm(&mut self, point: &'static str) {
        if let Some(sighting) = self.suspected.remove(point) {
            self.sightings.insert(point, sighting);
        }
    }

    /// Withdraws an observation that has another explanation.
    pub(crate) fn retract(&mut self, point: &'static str, why: &str) {
        let suspected = self.suspected.remove(point).is_some();
        if self.sightings.remove(point).is_some() || suspected {
            self.reasons.insert(point, why.to_owned());
        }
    }

    pub(crate) fn ordinary(&mut self, status: &str) {
        self.ordinary.insert(status.to_owned());
    }

    pub(crate) fn is_ordinary(&self, status: &str) -> bool {
        self.ordinary.contains(status)
    }

    pub(crate) fn sighting(&self, point: &str) -> Option<&Sighting> {
        self.sightings.get(point)
    }

    pub(crate) fn sightings(&self) -> impl Iterator<Item = (&'static str, &Sighting)> {
        self.sightings.iter().map(|(point, sighting)| (*point, sighting))
    }

    /// Notes why a point was not decided; the first reason counts.
    pub(crate) fn undecided(&mut self, points: &[&'static str], why: &str) {
        for point in points {
            self.reasons.entry(point).or_insert_with(|| why.to_owned());
        }
    }

    pub(crate) fn reason(&self, point: &str) -> Option<&str> {
        self.reasons.get(point).map(String::as_str)
    }

    pub(crate) fn believe(&mut self, code: &str) {
        self.believed.insert(code.to_owned());
    }

    pub(crate) fn believes(&self, code: &str) -> bool {
        self.believed.contains(code)
    }
}
