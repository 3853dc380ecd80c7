//! Certificates that an integration must reject.

use super::Text;
use crate::{
    certificates::Certificate,
    drill::{Family, Severity},
    story::{
        Scene,
        charge::{Charge, Entrance, Judged},
    },
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "T01",
        title: "Self-signed certificate",
        severity: Severity::Critical,
        basis: "3 §1",
        imitates: "An attacker in the middle presents a self-signed certificate.",
        mend: "Verify certificates with your HTTP library’s defaults, against the system’s roots or SSL_CERT_FILE. Never switch verification off.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::SelfSigned), judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T02",
        title: "Expired certificate",
        severity: Severity::High,
        basis: "3 §1",
        imitates: "The certificate expired years ago.",
        mend: "Verify certificates with your HTTP library’s defaults, against the system’s roots or SSL_CERT_FILE. Never switch verification off.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::Expired), judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T03",
        title: "Certificate of another host",
        severity: Severity::Critical,
        basis: "3 §1",
        imitates: "The certificate is valid for another host.",
        mend: "Verify certificates with your HTTP library’s defaults, against the system’s roots or SSL_CERT_FILE. Never switch verification off.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::WrongHost), judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T04",
        title: "Certificate not yet valid",
        severity: Severity::Medium,
        basis: "3 §1",
        imitates: "The certificate is not valid yet.",
        mend: "Verify certificates with your HTTP library’s defaults, against the system’s roots or SSL_CERT_FILE. Never switch verification off.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::NotYetValid), judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T05",
        title: "Certificate of an unknown authority",
        severity: Severity::Critical,
        basis: "3 §1",
        imitates: "The certificate is signed by an authority that is not trusted.",
        mend: "Verify certificates with your HTTP library’s defaults, against the system’s roots or SSL_CERT_FILE. Never switch verification off.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::UnknownAuthority), judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T06",
        title: "Plain HTTP where TLS was configured",
        severity: Severity::Critical,
        basis: "3 §1",
        imitates: "The URL is https, and the server speaks plain HTTP.",
        mend: "Never fall back to plain HTTP.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::PlainForTls, judged: Judged::Nothing, ..Charge::PLAIN }),
    Text {
        id: "T07",
        title: "Valid certificate",
        severity: Severity::Medium,
        basis: "3 §1",
        imitates: "The certificate is valid, and its authority is in SSL_CERT_FILE.",
        mend: "Let your HTTP library read SSL_CERT_FILE. Without that, the other TLS drills pass only because no certificate is trusted.",
    }
    .charge(Family::Tls, Charge { entrance: Entrance::Tls(Certificate::Valid), judged: Judged::Nothing, ..Charge::PLAIN }),
];
