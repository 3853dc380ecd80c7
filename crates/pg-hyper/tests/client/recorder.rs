//! A `tracing` subscriber that keeps every word that reaches it.

use std::{
    fmt::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Everything that was told, one line for each span, event and recorded value.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    text: Arc<Mutex<String>>,
    spans: Arc<AtomicU64>,
}

impl Recorder {
    pub(crate) fn text(&self) -> String {
        self.text.lock().expect("not poisoned").clone()
    }

    fn line(&self, name: &str, record: impl FnOnce(&mut Words<'_>)) {
        let mut text = self.text.lock().expect("not poisoned");
        text.push_str(name);
        record(&mut Words(&mut text));
        text.push('\n');
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.line(span.metadata().name(), |words| span.record(words));
        span::Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        self.line("record", |words| values.record(words));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        self.line(event.metadata().target(), |words| event.record(words));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").expect("a string takes everything");
    }
}
