-- Lookups of unknown payments: those of the plan are counted and keep their times, whatever events arrive.
ALTER TABLE payment_intents ADD COLUMN lookups INTEGER NOT NULL DEFAULT 0; -- of the plan, since it ended as unknown
ALTER TABLE payment_intents ADD COLUMN next_lookup INTEGER;                -- of the plan
ALTER TABLE payment_intents ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0;   -- until then, events do not make it due
UPDATE payment_intents SET lookups = claims, next_lookup = nullif(due, 9223372036854775807) WHERE status = 1;
UPDATE payment_intents SET claims = 0 WHERE status = 1;
UPDATE payment_store SET version = 3;
