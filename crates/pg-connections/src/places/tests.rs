use std::{future::Future, net::Ipv4Addr, pin::pin, task::Poll};

use super::*;

fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

fn places(connections: usize, per_address: usize) -> ConnectionSlots {
    ConnectionSlots::new(ConnectionLimits {
        connections,
        per_address,
        body_bytes: 100,
        free_body_bytes: 0,
        ..ConnectionLimits::default()
    })
}

fn admitted(places: &ConnectionSlots, from: u8) -> ConnectionSlot {
    admitted_from(places, address(from))
}

fn admitted_from(places: &ConnectionSlots, address: IpAddr) -> ConnectionSlot {
    match places.admit(address) {
        Admission::Admitted(place) => place,
        Admission::Full => panic!("full"),
        Admission::Refused => panic!("refused"),
    }
}

/// Returns the result of a future that must be ready at once.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match pin!(future).poll(&mut cx) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn is_closed(place: &ConnectionSlot) -> bool {
    now(place.closed()).is_some()
}

#[test]
fn the_longest_idle_makes_room() {
    let places = places(3, 9);
    let [first, second, third] = [1, 2, 3].map(|from| admitted(&places, from));
    first.working();
    first.idle();
    let fourth = admitted(&places, 4);
    assert_eq!([&first, &second, &third, &fourth].map(is_closed), [false, true, false, false]);
    let fifth = admitted(&places, 5);
    assert_eq!([&first, &third, &fourth, &fifth].map(is_closed), [false, true, false, false]);
    let _sixth = admitted(&places, 6);
    assert_eq!([&first, &fourth, &fifth].map(is_closed), [true, false, false]);
}

#[test]
fn a_long_silent_connection_makes_room_for_answered_ones() {
    let places = places(3, 9);
    let [answered, silent, other] = [1, 2, 3].map(|from| admitted(&places, from));
    answered.working();
    answered.idle();
    other.working();
    drop(other);
    for _ in 0..GRACE {
        drop(admitted(&places, 4));
    }
    // Both are older than any new one; the answered one has been idle for less time.
    let _next = [5, 6].map(|from| admitted(&places, from));
    assert_eq!([&answered, &silent].map(is_closed), [false, true]);
}

#[test]
fn a_flood_does_not_close_new_connections_before_those_that_were_answered_long_ago() {
    let places = places(4, 9);
    let answered = [1, 2, 3].map(|from| admitted(&places, from));
    for place in &answered {
        place.working();
        place.idle();
    }
    let new = admitted(&places, 4);
    let _flood = [5, 6].map(|from| admitted(&places, from));
    assert_eq!(answered.each_ref().map(is_closed), [true, true, false]);
    assert!(!is_closed(&new));
}

#[test]
fn a_request_that_is_being_answered_keeps_its_place() {
    let places = places(2, 9);
    let [first, second] = [1, 2].map(|from| admitted(&places, from));
    first.working();
    second.working();
    assert!(matches!(places.admit(address(3)), Admission::Full));
    assert_eq!([&first, &second].map(is_closed), [false, false]);
    let freed = places.freed();
    second.idle();
    assert!(now(freed).is_some());
    let _third = admitted(&places, 3);
    assert_eq!([&first, &second].map(is_closed), [false, true]);
}

#[test]
fn one_address_makes_room_for_itself() {
    let places = places(9, 2);
    let [other, first, second] = [2, 1, 1].map(|from| admitted(&places, from));
    let third = admitted(&places, 1);
    assert_eq!([&other, &first, &second, &third].map(is_closed), [false, true, false, false]);
    second.working();
    third.working();
    assert!(matches!(places.admit(address(1)), Admission::Refused));
    drop(third);
    let _fourth = admitted(&places, 1);
}

#[test]
fn this_machine_has_no_bound_of_its_own() {
    let places = places(9, 1);
    let here = || places.admit(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let both = [here(), here()];
    assert!(both.iter().all(|one| matches!(one, Admission::Admitted(place) if !is_closed(place))));
}

#[test]
fn a_dropped_slot_is_free() {
    let places = places(1, 1);
    for _ in 0..3 {
        let place = admitted(&places, 1);
        place.working();
        assert!(matches!(places.admit(address(2)), Admission::Full));
    }
    let state = places.0.lock();
    assert!(state.connections.is_empty() && state.idle.is_empty() && state.addresses.is_empty());
}

#[test]
fn incomplete_bodies_make_room_for_new_ones() {
    let places = places(9, 9);
    let [first, second, third] = [1, 2, 3].map(|from| admitted(&places, from));
    let one = now(first.hold(60)).unwrap().unwrap();
    let two = now(second.hold(40)).unwrap().unwrap();
    let mut waiting = pin!(third.hold(50));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    assert_eq!([&first, &second].map(is_closed), [true, false]);
    drop(one);
    assert!(matches!(waiting.as_mut().poll(&mut cx), Poll::Ready(Some(_))));
    drop(two);
}

#[test]
fn a_complete_body_is_waited_for() {
    let places = places(9, 9);
    let [first, second] = [1, 2].map(|from| admitted(&places, from));
    let held = now(first.hold(100)).unwrap().unwrap();
    first.working();
    assert!(now(second.hold(1)).is_none());
    assert!(!is_closed(&first));
    drop(held);
    first.idle();
    assert!(now(second.hold(1)).unwrap().is_some());
    assert!(now(second.hold(101)).unwrap().is_none(), "more than there ever is");
}

#[test]
fn a_small_body_never_waits_for_large_ones() {
    let places =
        ConnectionSlots::new(ConnectionLimits { body_bytes: 100, free_body_bytes: 8, ..ConnectionLimits::default() });
    let [large, small] = [1, 2].map(|from| admitted(&places, from));
    let _all = now(large.hold(108)).flatten().expect("eight bytes are not counted, and as many as all bodies may have");
    large.working();
    assert!(now(small.hold(5)).is_some() && now(small.hold(3)).is_some(), "these are its own");
    assert!(now(small.hold(1)).is_none(), "this one is not");
    assert!(now(admitted(&places, 3).hold(109)).flatten().is_none(), "more than all bodies may have");
}

#[test]
fn the_longest_unread_reply_makes_room() {
    let places = ConnectionSlots::new(ConnectionLimits { reply_bytes: 100, ..ConnectionLimits::default() });
    let [first, second, third] = [1, 2, 3].map(|from| admitted(&places, from));
    for place in [&first, &second, &third] {
        place.working();
    }
    let held = [first.reply(60), second.reply(40)];
    first.idle();
    second.idle();
    assert!(!is_closed(&first) && !is_closed(&second));
    let _more = third.reply(1);
    assert_eq!([&first, &second, &third].map(is_closed), [true, false, false]);
    drop(held);
    let _all = third.reply(99);
    assert!(!is_closed(&second), "what was read does not count");
}

#[test]
fn fewer_are_admitted_when_the_process_has_no_more_files() {
    let places = places(100, 100);
    let admitted: Vec<ConnectionSlot> = (0..40).map(|_| admitted(&places, 1)).collect();
    places.shrink();
    assert_eq!(admitted.iter().filter(|place| is_closed(place)).count(), SPARE);
    let count = || places.0.lock().connections.len();
    let before = count();
    assert!(matches!(places.admit(address(2)), Admission::Admitted(_)));
    assert_eq!((before, count()), (40 - SPARE, 40 - SPARE - 1), "one made room for it, and it is gone again");
}

#[test]
fn a_shortage_of_files_spares_the_last_connections() {
    let places = places(100, 100);
    let served = [1, 2, 3].map(|from| admitted(&places, from));
    places.shrink();
    let _new: Vec<ConnectionSlot> = (0..10).map(|_| admitted(&places, 4)).collect();
    assert_eq!(served.each_ref().map(is_closed), [false; 3]);
}

#[test]
fn the_limit_is_the_configured_one_again_after_a_shortage_of_files() {
    let places = places(100, 100);
    let some = |number| (0..number).map(|_| admitted(&places, 1)).collect::<Vec<_>>();
    let _before = some(40);
    places.shrink();
    places.recover();
    let _all = some(76);
    assert_eq!(places.0.lock().connections.len(), 100);
}

#[test]
fn a_network_counts_as_one_address() {
    let places = places(9, 2);
    let from = |address: &str| admitted_from(&places, address.parse().unwrap());
    let [first, _second] = ["2001:db8::1", "2001:db8::2:1"].map(from);
    let _other = from("2001:db8:0:1::1");
    assert!(!is_closed(&first));
    let _third = from("2001:db8::3");
    assert!(is_closed(&first));
}

/// A listener for IPv6 and IPv4 has such addresses.
#[test]
fn a_mapped_address_counts_as_its_own_ipv4_address() {
    let places = places(9, 1);
    let from = |address: &str| admitted_from(&places, address.parse().unwrap());
    let [first, second] = ["::ffff:192.0.2.1", "::ffff:192.0.2.2"].map(from);
    let local = ["::ffff:127.0.0.1", "::ffff:127.0.0.1"].map(from);
    assert_eq!([&first, &second, &local[0]].map(is_closed), [false; 3]);
    let _again = from("192.0.2.1");
    assert_eq!([&first, &second].map(is_closed), [true, false]);
}

#[test]
fn known_requests_make_room_only_for_each_other() {
    let places = places(4, 9);
    let [answered, first, second, silent] = [1, 2, 3, 4].map(|from| admitted(&places, from));
    answered.working();
    answered.idle();
    first.known();
    second.known();
    let mut flood: Vec<_> = (0..3).map(|_| admitted(&places, 5)).collect();
    assert_eq!([&answered, &first, &second, &silent].map(is_closed), [true, false, false, true]);
    let third = flood.pop().unwrap();
    third.known();
    let fourth = admitted(&places, 6);
    assert!(flood.iter().all(is_closed) && !is_closed(&third));
    fourth.known();
    let _new = admitted(&places, 7);
    assert_eq!([&first, &second, &third, &fourth].map(is_closed), [true, false, false, false]);
    // It is known until its request is answered.
    second.working();
    second.idle();
    let _newest = [8, 9].map(|from| admitted(&places, from));
    assert_eq!([&second, &third, &fourth].map(is_closed), [true, false, false]);
}

#[test]
fn a_loopback_address_has_a_configured_bound() {
    let admit = |limits: ConnectionLimits| {
        let places = ConnectionSlots::new(ConnectionLimits { per_address: 1, ..limits });
        let from = || match places.admit(IpAddr::V4(Ipv4Addr::LOCALHOST)) {
            Admission::Admitted(place) => place,
            _ => panic!("not admitted"),
        };
        let (first, _second) = (from(), from());
        is_closed(&first)
    };
    assert!(!admit(ConnectionLimits::default()));
    assert!(admit(ConnectionLimits { per_loopback_address: 1, ..ConnectionLimits::default() }));
}
