INSERT INTO faults (key, merchant, body) VALUES
    ('0mwq0rqh60i9ayzsulpzu6a1pyn323jx', '', '{"key":"0mwq0rqh60i9ayzsulpzu6a1pyn323jx","method":"token/enable","kind":"delay","milliseconds":1,"times":1,"remaining":1,"created":1795242059466}');
