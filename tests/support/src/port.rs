//! Ports for programs that need a port as an argument.

use std::{
    net::{Ipv4Addr, TcpListener},
    ops::RangeInclusive,
    sync::atomic::{AtomicU16, Ordering},
};

/// A port on which no program listens. The system does not choose it for connections, so it stays free while a program restarts.
///
/// # Panics
/// When every such port is taken.
#[must_use]
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let chosen = not_for_connections();
    let count = chosen.end() - chosen.start() + 1;
    // Concurrent programs begin far apart.
    let begin = u16::try_from(u64::from(std::process::id()) * 97 % u64::from(count)).expect("it is less");
    (0..count)
        .map(|_| {
            let step = NEXT.fetch_add(1, Ordering::Relaxed) % count;
            chosen.start() + u16::try_from((u32::from(begin) + u32::from(step)) % u32::from(count)).expect("it is less")
        })
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("one of them is free")
}

/// The ports from which Linux does not choose; elsewhere those below the usual ones.
fn not_for_connections() -> RangeInclusive<u16> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut words = range.split_whitespace().filter_map(|word| word.parse::<u16>().ok());
    let (first, last) = words.next().zip(words.next()).unwrap_or((32_768, 60_999));
    let (below, above) = (10_000..=first.max(10_001) - 1, last.saturating_add(1)..=u16::MAX);
    if below.len() >= above.len() { below } else { above }
}
