-- The third format: several keys, of which one seals what is written. Programs of earlier formats may write until the key is changed
-- for the first time.
ALTER TABLE payment_sandbox.store ADD COLUMN key_changes bigint NOT NULL DEFAULT 0;

-- What tells a key from others; whether rows are sealed with it ('writes'), may be sealed with it ('reads'), or are no more
-- ('retired'); and the first key of the store, sealed with this one: nothing for the first key itself.
CREATE TABLE payment_sandbox.keys (
    fingerprint text COLLATE "C" NOT NULL PRIMARY KEY,
    state text NOT NULL,
    root text
);
