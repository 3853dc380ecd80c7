//! The statements: each is one atomic change.

/// The columns of an intent, and the time.
pub(super) const COLUMNS: &str = "i.account, i.reference, i.kind, i.digest, i.request, i.state, i.status, i.fence, i.owner, i.due, \
     i.claims, i.outcome, i.event, i.told, i.created, i.changed, i.history, i.version, i.asks, i.inbox, i.lookups, \
     (extract(epoch from clock_timestamp()) * 1000)::bigint";

/// The current time of the database, not the time at which the statement began, since it may have waited for a row.
macro_rules! now {
    () => {
        "(extract(epoch from clock_timestamp()) * 1000)::bigint"
    };
}

/// The time at which the statement began, which can be used with an index.
macro_rules! began {
    () => {
        "(extract(epoch from statement_timestamp()) * 1000)::bigint"
    };
}

/// Wakes workers when the change is committed; NULL where the database has no notifications.
pub(super) const NOTIFY: &str = "pg_notify('payment_intents', '')::text";

/// Adds a line to a history, and drops the oldest.
macro_rules! history {
    ($owner:expr, $fence:expr, $what:expr) => {
        concat!(
            "history = right(history || ",
            now!(),
            " || ' ' || ",
            $owner,
            " || ' ' || ",
            $fence,
            " || ' ' || ",
            $what,
            " || chr(10), 4096)"
        )
    };
}

/// The condition for the row of a lease, as long as the lease holds.
macro_rules! held {
    () => {
        " WHERE account = $1 AND reference = $2 AND fence = $3 AND owner = $4 AND status < 2 RETURNING 1"
    };
}

pub(super) const ENLIST: &str = "UPDATE payment_store SET workers = workers + 1 RETURNING workers";

pub(super) const BEGIN: &str = concat!(
    "INSERT INTO payment_intents (account, reference, kind, digest, request, state, status, fence, owner, due, claims, event, told, \
     tell_due, created, changed, history, version) SELECT $1, $2, $3, $4, $5, $6, 0, 1, $7, now + $8, 0, 0, 0, 0, now, now, \
     now || ' ' || coalesce($7, '-') || ' 1 begun' || chr(10), $9 FROM (SELECT ",
    now!(),
    " AS now) clock \
     ON CONFLICT DO NOTHING RETURNING CASE WHEN owner IS NULL THEN pg_notify('payment_intents', '')::text END"
);

pub(super) const SAVE: &str =
    concat!("UPDATE payment_intents SET state = $5, due = ", now!(), " + $6, changed = ", now!(), held!());

pub(super) const RENEW: &str = concat!("UPDATE payment_intents SET due = ", now!(), " + $5", held!());

pub(super) const RELEASE: &str = concat!(
    "UPDATE payment_intents SET owner = NULL, claims = claims - (claims > 0)::int, due = ",
    now!(),
    " + $5, changed = ",
    now!(),
    ", ",
    history!("$4", "$3", "'released'"),
    " WHERE account = $1 AND reference = $2 AND fence = $3 AND owner = $4 AND status < 2 \
     RETURNING pg_notify('payment_intents', '')::text"
);

/// The plan's next lookup keeps its time, which comes twice from the moment at which the statement began: two clocks would differ.
/// Waiting events make an unknown intent due once the quiet time is over. The events that the machine has processed are deleted too.
/// All events of an ended intent are deleted, since it takes none. An event whose transaction held the row while this statement waited
/// is not visible here: then [`DRAIN`] follows.
pub(super) const END: &str = concat!(
    "WITH ended AS (UPDATE payment_intents SET status = $5, state = $6, event = event + (outcome IS DISTINCT FROM $7)::int, outcome = $7, \
     owner = NULL, next_lookup = CASE WHEN $5 = 1 THEN coalesce(next_lookup, ",
    began!(),
    " + $8) END, due = CASE WHEN $5 = 1 THEN least(coalesce(next_lookup, ",
    began!(),
    " + $8, 9223372036854775807), CASE WHEN inbox > $10 THEN ",
    now!(),
    " + $11 ELSE 9223372036854775807 END) ELSE 9223372036854775807 END, quiet = ",
    now!(),
    " + $11, claims = CASE WHEN $5 = 2 THEN claims ELSE 0 END, \
     changed = ",
    now!(),
    ", tell_due = ",
    now!(),
    ", ",
    history!("$4", "$3", "$9"),
    " WHERE account = $1 AND reference = $2 AND fence = $3 AND owner = $4 AND status < 2 RETURNING inbox), dropped AS (DELETE FROM payment_events WHERE account = $1 AND reference = $2 AND ($5 = 3 OR $5 = 1 AND number <= $10) AND EXISTS (SELECT 1 FROM ended)) \
     SELECT * FROM ended"
);

/// Deletes the remaining events of an ended intent.
pub(super) const DRAIN: &str = "DELETE FROM payment_events WHERE account = $1 AND reference = $2 AND EXISTS \
     (SELECT 1 FROM payment_intents WHERE account = $1 AND reference = $2 AND status = 3)";

/// Stores the state, and deletes the events that it includes, in one change. The intent is open, also if workers had parked it.
pub(super) const REST: &str = concat!(
    "WITH rested AS (UPDATE payment_intents SET status = 0, state = $5, asks = $6, owner = NULL, claims = 0, changed = ",
    now!(),
    ", due = least(next_lookup, ",
    now!(),
    " + CASE WHEN inbox > $7 THEN 0 ELSE $8 END), ",
    history!("$4", "$3", "'rests'"),
    " WHERE account = $1 AND reference = $2 AND fence = $3 AND owner = $4 AND status < 2 \
     RETURNING pg_notify('payment_intents', '')::text), \
     taken AS (DELETE FROM payment_events WHERE account = $1 AND reference = $2 AND number <= $7 AND EXISTS (SELECT 1 FROM rested)) \
     SELECT * FROM rested"
);

/// The event gets its number under the lock of the intent's row. An intent that workers have parked gets one more claim
/// for the event. An intent that an operator has parked has no claims, and stays parked.
pub(super) const DELIVER: &str = concat!(
    "WITH counted AS (UPDATE payment_intents SET inbox = inbox + 1, changed = ",
    now!(),
    ", due = CASE WHEN owner IS NULL AND (status < 2 OR claims > 0) THEN least(due, greatest(quiet, ",
    now!(),
    ")) ELSE due END, status = CASE WHEN status = 2 AND claims > 0 THEN 1 ELSE status END, \
     claims = CASE WHEN status = 2 AND claims > 0 THEN claims - 2 ELSE claims END \
     WHERE account = $1 AND reference = $2 AND status < 3 RETURNING inbox) \
     INSERT INTO payment_events (account, reference, number, event) SELECT $1, $2, inbox, $3 FROM counted \
     RETURNING pg_notify('payment_intents', '')::text, number"
);

/// Deletes the event $4 under numbers before $3, and those in the middle that are neither among the $5 oldest nor among the $5 newest.
pub(super) const TRIM: &str = "DELETE FROM payment_events WHERE account = $1 AND reference = $2 AND (number < $3 AND event = $4 \
     OR number IN (SELECT number FROM (SELECT number, row_number() OVER (ORDER BY number) AS nth, \
     row_number() OVER (ORDER BY number DESC) AS last FROM payment_events \
     WHERE account = $1 AND reference = $2 AND NOT (number < $3 AND event = $4)) AS ranked WHERE nth > $5 AND last > $5))";

pub(super) const EVENTS: &str =
    "SELECT number, event FROM payment_events WHERE account = $1 AND reference = $2 AND number > $3 ORDER BY number";

/// The same with the fencing number of the row; a row without events has one line.
pub(super) const EVENTS_OF: &str = "SELECT i.fence, e.number, e.event FROM payment_intents AS i LEFT JOIN payment_events AS e \
     ON e.account = i.account AND e.reference = i.reference AND e.number > $3 WHERE i.account = $1 AND i.reference = $2 ORDER BY e.number";

/// What a claim sets: $1 the owner, $2 the lease, $3 and $4 the kinds and versions that the owner knows. A claim counts as a planned
/// lookup if that lookup is due within a second. It does not raise `claims` if the worker claims its own intent again.
macro_rules! claim {
    () => {
        concat!(
            "UPDATE payment_intents AS i SET fence = i.fence + 1, owner = $1, due = ",
            now!(),
            " + $2, asks = NULL, version = (SELECT k.version FROM unnest($3, $4) AS k(name, version) WHERE k.name = i.kind), \
             claims = i.claims + 1 - coalesce(i.owner = $1 AND i.due > ",
            now!(),
            ", false)::int, lookups = i.lookups + coalesce(i.next_lookup <= ",
            began!(),
            " + 1000, false)::int, next_lookup = CASE WHEN i.next_lookup > ",
            began!(),
            " + 1000 THEN i.next_lookup END, changed = ",
            now!(),
            ", ",
            "history = right(i.history || ",
            now!(),
            " || ' ' || $1 || ' ' || (i.fence + 1) || ' claimed' || chr(10), 4096) "
        )
    };
}

/// The condition that the claimer knows the kind and version.
macro_rules! known {
    () => {
        " AND EXISTS (SELECT 1 FROM unnest($3, $4) AS k(name, version) WHERE k.name = i.kind AND i.version <= k.version)"
    };
}

pub(super) const CLAIM: &str = concat!(
    claim!(),
    "FROM (SELECT i.account, i.reference FROM payment_intents AS i WHERE i.account = $5 AND i.status < 2 AND i.due <= ",
    began!(),
    known!(),
    " ORDER BY i.due LIMIT $6 FOR UPDATE SKIP LOCKED) AS d WHERE i.account = d.account AND i.reference = d.reference RETURNING "
);

pub(super) const CLAIM_ONE: &str = concat!(
    claim!(),
    "WHERE i.account = $5 AND i.reference = $6 AND i.status < 2 AND (i.owner IS NULL OR i.owner = $1 OR i.due <= ",
    now!(),
    ")",
    known!(),
    " RETURNING "
);

pub(super) const FIND: &str = " FROM payment_intents AS i WHERE i.account = $1 AND i.reference = $2";

pub(super) const LIST: &str = " FROM payment_intents AS i WHERE i.status = ANY($1) AND i.claims >= $2 \
     AND ($3::text IS NULL OR i.account = $3) AND ($5::text IS NULL OR i.reference = $5) ORDER BY i.changed DESC LIMIT $4";

/// Finds each account by the primary key, and reads no other row.
pub(super) const ACCOUNTS: &str = "WITH RECURSIVE found AS ( \
     (SELECT account, 1::bigint AS number FROM payment_intents WHERE account >= $1 ORDER BY account LIMIT 1) UNION ALL \
     SELECT i.account, found.number + 1 FROM found CROSS JOIN LATERAL (SELECT account FROM payment_intents \
     WHERE account > found.account ORDER BY account LIMIT 1) AS i WHERE found.number < $2) SELECT account FROM found WHERE number <= $2 ORDER BY number";

pub(super) const PARK: &str = concat!(
    "UPDATE payment_intents SET status = 2, owner = NULL, fence = fence + 1, claims = 0, lookups = 0, next_lookup = NULL, quiet = 0, due = 9223372036854775807, changed = ",
    now!(),
    ", ",
    history!("'-'", "(fence + 1)", "'parked on request'"),
    " WHERE account = $1 AND reference = $2 AND status < 3 RETURNING 1"
);

pub(super) const RECONCILE: &str = concat!(
    "UPDATE payment_intents SET status = CASE WHEN outcome IS NULL THEN 0 ELSE 1 END, owner = NULL, fence = fence + 1, claims = 0, \
     lookups = 0, next_lookup = NULL, quiet = 0, due = ",
    now!(),
    ", changed = ",
    now!(),
    ", ",
    history!("'-'", "(fence + 1)", "'reconciled on request'"),
    " WHERE account = $1 AND reference = $2 AND status < 3 RETURNING pg_notify('payment_intents', '')::text"
);

pub(super) const UNTOLD: &str = concat!(
    "UPDATE payment_intents AS i SET tell_due = ",
    now!(),
    " + $1 FROM (SELECT account, reference FROM payment_intents \
     WHERE account = $2 AND told < event AND tell_due <= ",
    began!(),
    " ORDER BY tell_due LIMIT $3 FOR UPDATE SKIP LOCKED) AS d WHERE i.account = d.account AND i.reference = d.reference RETURNING "
);

/// Also deletes the events that a worker left when it died between [`END`] and [`DRAIN`].
pub(super) const TOLD: &str = "WITH dropped AS (DELETE FROM payment_events WHERE account = $1 AND reference = $2 AND EXISTS \
     (SELECT 1 FROM payment_intents WHERE account = $1 AND reference = $2 AND status = 3)) \
     UPDATE payment_intents SET told = $3 WHERE account = $1 AND reference = $2 AND told < $3 AND $3 <= event";

/// The shares that the owner has. Returns, for each share, whether it may be used.
pub(super) const SHARES_KEPT: &str = concat!(
    "UPDATE payment_shares SET due = ",
    now!(),
    " + $3 WHERE account = $1 AND owner = $2 AND number < $4 RETURNING usable <= ",
    now!()
);

/// Keeps or takes at most $6 of the $5 shares: first those that the owner has, then others at random, so that
/// concurrent processes rarely conflict. A share that was never taken, or was given back, may be used at once. Returns,
/// for each share, whether it may be used.
pub(super) const SHARES_TAKEN: &str = concat!(
    "INSERT INTO payment_shares AS s (account, number, owner, due, usable) SELECT $1, n, $2, ",
    now!(),
    " + $3, ",
    now!(),
    " FROM generate_series(0, $5 - 1) AS n LEFT JOIN payment_shares AS o ON o.account = $1 AND o.number = n \
     WHERE o.number IS NULL OR o.owner = $2 OR o.due <= ",
    now!(),
    " ORDER BY coalesce(o.owner = $2, false) DESC, random() LIMIT $6 \
     ON CONFLICT (account, number) DO UPDATE SET usable = CASE WHEN s.owner = $2 THEN s.usable ELSE ",
    now!(),
    " + $4 END, owner = $2, due = ",
    now!(),
    " + $3 WHERE s.owner = $2 OR s.due <= ",
    now!(),
    " RETURNING usable <= ",
    now!()
);

/// Shortens the leases of other workers that would end after more than $3: they began while the clock was ahead.
pub(super) const SHARES_SHORTENED: &str = concat!(
    "UPDATE payment_shares SET due = ",
    now!(),
    " + $3 WHERE account = $1 AND owner <> $2 AND due > ",
    now!(),
    " + $3"
);

pub(super) const STOP: &str =
    concat!("INSERT INTO payment_stops (account, reason, since) VALUES ($1, $2, ", now!(), ") ON CONFLICT DO NOTHING");

pub(super) const UNSTOP: &str = "DELETE FROM payment_stops WHERE account = $1";

pub(super) const STOPPED: &str = "SELECT reason FROM payment_stops WHERE account = $1";

pub(super) const SCAN: &str = " FROM payment_intents AS i WHERE $1::text IS NULL OR (i.account, i.reference) > ($1, $2) \
     ORDER BY i.account, i.reference LIMIT $3";

/// $3 to $8 are the old texts, $9 to $14 the new ones; then come the events.
pub(super) const REWRITE: &str = "WITH written AS (UPDATE payment_intents SET kind = $9, digest = $10, request = $11, state = $12, asks = $13, outcome = $14 \
     WHERE account = $1 AND reference = $2 AND kind = $3 AND digest = $4 AND request IS NOT DISTINCT FROM $5 AND state = $6 \
     AND asks IS NOT DISTINCT FROM $7 AND outcome IS NOT DISTINCT FROM $8 RETURNING 1), \
     heard AS (UPDATE payment_events AS e SET event = n.event FROM unnest($15, $16) AS n(number, event) \
     WHERE e.account = $1 AND e.reference = $2 AND e.number = n.number AND EXISTS (SELECT 1 FROM written)) \
     SELECT * FROM written";

/// The program and the version of a store. A table of another program has no such columns, which is not an error of this statement.
pub(super) const MADE_BY: &str =
    "SELECT to_jsonb(s) ->> 'program', to_jsonb(s) ->> 'version' FROM payment_store AS s LIMIT 2";

/// Whether durable data can be written to this database, and which schema has a store whose payments the role may read, also one that
/// it does not search. A store on which it has no right is that of another shop. Then the schema of the store that it searches.
pub(super) const FITNESS: &str = "SELECT current_setting('transaction_read_only') = 'on', \
     coalesce(current_setting('synchronous_commit', true), 'on'), coalesce(current_setting('fsync', true), 'on'), \
     to_regclass('payment_store') IS NOT NULL, to_regclass('payment_intents') IS NOT NULL, \
     EXISTS (SELECT 1 FROM pg_catalog.pg_proc WHERE proname = 'pg_notify' AND has_function_privilege(oid, 'EXECUTE')), \
     (SELECT min(n.nspname::text) FROM pg_catalog.pg_class AS s JOIN pg_catalog.pg_class AS i ON i.relnamespace = s.relnamespace \
     JOIN pg_catalog.pg_namespace AS n ON n.oid = s.relnamespace WHERE s.relname = 'payment_store' AND i.relname = 'payment_intents' \
     AND has_table_privilege(i.oid, 'SELECT')), \
     (SELECT quote_ident(n.nspname) FROM pg_catalog.pg_class AS s JOIN pg_catalog.pg_namespace AS n ON n.oid = s.relnamespace \
     WHERE s.oid = to_regclass('payment_store'))";
