//! Hand-written HTTP over one persistent connection, which never repeats a request or hides a lost reply.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use pg_crypto::{ShaKey, sign};
use serde_json::Value;

/// Where a sandbox listens, and its account `main`.
#[derive(Clone)]
pub(crate) struct Account {
    address: String,
    credentials: [(&'static str, String); 2],
    sha_key: String,
}

impl Account {
    /// The account of a sandbox's first line of output.
    pub(crate) fn of(facts: &Value) -> Self {
        let main = &facts["merchants"][0];
        let text = |name: &str| main[name].as_str().unwrap().to_owned();
        Self {
            address: facts["baseUrl"].as_str().unwrap().trim_start_matches("http://").to_owned(),
            credentials: [("apiKey", text("apiKey")), ("apiPassword", text("apiPassword"))],
            sha_key: text("shaKey"),
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The signed body of a call.
    fn body(&self, parameters: &[(&str, String)]) -> String {
        let credentials = self.credentials.iter().map(|(name, value)| (*name, value.as_str()));
        let mut pairs: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.extend(credentials);
        let signature = sign(&pairs, &ShaKey::new(self.sha_key.as_str()));
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(&pairs).append_pair("shaSignature", signature.hex().as_str());
        body.finish()
    }
}

/// A connection.
pub(crate) struct Caller {
    stream: BufReader<TcpStream>,
    account: Account,
}

/// An answer whose body is JSON.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Caller {
    pub(crate) fn new(account: &Account) -> io::Result<Self> {
        let stream = TcpStream::connect(&account.address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), account: account.clone() })
    }

    /// Sends a call of the gateway or of the token service, signed.
    pub(crate) fn send(&mut self, method: &str, parameters: &[(&str, String)]) -> io::Result<()> {
        let body = self.account.body(parameters);
        self.write(&format!("POST /v3/{method}/json"), &body)
    }

    /// Reads the answer to what was sent.
    pub(crate) fn receive(&mut self) -> io::Result<Reply> {
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no HTTP: {status_line}")))?;
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some(("content-length", value)) = line.split_once(": ") {
                length = value.parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).map_err(io::Error::other)?;
        Ok(Reply { status, body })
    }

    /// A call and its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: &[(&str, String)]) -> Reply {
        self.send(method, parameters).unwrap();
        self.receive().unwrap()
    }

    /// The transactions that a lookup by one parameter finds.
    #[track_caller]
    pub(crate) fn lookup(&mut self, name: &str, value: &str) -> Vec<Value> {
        let reply = self.call("transaction/lookup", &[(name, value.to_owned())]);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body["transactions"].as_object().unwrap().values().cloned().collect()
    }

    /// What the control interface shows at a path.
    #[track_caller]
    pub(crate) fn show(&mut self, path: &str) -> Value {
        self.write(&format!("GET /_sandbox/{path}"), "").unwrap();
        let reply = self.receive().unwrap();
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }

    /// Tells the control interface something.
    #[track_caller]
    pub(crate) fn tell(&mut self, path: &str, json: &str) {
        self.write(&format!("POST /_sandbox/{path}"), json).unwrap();
        let reply = self.receive().unwrap();
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
    }

    /// In one write, so that a killed process has read all of it or nothing.
    fn write(&mut self, target: &str, body: &str) -> io::Result<()> {
        let (host, length) = (&self.account.address, body.len());
        let request = format!(
            "{target} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
