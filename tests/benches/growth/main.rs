//! How costs grow: with the keys of a request, the items of a payment, the cards of a batch, the records of a store, the
//! connections of a server, the callbacks that wait, and the payments that a merchant has open.

#![allow(clippy::panic, reason = "a benchmark that cannot run fails by panicking")]

mod connections;
mod merchant;
mod requests;
mod service;

fn main() {
    requests::measure();
    merchant::measure();
    service::measure();
    connections::measure();
}

/// Sizes from the first to the largest, each four times the previous one.
fn sizes(first: usize, largest: usize) -> Vec<usize> {
    let mut all: Vec<usize> =
        std::iter::successors(Some(first), |size| size.checked_mul(4)).take_while(|size| *size < largest).collect();
    all.push(largest);
    all
}
