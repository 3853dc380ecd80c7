CREATE TABLE checkout_tokens (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A visit of a checkout token's page, and what became of the form that was shown.
CREATE TABLE checkout_visits (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    token TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX checkout_visits_token
    ON checkout_visits (token, key) WHERE token IS NOT NULL;

CREATE TABLE text_messages (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
