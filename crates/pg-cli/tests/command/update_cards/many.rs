//! A file of as many cards as `PG_UPDATE_CARDS` says: exact results, and the memory that they took.

use std::{
    fs,
    io::{BufRead as _, BufReader},
};

use super::Cards;

#[test]
fn many_cards_get_their_rows_and_are_submitted_once() {
    let count = std::env::var("PG_UPDATE_CARDS").map_or(200, |count| count.parse().unwrap());
    let cards = Cards::new(count);
    let mut child = cards.update_as("--batch-size 100 --poll 1 --per-minute 100000").start();
    let mut peak = 0;
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        line.unwrap();
        peak = peak_memory(child.id()).unwrap_or(peak);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    cards.are_exact();
    cards.were_submitted_once();
    assert_eq!(cards.shop.submitted().len(), count);
    let sandbox = peak_memory(cards.sandbox.id()).unwrap_or(0);
    println!("{count} cards: peak memory of the command {peak} KiB, of the sandbox {sandbox} KiB");
}

/// The peak memory of a running process in KiB, where the system has `/proc`.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}
