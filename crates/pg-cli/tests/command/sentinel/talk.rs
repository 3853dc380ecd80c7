//! Everything that is traced, at every level.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

/// What was traced.
#[derive(Clone, Default)]
pub(super) struct Talk(Arc<Mutex<Vec<u8>>>);

impl Talk {
    /// Does something while all that it traces on this thread is written down.
    pub(super) fn listening(&self, work: impl FnOnce()) {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::FULL)
            .with_writer(self.clone())
            .finish();
        let _guard = pg_support::traced_by(subscriber);
        work();
    }

    pub(super) fn said(&self) -> Vec<u8> {
        let said = self.0.lock().unwrap().clone();
        assert!(String::from_utf8_lossy(&said).contains("pg.call"), "nothing was traced");
        said
    }
}

impl io::Write for Talk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Talk {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
