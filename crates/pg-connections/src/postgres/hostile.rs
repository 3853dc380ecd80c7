//! Servers, and attackers on the network, that answer the request for TLS with something else.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use super::{PostgresUrl, explain};

/// The length and the code of a request for TLS.
const REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// An error of the server, with this message.
fn error(message: &str) -> Vec<u8> {
    let fields = format!("SFATAL\0C28000\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    [&b"E"[..], &length, fields.as_bytes()].concat()
}

/// A server with a certificate that this file makes trusted, both for 127.0.0.1.
struct Server {
    tls: TlsAcceptor,
    authority: tempfile::NamedTempFile,
}

impl Server {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), authority.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self { tls: TlsAcceptor::from(Arc::new(config)), authority: file }
    }

    /// Connects once to a server that answers by `answer`. Returns the error, and what the server was told.
    async fn answering<F>(&self, answer: impl FnOnce(TcpStream, TlsAcceptor) -> F) -> (String, Vec<u8>)
    where
        F: Future<Output = Vec<u8>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let file = self.authority.path().display();
        let url = format!("postgres://shop:hunter2@127.0.0.1:{port}/shop?sslmode=require&sslrootcert={file}");
        let database = PostgresUrl::parse(&url).unwrap();
        let connecting = tokio::spawn(async move { database.connect().await.map(drop) });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut question = [0; 8];
        stream.read_exact(&mut question).await.unwrap();
        assert_eq!(question, REQUEST);
        let told = tokio::spawn(answer(stream, self.tls.clone()));
        let error = explain(&connecting.await.unwrap().unwrap_err());
        (error, told.await.unwrap())
    }
}

async fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut told = Vec::new();
    // The client may reset the connection.
    let _ = stream.read_to_end(&mut told).await;
    told
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}

/// One line without control characters.
fn is_one_line(text: &str) -> bool {
    text.chars().all(|letter| !letter.is_control() && !matches!(letter, '\u{202e}' | '\u{200b}'))
}

#[tokio::test]
async fn any_answer_but_s_ends_the_connection_and_reveals_nothing() {
    let server = Server::new();
    let hostile = "\u{1b}[2J\r\nall is well \u{202e}\u{200b}";
    for answer in [
        b"N".to_vec(),
        b"s".to_vec(),
        Vec::new(),
        vec![0],
        error(hostile),
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I".to_vec(),
    ] {
        let first = answer.first().copied();
        let answering = |mut stream: TcpStream, _| async move {
            stream.write_all(&answer).await.unwrap();
            stream.shutdown().await.unwrap();
            rest(stream).await
        };
        let (error, told) = server.answering(answering).await;
        assert!(told.is_empty() && is_one_line(&error) && !error.contains("all is well"), "{first:?}: {error:?}");
    }
}

/// An attacker on the network adds unencrypted bytes after the server's consent to TLS (CVE-2021-23222). They are not
/// read as messages of the server that the certificate names.
#[tokio::test]
async fn bytes_in_clear_behind_the_consent_are_not_words_of_the_server() {
    let server = Server::new();
    for injected in [error("injected"), b"R\0\0\0\x08\0\0\0\x03".to_vec(), vec![0; 1 << 16]] {
        let answering = |mut stream: TcpStream, tls: TlsAcceptor| async move {
            stream.write_all(&[&b"S"[..], &injected].concat()).await.unwrap();
            let mut told = Vec::new();
            if let Ok(mut stream) = tls.accept(&mut stream).await {
                let _ = stream.read_to_end(&mut told).await;
            }
            told
        };
        let (error, told) = server.answering(answering).await;
        assert!(!error.contains("injected") && is_one_line(&error), "{error:?}");
        assert!(!contains(&told, "hunter2") && !contains(&told, "shop"), "told within TLS");
    }
    // Without them the same server is read, within TLS.
    let answering = |mut stream: TcpStream, tls: TlsAcceptor| async move {
        stream.write_all(b"S").await.unwrap();
        let mut stream = tls.accept(stream).await.unwrap();
        let mut told = vec![0; 64];
        let read = stream.read(&mut told).await.unwrap();
        told.truncate(read);
        stream.write_all(&error("not\u{1b}[2J\nyou \u{202e}")).await.unwrap();
        stream.shutdown().await.unwrap();
        told
    };
    let (error, told) = server.answering(answering).await;
    assert!(contains(&told, "shop") && error.contains("not") && error.contains("you"), "{error:?}");
    assert!(is_one_line(&error), "{error:?}");
}

#[tokio::test]
async fn an_incomplete_or_invalid_handshake_reveals_nothing() {
    let server = Server::new();
    for answer in [&b""[..], b"\x15\x03\x03\0\x02\x02\x28", b"\x16\x03\x01\xff\xff", b"plain text for ever"] {
        let answering = |mut stream: TcpStream, _| async move {
            stream.write_all(&[b"S", answer].concat()).await.unwrap();
            stream.shutdown().await.unwrap();
            rest(stream).await
        };
        let (error, told) = server.answering(answering).await;
        // A first message of TLS, and perhaps an alert.
        assert!(told.first().is_none_or(|first| *first == 0x16) && is_one_line(&error), "{error:?}");
        assert!(!contains(&told, "hunter2") && !contains(&told, "shop"));
    }
}
