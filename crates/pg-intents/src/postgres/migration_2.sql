-- Machines that wait for a customer: what they ask, and events that reached any server.
ALTER TABLE payment_intents ADD COLUMN version integer NOT NULL DEFAULT 1; -- of the machine's state
ALTER TABLE payment_intents ADD COLUMN asks text;                          -- what it waits for, while it has no owner
ALTER TABLE payment_intents ADD COLUMN inbox integer NOT NULL DEFAULT 0;   -- counts its events
CREATE TABLE payment_events (
  account   text    NOT NULL,
  reference text    NOT NULL,
  number    integer NOT NULL,
  event     text    NOT NULL,
  PRIMARY KEY (account, reference, number)
);
UPDATE payment_store SET version = 2;
