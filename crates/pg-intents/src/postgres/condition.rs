//! What each new connection asks of its server, and why a server is not used.

use tokio_postgres::Row;

const STANDBY: &str = "the database is read-only: it is a standby; connect to the primary";

/// What each new connection asks: whether its server is a standby, from which reads may be late, whether it can lose what it acknowledges,
/// whether the time limit of the connection did not arrive, and whether the database can store any text; then what the statements need: which
/// tables of the store are not those that the role finds, and which rights on them it lacks, one `GRANT` a table. PostgreSQL checks the rights
/// of a whole statement, so a role that cannot delete events could begin a payment and never end it.
pub(super) const CONDITION: &str = "WITH found AS (SELECT t.name, t.needs, c.oid, quote_ident(n.nspname) || '.' || t.name AS full_name FROM (VALUES \
     ('payment_intents', '{INSERT,SELECT,UPDATE}'::text[], '{account,reference,kind,digest,request,state,status,fence,owner,due,claims,outcome,\
     event,told,tell_due,created,changed,history,version,asks,inbox,lookups,next_lookup,quiet}'::text[]), \
     ('payment_events', '{DELETE,INSERT,SELECT}'::text[], '{account,reference,number,event}'::text[]), \
     ('payment_shares', '{INSERT,SELECT,UPDATE}'::text[], '{account,number,owner,due,usable}'::text[]), \
     ('payment_stops', '{DELETE,INSERT,SELECT}'::text[], '{account,reason,since}'::text[]), \
     ('payment_store', '{SELECT,UPDATE}'::text[], '{program,version,workers}'::text[])) AS t(name, needs, columns) \
     LEFT JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass(t.name) \
     AND c.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class AS s WHERE s.oid = to_regclass('payment_store')) \
     AND t.columns <@ ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid) \
     LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace) \
     SELECT pg_is_in_recovery(), coalesce(current_setting('synchronous_commit', true), 'on'), \
     coalesce(current_setting('fsync', true), 'on'), coalesce(current_setting('statement_timeout', true), '') NOT IN ('8001ms', '8001'), \
     coalesce(current_setting('server_encoding', true), 'UTF8'), current_database()::text, current_user::text, \
     (SELECT string_agg(name, ', ' ORDER BY name) FROM found WHERE oid IS NULL), \
     (SELECT string_agg('GRANT ' || l.needs || ' ON ' || l.full_name || ' TO ' || quote_ident(current_user), '; ' ORDER BY l.full_name) FROM \
     (SELECT f.full_name, string_agg(n.need, ', ' ORDER BY n.need) AS needs FROM found AS f, unnest(f.needs) AS n(need) WHERE NOT \
     CASE f.name WHEN 'payment_store' THEN has_any_column_privilege(f.oid, n.need) ELSE has_table_privilege(f.oid, n.need) END \
     GROUP BY f.full_name) AS l)";

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

/// Returns why nothing may be stored by this server. `needs_store`: the database must have the whole store, in its present version.
pub(super) fn flaw(condition: &Row, needs_store: bool) -> Option<Refused> {
    if condition.try_get(0).unwrap_or(false) {
        return Some(Refused::Unfit(STANDBY.to_owned()));
    }
    let text = |at: usize| condition.try_get::<_, &str>(at).unwrap_or_default();
    loses_commits(text(1), text(2))
        .or_else(|| garbles(text(4), text(5)))
        .or_else(|| needs_store.then(|| strays(text(6), text(7))).flatten())
        .or_else(|| lacks(text(6), text(8)))
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

/// Returns which tables of the store a role does not find.
fn strays(role: &str, tables: &str) -> Option<String> {
    (!tables.is_empty()).then(|| {
        format!(
            "the role {role} does not find tables of the store: {tables}. Each must be in the schema of payment_store with all its columns \
             (ALTER TABLE … SET SCHEMA), and no other table of its name in a schema that the role searches before; the role needs USAGE on \
             the schema"
        )
    })
}

/// Returns which rights a role lacks.
fn lacks(role: &str, grants: &str) -> Option<String> {
    (!grants.is_empty()).then(|| {
        format!("the role {role} lacks rights without which an outcome may not be stored; run as the owner of the tables: {grants}")
    })
}
