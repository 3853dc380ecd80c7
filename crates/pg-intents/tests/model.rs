//! The protocol of lease, fence, save and send, explored to the end: every order of every step of three workers over one
//! database and one service, with crashes, a failover and a worker that sleeps past its lease.
//!
//! What is modelled: the rows as [`pg_intents::IntentStore`] promises them (the conformance suite holds the stores to that), and the charge as its
//! module promises it. A request of a worker to the database is on its way until it is applied or lost, and so is the answer. What is
//! not: time. A lease ends at any moment.

mod rules;
mod world;

use std::collections::{HashSet, VecDeque};

use world::{Bug, World};

// What must be true.
const TWICE: &str = "the payment is made at most once";
const CLAIM: &str = "what is told is what the books hold, then and later";
const STORED: &str = "what is told is stored";
const AGREED: &str = "everyone is told the same, but for what was unknown";
const RECORDED: &str = "what was sent is recorded";
const ALIVE: &str = "no lease is taken that has not ended";
const OWNERLESS: &str = "nothing is left without an owner or an end";

struct Explored {
    states: usize,
    ends: usize,
    /// What was broken first, by the shortest way.
    broken: Option<&'static str>,
}

/// Visits every world that can come after the first ones, the nearest first.
fn explore(bug: Option<Bug>) -> Explored {
    let mut seen = HashSet::new();
    let mut queue: VecDeque<World> = World::beginnings().collect();
    seen.extend(queue.iter().cloned());
    let (mut ends, mut next) = (0, Vec::new());
    while let Some(world) = queue.pop_front() {
        let states = seen.len();
        next.clear();
        let step = world.successors(bug, &mut next);
        let broken = step.err().or_else(|| rules::broken(&world));
        let broken = broken.or_else(|| if next.is_empty() { rules::broken_at_the_end(&world) } else { None });
        if broken.is_some() {
            return Explored { states, ends, broken };
        }
        ends += usize::from(next.is_empty());
        for world in next.drain(..) {
            if seen.insert(world.clone()) {
                queue.push_back(world);
            }
        }
    }
    Explored { states: seen.len(), ends, broken: None }
}

#[test]
fn no_order_of_steps_breaks_a_rule() {
    let Explored { states, ends, broken } = explore(None);
    println!("{states} states, {ends} of them ends");
    assert_eq!(broken, None);
    // Far from nothing: the story has not ended early.
    assert!(states > 100_000 && ends > 100, "{states} states, {ends} ends");
}

#[test]
fn every_planted_bug_is_found() {
    for bug in Bug::ALL {
        let Explored { states, broken, .. } = explore(Some(bug));
        println!("{bug:?}: {} after {states} states", broken.unwrap_or("not found"));
        assert_eq!(broken, Some(bug.rule()), "{bug:?}, {states} states");
    }
}
