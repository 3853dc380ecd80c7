INSERT INTO checkout_tokens (key, merchant, body) VALUES
    ('0mwq0quyf0asbbwqvf662c2m5daxpo83', 'main', '{"key":"0mwq0quyf0asbbwqvf662c2m5daxpo83","merchant":"main","start":1795242018615,"expires":1795846818615,"uses":-1,"redemptions":-1,"success_url":"http://127.0.0.1:38885/pay/success","cancel_url":"http://127.0.0.1:38885/pay/cancelled","auto_redirect":false,"currency":"GBP","amount":595,"items":[{"name":"Tea","price":"5.95"}],"kind":"Auth","category":"purchase","applet":"default","created":1795242018615}');
INSERT INTO checkout_tokens (key, merchant, body) VALUES
    ('0mwq0quyf0btn5rtfafjxowpkdyj2e7z', 'main', '{"key":"0mwq0quyf0btn5rtfafjxowpkdyj2e7z","merchant":"main","start":1795242018615,"expires":1795846818615,"uses":-1,"redemptions":-1,"success_url":"http://127.0.0.1:38885/pay/success","cancel_url":"http://127.0.0.1:38885/pay/cancelled","auto_redirect":false,"currency":"GBP","amount":595,"items":[{"name":"Tea","price":"5.95"}],"kind":"Auth","category":"purchase","applet":"default","created":1795242018615}');
INSERT INTO checkout_visits (key, merchant, token, body) VALUES
    ('0mwq0rqh60d394mlkg087hf0wjm41771', 'main', '0mwq0rqh60c5hprll02fd86hxdzq7efg', '{"key":"0mwq0rqh60d394mlkg087hf0wjm41771","merchant":"main","token":"0mwq0rqh60c5hprll02fd86hxdzq7efg","created":1795242059466}');
INSERT INTO text_messages (key, merchant, body) VALUES
    ('0mwq0quyf0cw2xw5d5st3od97bt7slh4', 'main', '{"key":"0mwq0quyf0cw2xw5d5st3od97bt7slh4","merchant":"main","msisdn":"447700900123","message":"Hello","message_id":"4133627672705041","created":1795242018615}');
