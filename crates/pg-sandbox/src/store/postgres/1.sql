-- The tables of the first format. The rows of all processes are here; `store/schema/6.sql` is the same for one machine.
CREATE SCHEMA payment_sandbox;

-- The format, what tells the key of the rows from others, and how many groups of requests have written.
CREATE TABLE payment_sandbox.store (
    id integer NOT NULL PRIMARY KEY CHECK (id = 0),
    format integer NOT NULL,
    fingerprint bytea NOT NULL,
    generation bigint NOT NULL
);

-- A group of requests locks this table first, so that groups take turns instead of meeting in conflicts.
CREATE TABLE payment_sandbox.turn (id integer NOT NULL PRIMARY KEY);

-- The last group of requests that each process has committed: tells after a lost connection whether a commit was done.
CREATE TABLE payment_sandbox.processes (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    number bigint NOT NULL,
    seen timestamptz NOT NULL
);

CREATE TABLE payment_sandbox.meta (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- A session that holds a card says until when.
CREATE TABLE payment_sandbox.sessions (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    card_until text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX sessions_card_until
    ON payment_sandbox.sessions (card_until, key) WHERE card_until IS NOT NULL;

CREATE TABLE payment_sandbox.card_tokens (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    customer_reference bytea,
    parent text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX card_tokens_customer_reference
    ON payment_sandbox.card_tokens (customer_reference, key) WHERE customer_reference IS NOT NULL;
CREATE INDEX card_tokens_parent
    ON payment_sandbox.card_tokens (parent, key) WHERE parent IS NOT NULL;

CREATE TABLE payment_sandbox.transactions (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    merchant_reference bytea,
    parent text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX transactions_merchant_reference
    ON payment_sandbox.transactions (merchant_reference, key) WHERE merchant_reference IS NOT NULL;
CREATE INDEX transactions_parent
    ON payment_sandbox.transactions (parent, key) WHERE parent IS NOT NULL;

-- The key is the merchant and the reference, so that a reference is taken once by its primary key.
CREATE TABLE payment_sandbox.unique_references (
    key bytea NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- The key is the address that the attempts came from.
CREATE TABLE payment_sandbox.failed_attempts (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- What is posted to merchants. One that waits to be sent says when it is due. Its body is apart, so
-- that a list reads none of them.
CREATE TABLE payment_sandbox.callbacks (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    due text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX callbacks_due
    ON payment_sandbox.callbacks (due, key) WHERE due IS NOT NULL;

CREATE TABLE payment_sandbox.callback_bodies (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- Account updater batches. One that is pending says when it is due; its cards are apart.
CREATE TABLE payment_sandbox.batches (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    due text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX batches_due
    ON payment_sandbox.batches (due, key) WHERE due IS NOT NULL;

CREATE TABLE payment_sandbox.batch_cards (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- What the account updater was told to answer; the key is an identifier of the card.
CREATE TABLE payment_sandbox.updater_answers (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

CREATE TABLE payment_sandbox.checkout_tokens (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- A visit of a checkout token's page, and what became of the form that was shown.
CREATE TABLE payment_sandbox.checkout_visits (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    token text COLLATE "C",
    body bytea NOT NULL
);
CREATE INDEX checkout_visits_token
    ON payment_sandbox.checkout_visits (token, key) WHERE token IS NOT NULL;

CREATE TABLE payment_sandbox.text_messages (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- 3-D Secure authentications; the check of each, with order and card, is a transaction.
CREATE TABLE payment_sandbox.authentications (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

-- Faults that calls were told to meet.
CREATE TABLE payment_sandbox.faults (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    merchant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);
