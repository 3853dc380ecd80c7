-- All tables anew: from this format on the body of every row is sealed, and a column that holds what a caller wrote is a
-- BLOB with a keyed digest of it. Keys that the core made, names of merchants and times are TEXT in clear.

-- How many rows there are and the sum of their shares, sealed, behind the fingerprint of the key.
CREATE TABLE whole (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 0),
    body BLOB NOT NULL
) STRICT;

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A session that holds a card says until when.
CREATE TABLE sessions (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    card_until TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_card_until
    ON sessions (card_until, key) WHERE card_until IS NOT NULL;

CREATE TABLE card_tokens (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    customer_reference BLOB,
    parent TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX card_tokens_customer_reference
    ON card_tokens (customer_reference, key) WHERE customer_reference IS NOT NULL;
CREATE INDEX card_tokens_parent
    ON card_tokens (parent, key) WHERE parent IS NOT NULL;

CREATE TABLE transactions (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    merchant_reference BLOB,
    parent TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_merchant_reference
    ON transactions (merchant_reference, key) WHERE merchant_reference IS NOT NULL;
CREATE INDEX transactions_parent
    ON transactions (parent, key) WHERE parent IS NOT NULL;

-- The key is the merchant and the reference, so that a reference is taken once by its primary key.
CREATE TABLE unique_references (
    key BLOB NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The key is the address that the attempts came from.
CREATE TABLE failed_attempts (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What is posted to merchants. One that waits to be sent says when it is due. Its body is apart, so
-- that a list reads none of them.
CREATE TABLE callbacks (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    due TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX callbacks_due
    ON callbacks (due, key) WHERE due IS NOT NULL;

CREATE TABLE callback_bodies (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Account updater batches. One that is pending says when it is due; its cards are apart.
CREATE TABLE batches (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    due TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_due
    ON batches (due, key) WHERE due IS NOT NULL;

CREATE TABLE batch_cards (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What the account updater was told to answer; the key is an identifier of the card.
CREATE TABLE updater_answers (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE checkout_tokens (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A visit of a checkout token's page, and what became of the form that was shown.
CREATE TABLE checkout_visits (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    token TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX checkout_visits_token
    ON checkout_visits (token, key) WHERE token IS NOT NULL;

CREATE TABLE text_messages (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- 3-D Secure authentications; the check of each, with order and card, is a transaction.
CREATE TABLE authentications (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Faults that calls were told to meet.
CREATE TABLE faults (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
