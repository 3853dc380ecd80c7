-- 3-D Secure authentications; the check of each, with order and card, is a transaction.
CREATE TABLE authentications (
    key TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
