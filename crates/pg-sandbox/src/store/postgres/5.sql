-- The fifth format: the number of the last key of a record, which the keys of all processes follow.
-- Programs of earlier formats may write too; they neither follow it nor change it.
ALTER TABLE payment_sandbox.store ADD COLUMN last_key bigint NOT NULL DEFAULT 0;
