-- Machines that wait for a customer: what they ask, and events that reached any server.
ALTER TABLE payment_intents ADD COLUMN version INTEGER NOT NULL DEFAULT 1; -- of the machine's state
ALTER TABLE payment_intents ADD COLUMN asks TEXT;                          -- what it waits for, while it has no owner
ALTER TABLE payment_intents ADD COLUMN inbox INTEGER NOT NULL DEFAULT 0;   -- counts its events
CREATE TABLE payment_events (
  account   TEXT    NOT NULL,
  reference TEXT    NOT NULL,
  number    INTEGER NOT NULL,
  event     TEXT    NOT NULL,
  PRIMARY KEY (account, reference, number)
) WITHOUT ROWID;
UPDATE payment_store SET version = 2;
