//! What decoding replies costs beside the bare work: for XML quick-xml's event loop over the same bytes, which keeps
//! nothing; for JSON serde_json into structs that are as plain as can be.

mod plain;
mod replies;

use std::hint::black_box;

use pg_measure::{Bounds, compare};
use pg_model::{AccountUpdaterBatch, CardKeyDetails, Encoding, Record, Transaction, decode};
use quick_xml::{Reader, events::Event};
use serde::de::DeserializeOwned;

const XML: Bounds = Bounds::at_most(1.60, 0.85);
const JSON: Bounds = Bounds::at_most(1.20, 0.90);

fn main() {
    xml::<Transaction>("1 transaction", &replies::transaction(Encoding::Xml));
    xml::<CardKeyDetails>("1 stored card", &replies::token(Encoding::Xml));
    xml::<AccountUpdaterBatch>("batch of 5,000 cards", &replies::batch(5_000, Encoding::Xml));
    json::<Transaction, plain::Transaction>("1 transaction", &replies::transaction(Encoding::Json));
    json::<CardKeyDetails, plain::CardKeyDetails>("1 stored card", &replies::token(Encoding::Json));
    json::<AccountUpdaterBatch, plain::Batch>("batch of 5,000 cards", &replies::batch(5_000, Encoding::Json));
}

fn xml<R: Record + Default>(name: &str, body: &str) {
    println!("{name}: {} bytes of XML", body.len());
    compare(&format!("decode XML, {name}"), XML, || decoded::<R>(body), || events(black_box(body)));
}

fn json<R: Record + Default, P: DeserializeOwned>(name: &str, body: &str) {
    println!("{name}: {} bytes of JSON", body.len());
    let floor = || serde_json::from_str::<P>(black_box(body)).expect("the plain struct fits the reply");
    compare(&format!("decode JSON, {name}"), JSON, || decoded::<R>(body), floor);
}

fn decoded<R: Record + Default>(body: &str) -> R {
    decode::<R>(black_box(body).as_bytes()).expect("the reply can be read").record
}

/// Every event of a document, looked at and dropped.
fn events(body: &str) -> usize {
    let mut reader = Reader::from_str(body);
    let mut count = 0;
    while !matches!(black_box(reader.read_event()).expect("the document is well-formed"), Event::Eof) {
        count += 1;
    }
    count
}
