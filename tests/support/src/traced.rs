//! Records the traces of a thread.

use std::sync::Once;

use tracing::{
    Dispatch, Event, Metadata, Subscriber, dispatcher,
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

/// Sends the traces of this thread to a subscriber until the guard is dropped.
///
/// `tracing` caches for each callsite whether a subscriber is interested. Without a default subscriber, a callsite that
/// another thread reaches first can be cached as disabled before this thread sets its subscriber, which then
/// misses it. So this sets a global default subscriber that accepts everything and records nothing.
#[must_use]
pub fn traced_by(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    static DEFAULT: Once = Once::new();
    DEFAULT.call_once(|| {
        // Fails if the program has a global default already, which serves as well.
        let _ = dispatcher::set_global_default(Dispatch::new(Listener));
    });
    tracing::subscriber::set_default(subscriber)
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        thread,
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Names(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Names {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            self.0.lock().unwrap().push(span.metadata().name().to_owned());
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    fn shared_place() {
        let _ = tracing::info_span!("the shared place");
    }

    /// Fails with `tracing::subscriber::set_default` alone.
    #[test]
    fn a_callsite_that_another_thread_reaches_first_is_recorded() {
        let names = Names::default();
        let _guard = traced_by(names.clone());
        thread::spawn(shared_place).join().unwrap();
        shared_place();
        assert_eq!(*names.0.lock().unwrap(), ["the shared place"]);
    }
}
