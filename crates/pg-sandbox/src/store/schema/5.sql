-- Faults that calls were told to meet.
CREATE TABLE faults (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
