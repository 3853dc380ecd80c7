-- The fourth format: how many of the groups of requests have written nothing that processes keep a copy of, such as payments alone.
-- Programs of earlier formats may write too; they do not count theirs, which therefore make the others read their copies again.
ALTER TABLE payment_sandbox.store ADD COLUMN quiet bigint NOT NULL DEFAULT 0;
