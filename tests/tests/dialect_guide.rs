//! The dialect file that the guide shows.

use pg_model::Dialect;

#[test]
fn the_dialect_file_of_the_guide_is_valid() {
    let guide = include_str!("../../docs/guide/dialects.md");
    let (_, rest) = guide.split_once("## The file\n\n```toml\n").unwrap();
    let (file, _) = rest.split_once("```").unwrap();
    let dialect = Dialect::from_toml(file).unwrap();
    assert!(dialect.is_declined(&"651".into()) && dialect.lookup.no_card.is_some());
}
