//! What each new connection asks of its server, and why a server is not used.

use tokio_postgres::Row;

const STANDBY: &str = "the database is read-only: it is a standby; connect to the primary";

/// The rights of its role that some statement needs, one line each; a table that is not there needs none. PostgreSQL checks the rights of
/// a whole statement, so a role that cannot delete events could begin a payment and never end it.
macro_rules! lacking {
    () => {
        "(SELECT string_agg('GRANT ' || l.needs || ' ON ' || l.name || ' TO ' || quote_ident(current_user), '; ' ORDER BY l.name) FROM \
         (SELECT quote_ident(s.nspname) || '.' || n.name AS name, string_agg(n.need, ', ' ORDER BY n.need) AS needs FROM (VALUES \
         ('payment_intents', 'SELECT'), ('payment_intents', 'INSERT'), ('payment_intents', 'UPDATE'), \
         ('payment_events', 'SELECT'), ('payment_events', 'INSERT'), ('payment_events', 'DELETE'), \
         ('payment_shares', 'SELECT'), ('payment_shares', 'INSERT'), ('payment_shares', 'UPDATE'), \
         ('payment_stops', 'SELECT'), ('payment_stops', 'INSERT'), ('payment_stops', 'DELETE'), \
         ('payment_store', 'SELECT'), ('payment_store', 'UPDATE')) AS n(name, need) \
         JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass(n.name) JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace \
         WHERE NOT has_table_privilege(c.oid, n.need) GROUP BY 1) AS l)"
    };
}

/// Whether a server is a standby, from which reads may be late, whether it can lose what it acknowledges, whether the time limit of the
/// connection did not arrive, whether it can store any text, and which rights the role lacks.
pub(super) const CONDITION: &str = concat!(
    "SELECT pg_is_in_recovery(), coalesce(current_setting('synchronous_commit', true), 'on'), \
     coalesce(current_setting('fsync', true), 'on'), coalesce(current_setting('statement_timeout', true), '') NOT IN ('8001ms', '8001'), \
     coalesce(current_setting('server_encoding', true), 'UTF8'), current_database()::text, current_user::text, ",
    lacking!()
);

/// Why there is no connection.
pub(super) enum Refused {
    /// The server does not serve.
    Away(String),
    /// The server is not the present primary, which may be another one of the address.
    Unfit(String),
    /// The server is a primary that may lose what it acknowledges, or cannot store every outcome. Another primary of the address may be
    /// that of before a failover.
    Unsafe(String),
}

impl From<String> for Refused {
    fn from(error: String) -> Self {
        Self::Away(error)
    }
}

/// Returns why nothing may be stored by this server.
pub(super) fn flaw(condition: &Row) -> Option<Refused> {
    if condition.try_get(0).unwrap_or(false) {
        return Some(Refused::Unfit(STANDBY.to_owned()));
    }
    let text = |at: usize| condition.try_get::<_, &str>(at).unwrap_or_default();
    loses_commits(text(1), text(2))
        .or_else(|| garbles(text(4), text(5)))
        .or_else(|| lacks(text(6), text(7)))
        .map(Refused::Unsafe)
}

/// Returns why the database can lose what it acknowledges, by its settings `synchronous_commit` and `fsync`.
pub(super) fn loses_commits(commit: &str, fsync: &str) -> Option<String> {
    (commit == "off" || fsync == "off").then(|| {
        format!("the database acknowledges commits that it can lose: synchronous_commit is {commit}, fsync is {fsync}")
    })
}

/// Returns why the database cannot store every text.
fn garbles(encoding: &str, database: &str) -> Option<String> {
    (encoding != "UTF8").then(|| {
        format!(
            "the encoding of the database {database} is {encoding}, in which the outcome of a payment may not be stored; \
             create one with ENCODING 'UTF8' TEMPLATE template0, and move an existing store there with pg_dump"
        )
    })
}

/// Returns which rights a role lacks.
fn lacks(role: &str, grants: &str) -> Option<String> {
    (!grants.is_empty()).then(|| {
        format!("the role {role} lacks rights without which an outcome may not be stored; run as the owner of the tables: {grants}")
    })
}
