//! A world of the model, and what can come after it.

use std::collections::BTreeSet;

use super::{ALIVE, CLAIM, OWNERLESS, RECORDED, STORED, TWICE};

pub(super) const WORKERS: usize = 3;
const CRASHES: u8 = 2;
const FAILOVERS: u8 = 1;
const SLEEPERS: u8 = 1;
/// Claims beyond this are left out; each needs a crash, a failover or a sleeper before it.
const FENCES: u8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Outcome {
    Paid,
    NotSent,
    Unknown,
}

/// The row of the intent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) fence: u8,
    pub(super) owner: Option<usize>,
    /// The lease has ended.
    pub(super) lapsed: bool,
    /// The saved state says that a payment may have been sent.
    pub(super) paying: bool,
    pub(super) outcome: Option<Outcome>,
}

/// What a worker holds in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Machine {
    fence: u8,
    /// A payment may have been sent, by this worker or by another one before.
    exposed: bool,
    /// Payments that this worker may still send.
    attempts: u8,
}

/// A request to the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Change {
    Begin,
    Save,
    End(Outcome),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// It has been called, or looks for work.
    Idle,
    /// Its change is on the way to the database.
    Asks(Machine, Change),
    /// The answer is on the way back: whether the change was made.
    Hears(Machine, Change, bool),
    /// The database is silent: it does not know.
    Doubts(Machine, Change),
    /// It chooses the next step.
    Decides(Machine),
    /// It may send.
    Sends(Machine),
    /// It waits for the reply to a payment.
    Waits(Machine),
    /// It looks the payment up.
    Looks(Machine),
    /// It waits for another worker's outcome.
    Joins,
    Told(Outcome),
    Dead,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) row: Option<Row>,
    places: [Place; WORKERS],
    /// Payments on the way to the service.
    pub(super) copies: u8,
    pub(super) sent: u8,
    pub(super) paid: u8,
    pub(super) told: BTreeSet<Outcome>,
    /// The payment holds a card, which only the first worker has.
    card: bool,
    crashes: u8,
    failovers: u8,
    sleepers: u8,
}

/// What may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    SavesWithoutFence,
    EndsWithoutFence,
    LeasesByLocalClock,
    TellsBeforeStored,
    ClaimsWithoutLock,
    SendsBeforeSaved,
    ResumesAsUnsent,
    TakesDoubtForFailure,
    TakesDoubtForSuccess,
    PaysAgainUnderAnotherReference,
    LeavesOutUnsavedIntents,
    NeverClaims,
}

impl Bug {
    pub(super) const ALL: [Self; 12] = [
        Self::SavesWithoutFence,
        Self::EndsWithoutFence,
        Self::LeasesByLocalClock,
        Self::TellsBeforeStored,
        Self::ClaimsWithoutLock,
        Self::SendsBeforeSaved,
        Self::ResumesAsUnsent,
        Self::TakesDoubtForFailure,
        Self::TakesDoubtForSuccess,
        Self::PaysAgainUnderAnotherReference,
        Self::LeavesOutUnsavedIntents,
        Self::NeverClaims,
    ];

    /// The rule that it breaks, by the shortest way.
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::EndsWithoutFence | Self::ClaimsWithoutLock | Self::ResumesAsUnsent | Self::SavesWithoutFence => CLAIM,
            Self::LeasesByLocalClock => ALIVE,
            Self::TellsBeforeStored => STORED,
            Self::SendsBeforeSaved | Self::TakesDoubtForSuccess | Self::LeavesOutUnsavedIntents => RECORDED,
            Self::TakesDoubtForFailure => STORED,
            Self::PaysAgainUnderAnotherReference => TWICE,
            Self::NeverClaims => OWNERLESS,
        }
    }
}

impl World {
    /// A payment that any worker can send, and one by card; called on the first worker, and submitted by another one before.
    pub(super) fn beginnings() -> impl Iterator<Item = Self> {
        let submitted = Row { fence: 1, owner: None, lapsed: true, paying: false, outcome: None };
        let rows = [None, Some(submitted)];
        rows.into_iter().flat_map(|row| {
            [false, true].map(|card| Self {
                row: row.clone(),
                places: [const { Place::Idle }; WORKERS],
                copies: 0,
                sent: 0,
                paid: 0,
                told: BTreeSet::new(),
                card,
                crashes: CRASHES,
                failovers: FAILOVERS,
                sleepers: SLEEPERS,
            })
        })
    }

    pub(super) fn someone_is_left(&self) -> bool {
        self.places.iter().any(|place| *place != Place::Dead)
    }

    /// Every world that can be next.
    pub(super) fn successors(&self, bug: Option<Bug>, next: &mut Vec<Self>) -> Result<(), &'static str> {
        if self.copies > 0 {
            // The service accepts a reference once; a late copy changes nothing.
            let again = u8::from(self.paid == 0 || bug == Some(Bug::PaysAgainUnderAnotherReference));
            next.push(Self { copies: self.copies - 1, paid: self.paid + again, ..self.clone() });
        }
        self.lapse(next);
        for at in 0..WORKERS {
            if self.crashes > 0 && !matches!(self.places[at], Place::Dead | Place::Idle | Place::Told(_)) {
                let mut world = self.at(at, Place::Dead);
                // A change that is on its way may arrive all the same.
                if let Place::Asks(machine, change) = &self.places[at] {
                    let mut arrived = world.clone();
                    arrived.apply(at, machine, change, bug);
                    arrived.crashes -= 1;
                    next.push(arrived);
                }
                world.crashes -= 1;
                next.push(world);
            }
            self.worker(at, bug, next)?;
        }
        Ok(())
    }

    /// The lease of a worker that is dead, waits for nothing any more, or sleeps.
    fn lapse(&self, next: &mut Vec<Self>) {
        let Some(row) = self.row.as_ref().filter(|row| !row.lapsed && row.outcome.is_none()) else { return };
        let Some(owner) = row.owner else { return };
        let awake = !matches!(self.places[owner], Place::Dead | Place::Idle | Place::Joins | Place::Told(_));
        if awake && self.sleepers == 0 {
            return;
        }
        let mut world = self.clone();
        world.sleepers -= u8::from(awake);
        world.row = Some(Row { lapsed: true, ..row.clone() });
        next.push(world);
    }

    fn at(&self, worker: usize, place: Place) -> Self {
        let mut world = self.clone();
        world.places[worker] = place;
        world
    }

    fn worker(&self, at: usize, bug: Option<Bug>, next: &mut Vec<Self>) -> Result<(), &'static str> {
        match &self.places[at] {
            Place::Idle | Place::Joins => self.looks_for_work(at, bug, next)?,
            Place::Asks(machine, change) => {
                let mut world = self.clone();
                let made = world.apply(at, machine, change, bug);
                next.push(world.at(at, Place::Hears(machine.clone(), change.clone(), made)));
                if self.failovers > 0 {
                    for mut world in [self.clone(), world] {
                        world.failovers -= 1;
                        next.push(world.at(at, Place::Doubts(machine.clone(), change.clone())));
                    }
                }
            }
            Place::Hears(machine, change, made) => next.push(self.heard(at, machine, change, *made, bug)),
            Place::Doubts(machine, change) => self.doubts(at, machine, change, bug, next),
            Place::Decides(machine) => next.push(self.decided(at, machine, bug)),
            Place::Sends(machine) => {
                let machine = Machine { exposed: true, attempts: machine.attempts - 1, ..machine.clone() };
                let mut world = self.at(at, Place::Waits(machine));
                world.copies += 1;
                world.sent = 1;
                next.push(world);
            }
            Place::Waits(machine) => {
                if self.paid > 0 {
                    next.push(self.ends(at, machine, Outcome::Paid, bug));
                }
                // No reply, in any case that can be.
                next.push(self.at(at, Place::Looks(machine.clone())));
            }
            Place::Looks(machine) if self.paid > 0 => next.push(self.ends(at, machine, Outcome::Paid, bug)),
            Place::Looks(machine) if machine.attempts > 0 && self.has_request(at) => {
                next.push(self.at(at, Place::Asks(machine.clone(), Change::Save)));
            }
            Place::Looks(machine) => next.push(self.ends(at, machine, Outcome::Unknown, bug)),
            Place::Told(_) | Place::Dead => {}
        }
        Ok(())
    }

    fn has_request(&self, at: usize) -> bool {
        !self.card || at == 0
    }

    fn looks_for_work(&self, at: usize, bug: Option<Bug>, next: &mut Vec<Self>) -> Result<(), &'static str> {
        let Some(row) = &self.row else {
            // Called: its row is made with the first save.
            if self.has_request(at) {
                let machine = Machine { fence: 1, exposed: false, attempts: 2 };
                let place = match bug {
                    Some(Bug::LeavesOutUnsavedIntents) => Place::Sends(machine),
                    _ => Place::Asks(machine, Change::Begin),
                };
                next.push(self.at(at, place));
            }
            return Ok(());
        };
        if let Some(outcome) = row.outcome {
            if self.places[at] == Place::Joins {
                next.push(self.tells(at, outcome));
            }
            return Ok(());
        }
        let own_clock = bug == Some(Bug::LeasesByLocalClock) && row.owner != Some(at);
        if bug == Some(Bug::NeverClaims) || row.fence >= FENCES || !(row.lapsed || own_clock) {
            return Ok(());
        }
        if !row.lapsed {
            return Err(ALIVE);
        }
        let mut world = self.clone();
        // Two that read the row at once take the same number.
        let raised = if bug == Some(Bug::ClaimsWithoutLock) && row.owner.is_some() { row.fence } else { row.fence + 1 };
        world.row = Some(Row { fence: raised, owner: Some(at), lapsed: false, ..row.clone() });
        let exposed = row.paying && bug != Some(Bug::ResumesAsUnsent);
        next.push(world.at(at, Place::Decides(Machine { fence: raised, exposed, attempts: 1 })));
        Ok(())
    }

    /// The database makes a change, or refuses it.
    fn apply(&mut self, at: usize, machine: &Machine, change: &Change, bug: Option<Bug>) -> bool {
        let Some(row) = &mut self.row else {
            let begins = *change == Change::Begin;
            if begins {
                self.row = Some(Row { fence: 1, owner: Some(at), lapsed: false, paying: true, outcome: None });
            }
            return begins;
        };
        let unlocked = bug == Some(Bug::ClaimsWithoutLock) && row.fence == machine.fence;
        let held = row.outcome.is_none() && (row.owner == Some(at) || unlocked) && row.fence == machine.fence;
        match change {
            Change::Begin => false,
            Change::Save if held || bug == Some(Bug::SavesWithoutFence) => {
                row.paying = true;
                row.lapsed = false;
                true
            }
            Change::End(outcome) if held || bug == Some(Bug::EndsWithoutFence) => {
                row.outcome = Some(*outcome);
                row.owner = None;
                true
            }
            Change::Save | Change::End(_) => false,
        }
    }

    /// What a worker does next with a machine that waits for nothing.
    fn decided(&self, at: usize, machine: &Machine, bug: Option<Bug>) -> Self {
        if machine.exposed {
            return self.at(at, Place::Looks(machine.clone()));
        }
        if !self.has_request(at) {
            return self.ends(at, machine, Outcome::NotSent, bug);
        }
        let place = match bug {
            Some(Bug::SendsBeforeSaved) => Place::Sends(machine.clone()),
            _ => Place::Asks(machine.clone(), Change::Save),
        };
        self.at(at, place)
    }

    fn ends(&self, at: usize, machine: &Machine, outcome: Outcome, bug: Option<Bug>) -> Self {
        match bug {
            Some(Bug::TellsBeforeStored) => self.tells(at, outcome),
            _ => self.at(at, Place::Asks(machine.clone(), Change::End(outcome))),
        }
    }

    fn tells(&self, at: usize, outcome: Outcome) -> Self {
        let mut world = self.at(at, Place::Told(outcome));
        world.told.insert(outcome);
        world
    }

    fn heard(&self, at: usize, machine: &Machine, change: &Change, made: bool, _: Option<Bug>) -> Self {
        match (change, made) {
            (_, false) => self.at(at, Place::Joins),
            (Change::Begin | Change::Save, true) => self.at(at, Place::Sends(machine.clone())),
            (Change::End(outcome), true) => self.tells(at, *outcome),
        }
    }

    /// Nothing is sent and no outcome is returned: the row is claimed again, or created.
    fn doubts(&self, at: usize, machine: &Machine, change: &Change, bug: Option<Bug>, next: &mut Vec<Self>) {
        match (bug, change) {
            (Some(Bug::TakesDoubtForFailure), Change::Begin | Change::Save) => {
                next.push(self.tells(at, Outcome::NotSent));
            }
            (Some(Bug::TakesDoubtForSuccess), Change::Begin | Change::Save) => {
                next.push(self.at(at, Place::Sends(machine.clone())));
            }
            _ => {
                let mut world = self.at(at, Place::Joins);
                // Its own lease is not an obstacle: it takes the row under a new number.
                if let Some(row) = world.row.as_mut().filter(|row| row.owner == Some(at)) {
                    row.lapsed = true;
                }
                next.push(world);
            }
        }
    }
}
