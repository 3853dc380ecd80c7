-- What is posted to merchants. One that waits to be sent says when it is due. Its body is apart, so
-- that a list reads none of them.
CREATE TABLE callbacks (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    due TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX callbacks_due
    ON callbacks (due, key) WHERE due IS NOT NULL;

CREATE TABLE callback_bodies (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Account updater batches. One that is pending says when it is due; its cards are apart.
CREATE TABLE batches (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    due TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_due
    ON batches (due, key) WHERE due IS NOT NULL;

CREATE TABLE batch_cards (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the account updater was told to answer; the key is an identifier of the card.
CREATE TABLE updater_answers (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
