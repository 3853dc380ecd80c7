//! The timelines of a cluster: each promotion of a standby begins the next one.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use tokio_postgres::{Error, Row};

/// The timeline of a primary, and its cluster, whose standbys have the same identifier.
pub(super) const TIMELINE: &str =
    "SELECT system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()";

/// The latest timeline of each cluster that this process has seen. The primary of before a failover that starts again is on an earlier
/// one, and does not have the payments of after the failover.
#[derive(Default)]
pub(super) struct Timelines {
    latest: Mutex<BTreeMap<i64, u32>>,
}

/// What a connection leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Primary {
    /// The same as before, or one that cannot be compared.
    Same,
    /// A standby was promoted since.
    Promoted,
}

impl Timelines {
    /// Compares the server of a new connection with those of earlier connections, by what it answers to [`TIMELINE`].
    ///
    /// # Errors
    /// If it is the primary of before a failover, or has not answered.
    pub(super) fn see(&self, answer: Result<Vec<Row>, Error>) -> Result<Primary, String> {
        match answer {
            Ok(rows) => {
                let told = rows.first().and_then(|row| Some((row.try_get(0).ok()?, row.try_get::<_, &str>(1).ok()?)));
                told.map_or(Ok(Primary::Same), |(cluster, timeline)| self.compare(cluster, timeline))
            }
            // Not every database with PostgreSQL's protocol has timelines, and a role may not be allowed to ask.
            Err(error) if error.as_db_error().is_some() => Ok(Primary::Same),
            Err(error) => Err(pg_connections::explain(&error)),
        }
    }

    /// `timeline`: in hexadecimal digits.
    fn compare(&self, cluster: i64, timeline: &str) -> Result<Primary, String> {
        let Ok(timeline) = u32::from_str_radix(timeline, 16) else { return Ok(Primary::Same) };
        let mut seen = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = seen.entry(cluster).or_insert(timeline);
        if timeline < *latest {
            return Err(format!(
                "this server was the primary before a failover (its timeline is {timeline}, that of the present primary {latest}), and \
                 lacks later payments: stop it"
            ));
        }
        let promoted = timeline > *latest;
        *latest = timeline;
        Ok(if promoted { Primary::Promoted } else { Primary::Same })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primary_of_before_a_failover_is_told_from_another_cluster() {
        let timelines = Timelines::default();
        assert_eq!(timelines.compare(1, "00000009"), Ok(Primary::Same));
        assert_eq!(timelines.compare(1, "0000000A"), Ok(Primary::Promoted));
        let refused = timelines.compare(1, "00000009").unwrap_err();
        assert!(refused.contains("its timeline is 9, that of the present primary 10"), "{refused}");
        // After an upgrade to another major version, timelines begin anew, in a cluster with another identifier.
        assert_eq!(timelines.compare(2, "00000001"), Ok(Primary::Same));
        assert_eq!(timelines.compare(1, "0000000A"), Ok(Primary::Same));
        assert_eq!(timelines.compare(1, ""), Ok(Primary::Same));
    }
}
