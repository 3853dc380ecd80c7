//! Counters of one process, in the text format of Prometheus. A restart resets them.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::{Mutex, MutexGuard, PoisonError},
};

use http::StatusCode;

use crate::route::Route;

/// What a process has done since its start. It can be read while the store is unreachable, so it is not in the store.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// By service, method and status. Both names are of the sandbox's own tables, so that callers cannot add to them.
    /// There is no status if the connection was closed instead.
    requests: BTreeMap<(&'static str, &'static str, Option<u16>), u64>,
    committed: u64,
    undone: u64,
}

impl Metrics {
    /// Counts a request with the status that is sent, or `None` if no reply is sent.
    pub(crate) fn request(&self, route: &Route, status: Option<StatusCode>) {
        let (service, method) = match route {
            Route::Method(info, _) => (info.service.name, info.name),
            Route::NoMethod(_) => ("unknown", ""),
            Route::Control(_) => ("control", ""),
            Route::Inspector(_) => ("inspector", ""),
            Route::Pay(_) | Route::Challenge(_) | Route::SessionError => ("page", ""),
            Route::Root | Route::Nowhere => ("none", ""),
        };
        *self.counts().requests.entry((service, method, status.map(|status| status.as_u16()))).or_default() += 1;
    }

    /// Counts a group of requests that was committed.
    pub(crate) fn committed(&self) {
        self.counts().committed += 1;
    }

    /// Counts a group of requests that was rolled back, or could not be committed.
    pub(crate) fn undone(&self) {
        self.counts().undone += 1;
    }

    /// Returns the counters, one per line.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = self.counts().write(&mut text);
        text
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn write(&self, text: &mut String) -> fmt::Result {
        let heading =
            |text: &mut String, name: &str, help: &str| writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        heading(
            text,
            "pg_sandbox_requests_total",
            "Requests by the status of the reply; the status is none if no reply was sent.",
        )?;
        for ((service, method, status), count) in &self.requests {
            let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
            let slash = if method.is_empty() { "" } else { "/" };
            writeln!(
                text,
                "pg_sandbox_requests_total{{method=\"{service}{slash}{method}\",status=\"{status}\"}} {count}"
            )?;
        }
        heading(text, "pg_sandbox_groups_committed_total", "Groups of requests that were committed together.")?;
        writeln!(text, "pg_sandbox_groups_committed_total {}", self.committed)?;
        heading(
            text,
            "pg_sandbox_groups_undone_total",
            "Groups of requests that the store undid or could not commit.",
        )?;
        writeln!(text, "pg_sandbox_groups_undone_total {}", self.undone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_caller_is_no_label() {
        let metrics = Metrics::default();
        for path in ["/v3/transaction/auth/json", "/v3/transaction/auth", "/v3/token/\"x", "/_sandbox/clock", "/y\"x"] {
            metrics.request(&Route::of(path), Some(StatusCode::OK));
        }
        metrics.request(&Route::of("/v3/transaction/auth"), Some(StatusCode::BAD_REQUEST));
        metrics.committed();
        let lines: Vec<_> = metrics.text().lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                "pg_sandbox_requests_total{method=\"control\",status=\"200\"} 1",
                "pg_sandbox_requests_total{method=\"none\",status=\"200\"} 1",
                "pg_sandbox_requests_total{method=\"transaction/auth\",status=\"200\"} 2",
                "pg_sandbox_requests_total{method=\"transaction/auth\",status=\"400\"} 1",
                "pg_sandbox_requests_total{method=\"unknown\",status=\"200\"} 1",
                "pg_sandbox_groups_committed_total 1",
                "pg_sandbox_groups_undone_total 0",
            ]
        );
    }
}
