//! All writers write at the same time, until the sandbox ends.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use pg_support::Dice;

use crate::durability::{
    Sandbox,
    writer::{Writer, card_key},
};

const WRITERS: usize = 8;

/// Those who write.
pub(crate) fn writers(sandbox: &Sandbox, dice: &mut Dice) -> Vec<Writer> {
    let card_key = card_key(&mut sandbox.caller());
    (1..=WRITERS).map(|number| Writer::new(number, dice.split(), &card_key)).collect()
}

/// All writers write until their connections break, which `happens` causes after the delay.
pub(crate) fn under_load(sandbox: Sandbox, writers: &mut [Writer], fuse: &Fuse, happens: fn(&mut Sandbox)) -> Sandbox {
    let mut callers: Vec<_> = writers.iter().map(|_| sandbox.caller()).collect();
    let sandbox = Mutex::new(sandbox);
    thread::scope(|scope| {
        for (writer, caller) in writers.iter_mut().zip(&mut callers) {
            let sandbox = &sandbox;
            let burn = move |step| {
                if fuse.burns_down(step) {
                    happens(&mut sandbox.lock().unwrap());
                }
            };
            scope.spawn(move || writer.write(caller, || burn(Step::Sent), || burn(Step::Replied)));
        }
    });
    sandbox.into_inner().unwrap()
}

/// Each writer looks up its writes.
pub(crate) fn checked(sandbox: &Sandbox, writers: &mut [Writer]) -> Vec<String> {
    thread::scope(|scope| {
        let checks: Vec<_> = writers
            .iter_mut()
            .map(|writer| {
                let mut caller = sandbox.caller();
                scope.spawn(move || writer.check(&mut caller))
            })
            .collect();
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    })
}

/// A fuse that ends shortly after a number of requests or replies.
pub(crate) struct Fuse {
    step: Step,
    left: AtomicU64,
    spins: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Sent,
    Replied,
}

impl Fuse {
    /// A moment that the dice choose.
    pub(crate) fn new(dice: &mut Dice) -> Self {
        Self {
            step: if dice.between(0, 1) == 0 { Step::Sent } else { Step::Replied },
            left: AtomicU64::new(dice.between(1, 300)),
            spins: dice.between(0, 200_000),
        }
    }

    /// The moment after this many replies.
    pub(crate) fn after_replies(count: u64) -> Self {
        Self { step: Step::Replied, left: AtomicU64::new(count), spins: 0 }
    }

    fn burns_down(&self, step: Step) -> bool {
        let down = step == self.step && self.left.fetch_sub(1, Ordering::Relaxed) == 1;
        if down {
            spin(self.spins);
        }
        down
    }
}

/// A delay without a clock, so that kills occur at different places of a write.
pub(crate) fn spin(times: u64) {
    (0..times).for_each(|_| std::hint::spin_loop());
}
