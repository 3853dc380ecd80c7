INSERT INTO callbacks (key, merchant, due, body) VALUES
    ('0mwq0ub2i00r3pswbq1qoc1uhak20ad0', 'main', '01795242779466', '{"key":"0mwq0ub2i00r3pswbq1qoc1uhak20ad0","merchant":"main","kind":"account-updater","about":"0mwq0rqh60a4knn5s4bvqickur675kuf","url":"http://127.0.0.1:9/cb","content_type":"application/json; charset=utf-8","body_bytes":181,"status":"pending","due":1795242779466,"deliveries_left":1,"attempts":0,"created":1795242179466}');
INSERT INTO callback_bodies (key, merchant, body) VALUES
    ('0mwq0ub2i00r3pswbq1qoc1uhak20ad0', 'main', '{"key":"0mwq0ub2i00r3pswbq1qoc1uhak20ad0","merchant":"main","text":"{\"batchKey\":\"0mwq0rqh60a4knn5s4bvqickur675kuf\",\"createdOn\":\"2026-11-21T06:20:59+00:00\",\"cardKeyDetails\":[{\"oldCardKey\":\"0d0fe61f-3650-0956-edd2-f33b1171bcec1ec5\",\"response\":\"705\"}]}"}');
INSERT INTO batches (key, merchant, due, body) VALUES
    ('0mwq0rqh60a4knn5s4bvqickur675kuf', 'main', NULL, '{"key":"0mwq0rqh60a4knn5s4bvqickur675kuf","merchant":"main","created":1795242059466,"due":1795242179466,"finished":true,"callback_url":"http://127.0.0.1:9/cb","in_json":true,"cards":1,"responses":{"705":1}}');
INSERT INTO batch_cards (key, merchant, body) VALUES
    ('0mwq0rqh60a4knn5s4bvqickur675kuf', 'main', '{"key":"0mwq0rqh60a4knn5s4bvqickur675kuf","merchant":"main","entries":[{"old":"0d0fe61f-3650-0956-edd2-f33b1171bcec1ec5","response":"705"}]}');
INSERT INTO updater_answers (key, merchant, body) VALUES
    ('191967250621700', '', '{"key":"191967250621700","card":"400000******1000","response":"705"}');
