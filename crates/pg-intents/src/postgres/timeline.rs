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

impl Timelines {
    /// Compares the server of a new connection with those of earlier connections, by what it answers to [`TIMELINE`]. Returns whether it was
    /// promoted since then, if it is used.
    ///
    /// # Errors
    /// If it is the primary of before a failover.
    pub(super) fn see(&self, answer: Result<Vec<Row>, Error>, is_used: bool) -> Result<bool, String> {
        match answer {
            Ok(rows) => {
                let told = rows.first().and_then(|row| Some((row.try_get(0).ok()?, row.try_get::<_, &str>(1).ok()?)));
                told.map_or(Ok(false), |(cluster, timeline)| self.compare(cluster, timeline, is_used))
            }
            // Not every database with PostgreSQL's protocol has timelines, and a role may not be allowed to ask.
            Err(error) => {
                let error = pg_connections::explain(&error);
                tracing::debug!(target: "pg.fleet", error, "an old primary would not be recognised");
                Ok(false)
            }
        }
    }

    /// `timeline`: in hexadecimal digits.
    fn compare(&self, cluster: i64, timeline: &str, is_used: bool) -> Result<bool, String> {
        let Ok(timeline) = u32::from_str_radix(timeline, 16) else { return Ok(false) };
        let mut seen = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.get(&cluster).copied();
        let latest = known.unwrap_or(timeline);
        if timeline < latest {
            return Err(format!(
                "this server was the primary before a failover (its timeline is {timeline}, that of the present primary {latest}), and \
                 lacks later payments: stop it, and do not restart this process before that, since a process that starts takes it for the primary"
            ));
        }
        if is_used {
            seen.insert(cluster, timeline);
        }
        Ok(is_used && timeline > latest)
    }

    /// Takes the servers seen for those of before a failover.
    #[cfg(test)]
    pub(super) fn predate(&self) {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).values_mut().for_each(|timeline| *timeline = 0);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primary_of_before_a_failover_is_told_from_another_cluster() {
        let timelines = Timelines::default();
        assert_eq!(timelines.compare(1, "00000009", true), Ok(false));
        assert_eq!(timelines.compare(1, "0000000A", true), Ok(true));
        let refused = timelines.compare(1, "00000009", true).unwrap_err();
        assert!(refused.contains("its timeline is 9, that of the present primary 10"), "{refused}");
        // After an upgrade to another major version, timelines begin anew, in a cluster with another identifier.
        assert_eq!(timelines.compare(2, "00000001", true), Ok(false));
        assert_eq!(timelines.compare(1, "0000000A", true), Ok(false));
        assert_eq!(timelines.compare(1, "", true), Ok(false));
        assert_eq!(timelines.compare(1, "0000000B", true), Ok(true));
    }
}
