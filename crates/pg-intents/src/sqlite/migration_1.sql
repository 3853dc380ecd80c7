-- One row for each intent: a machine that pays, who works on it, and how it ended. Times are milliseconds since 1970.
CREATE TABLE payment_intents (
  account   TEXT    NOT NULL, -- identity and base address of the account
  reference TEXT    NOT NULL, -- uniqueMerchantReference, taken once by the service
  kind      TEXT    NOT NULL, -- which machine
  digest    TEXT    NOT NULL, -- tells another payment under the same reference
  request   TEXT,             -- the payment, if it holds no card data
  state     TEXT    NOT NULL, -- the machine
  status    INTEGER NOT NULL, -- 0 open, 1 unknown, 2 parked, 3 ended
  fence     INTEGER NOT NULL, -- raised by each claim
  owner     TEXT,
  due       INTEGER NOT NULL, -- end of the owner's lease, or next wake
  claims    INTEGER NOT NULL,
  outcome   TEXT,
  event     INTEGER NOT NULL, -- counts outcomes
  told      INTEGER NOT NULL, -- the last outcome that was acknowledged
  tell_due  INTEGER NOT NULL,
  created   INTEGER NOT NULL,
  changed   INTEGER NOT NULL,
  history   TEXT    NOT NULL, -- the last lines of what happened
  PRIMARY KEY (account, reference)
) WITHOUT ROWID;
CREATE INDEX payment_intents_due ON payment_intents (account, due) WHERE status < 2;
CREATE INDEX payment_intents_untold ON payment_intents (account, tell_due) WHERE told < event;
CREATE INDEX payment_intents_changed ON payment_intents (changed);
-- Parts of an account's limits, each held by one worker.
CREATE TABLE payment_shares (
  account TEXT    NOT NULL,
  number  INTEGER NOT NULL,
  owner   TEXT    NOT NULL,
  due     INTEGER NOT NULL, -- end of the owner's lease
  usable  INTEGER NOT NULL, -- when it may be used
  PRIMARY KEY (account, number)
) WITHOUT ROWID;
-- Why nothing is sent for an account.
CREATE TABLE payment_stops (
  account TEXT    NOT NULL PRIMARY KEY,
  reason  TEXT    NOT NULL,
  since   INTEGER NOT NULL
) WITHOUT ROWID;
-- One row: how many workers there have been.
CREATE TABLE payment_store (
  program TEXT    NOT NULL,
  version INTEGER NOT NULL,
  workers INTEGER NOT NULL
);
INSERT INTO payment_store (program, version, workers) VALUES ('pg-intents', 1, 0);
