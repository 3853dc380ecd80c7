INSERT INTO authentications (key, merchant, body) VALUES
    ('0mwq0rqh60hz4dk11rxrwhbz9j0nqyxq', 'main', '{"key":"0mwq0rqh60hz4dk11rxrwhbz9j0nqyxq","merchant":"main","service":"V3","check":"0mwq0rqh60gzi7nla0fas0ejbj791zg0","return_to":"https://shop.example/back","session_key":"0mwq0rqh60fattfgoo8iqf6moj6ya3mt","created":1795242059466}');
