-- One row for each intent: a machine that pays, who works on it, and how it ended. Times are milliseconds since 1970.
CREATE TABLE payment_intents (
  account   text     NOT NULL, -- identity and base address of the account
  reference text     NOT NULL, -- uniqueMerchantReference, taken once by the service
  kind      text     NOT NULL, -- which machine
  digest    text     NOT NULL, -- tells another payment under the same reference
  request   text,              -- the payment, if it holds no card data
  state     text     NOT NULL, -- the machine
  status    smallint NOT NULL, -- 0 open, 1 unknown, 2 parked, 3 ended
  fence     bigint   NOT NULL, -- raised by each claim
  owner     text,
  due       bigint   NOT NULL, -- end of the owner's lease, or next wake
  claims    integer  NOT NULL,
  outcome   text,
  event     integer  NOT NULL, -- counts outcomes
  told      integer  NOT NULL, -- the last outcome that was acknowledged
  tell_due  bigint   NOT NULL,
  created   bigint   NOT NULL,
  changed   bigint   NOT NULL,
  history   text     NOT NULL, -- the last lines of what happened
  PRIMARY KEY (account, reference)
);
CREATE INDEX payment_intents_due ON payment_intents (account, due) WHERE status < 2;
CREATE INDEX payment_intents_untold ON payment_intents (account, tell_due) WHERE told < event;
CREATE INDEX payment_intents_changed ON payment_intents (changed);
-- Parts of an account's limits, each held by one worker.
CREATE TABLE payment_shares (
  account text    NOT NULL,
  number  integer NOT NULL,
  owner   text    NOT NULL,
  due     bigint  NOT NULL, -- end of the owner's lease
  usable  bigint  NOT NULL, -- when it may be used
  PRIMARY KEY (account, number)
);
-- Why nothing is sent for an account.
CREATE TABLE payment_stops (
  account text   NOT NULL PRIMARY KEY,
  reason  text   NOT NULL,
  since   bigint NOT NULL
);
-- One row: how many workers there have been.
CREATE TABLE payment_store (
  program text    NOT NULL PRIMARY KEY,
  version integer NOT NULL,
  workers bigint  NOT NULL
);
INSERT INTO payment_store (program, version, workers) VALUES ('pg-intents', 1, 0);
