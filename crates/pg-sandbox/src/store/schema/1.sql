-- Every kind of record has the same shape: the key that the core made, the merchant that owns it,
-- the columns that queries name, and the record itself as JSON.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A session that holds a card says until when.
CREATE TABLE sessions (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    card_until TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_card_until
    ON sessions (card_until, key) WHERE card_until IS NOT NULL;

CREATE TABLE card_tokens (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    customer_reference TEXT,
    parent TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX card_tokens_customer_reference
    ON card_tokens (merchant, customer_reference, key) WHERE customer_reference IS NOT NULL;
CREATE INDEX card_tokens_parent
    ON card_tokens (parent, key) WHERE parent IS NOT NULL;

CREATE TABLE transactions (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    merchant_reference TEXT,
    parent TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_merchant_reference
    ON transactions (merchant, merchant_reference, key) WHERE merchant_reference IS NOT NULL;
CREATE INDEX transactions_parent
    ON transactions (parent, key) WHERE parent IS NOT NULL;

-- The key is the merchant and the reference, so that a reference is taken once by its primary key.
CREATE TABLE unique_references (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The key is the address that the attempts came from.
CREATE TABLE failed_attempts (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
