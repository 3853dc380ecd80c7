//! The delays between two queries to the store about the work of another process.

use std::time::Duration;

/// The first delay. It is short, since most work ends soon.
const SHORTEST: Duration = Duration::from_millis(20);

/// Short delays at first, each twice as long as the previous one, up to a maximum.
pub(super) struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub(super) fn up_to(longest: Duration) -> Self {
        Self { next: SHORTEST, longest }
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next.min(self.longest);
        self.next = self.next.saturating_mul(2);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let mut pauses = Pauses::up_to(Duration::from_millis(100));
        let first: Vec<u128> = (0..5).map(|_| pauses.next().as_millis()).collect();
        assert_eq!(first, [20, 40, 80, 100, 100]);
        let mut short = Pauses::up_to(Duration::from_millis(5));
        assert_eq!((short.next(), short.next()), (Duration::from_millis(5), Duration::from_millis(5)));
    }
}
