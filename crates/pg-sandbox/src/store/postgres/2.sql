-- The second format: the journal of requests, which all processes write and show. A program of the first format may write too; it
-- ignores the table.
ALTER TABLE payment_sandbox.store ADD COLUMN level integer NOT NULL DEFAULT 1;

CREATE TABLE payment_sandbox.journal (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX journal_merchant ON payment_sandbox.journal (merchant, key);
