-- Digests are in no order, so every new one would change another page of a large store. They are kept in eras: those of rows that
-- were written one after the other lie together. Which era a row has is not sealed: it tells where to look for the row.

ALTER TABLE card_tokens RENAME TO old_card_tokens;
CREATE TABLE card_tokens (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    era INTEGER NOT NULL,
    customer_reference BLOB,
    parent TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO card_tokens (key, merchant, era, customer_reference, parent, body)
    SELECT key, merchant, (row_number() OVER (ORDER BY key) - 1) / 4096, customer_reference, parent, body
    FROM old_card_tokens;
DROP TABLE old_card_tokens;
CREATE INDEX card_tokens_customer_reference
    ON card_tokens (era, customer_reference, key) WHERE customer_reference IS NOT NULL;
CREATE INDEX card_tokens_parent
    ON card_tokens (parent, key) WHERE parent IS NOT NULL;

ALTER TABLE transactions RENAME TO old_transactions;
CREATE TABLE transactions (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    era INTEGER NOT NULL,
    merchant_reference BLOB,
    parent TEXT,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO transactions (key, merchant, era, merchant_reference, parent, body)
    SELECT key, merchant, (row_number() OVER (ORDER BY key) - 1) / 4096, merchant_reference, parent, body
    FROM old_transactions;
DROP TABLE old_transactions;
CREATE INDEX transactions_merchant_reference
    ON transactions (era, merchant_reference, key) WHERE merchant_reference IS NOT NULL;
CREATE INDEX transactions_parent
    ON transactions (parent, key) WHERE parent IS NOT NULL;

-- The key is the merchant and the reference. The store writes none that another era has.
ALTER TABLE unique_references RENAME TO old_unique_references;
CREATE TABLE unique_references (
    key BLOB NOT NULL,
    merchant TEXT NOT NULL,
    era INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (era, key)
) STRICT, WITHOUT ROWID;
INSERT INTO unique_references (key, merchant, era, body)
    SELECT key, merchant, (row_number() OVER (ORDER BY key) - 1) / 4096, body
    FROM old_unique_references;
DROP TABLE old_unique_references;
