//! The many ways to say "not given" (spec 1 §2.1).

use pg_model::{Card, CardKeyDetail, CardKeyDetails, Keyed, RedirectData, Session, Transactions};

use crate::{read, response};

// spec: 1 §2.1, A42
#[test]
fn a_scalar_is_empty_as_null_text_list_object_or_when_absent() {
    for value in ["null", "\"\"", "[]", "{}"] {
        assert_eq!(read::<Session>(&format!("{{\"sessionKey\":{value}}}")), Session::default(), "{value}");
    }
    assert_eq!(read::<Session>("{}"), Session::default());
    for element in ["<sessionKey/>", "<sessionKey />", "<sessionKey></sessionKey>", "<sessionKey a='b'/>", ""] {
        assert_eq!(read::<Session>(&response(element)), Session::default(), "{element}");
    }
    assert_eq!(read::<Session>("<serviceResponse/>"), Session::default());
}

#[test]
fn an_empty_value_does_not_erase_what_came_before() {
    let twice = "<sessionKey>a</sessionKey><sessionKey/>";
    assert_eq!(read::<Session>(&response(twice)).session_key, "a");
    assert_eq!(read::<Session>("{\"sessionKey\":\"a\",\"sessionKey\":null}").session_key, "a");
}

#[test]
fn a_nested_record_is_empty_in_the_same_ways() {
    for value in ["null", "\"\"", "[]", "{}"] {
        let detail: CardKeyDetail = read(&format!("{{\"cardKey\":\"k\",\"card\":{value}}}"));
        assert_eq!(
            detail,
            CardKeyDetail::default().with(|record| {
                record.card_key = "k".into();
            }),
            "{value}"
        );
    }
    for element in ["<card/>", "<card></card>", "<card>\n  </card>", "<card><!-- none --></card>"] {
        let detail: CardKeyDetail = read(&response(&format!("<cardKey>k</cardKey>{element}")));
        assert_eq!(detail.card, Card::default(), "{element}");
        assert!(detail.extra.is_empty(), "{element}");
    }
}

#[test]
fn a_list_is_empty_in_the_same_ways() {
    for value in ["null", "\"\"", "[]", "{}", "[null]", "{\"0\":null}", "{\"0\":\"\"}", "[[]]"] {
        let body = format!("{{\"cardKeyDetails\":{value}}}");
        assert_eq!(read::<CardKeyDetails>(&body), CardKeyDetails::default(), "{value}");
    }
    for element in ["<cardKeyDetails/>", "<cardKeyDetails></cardKeyDetails>", "<cardKeyDetails> </cardKeyDetails>"] {
        assert_eq!(read::<CardKeyDetails>(&response(element)), CardKeyDetails::default(), "{element}");
    }
}

#[test]
fn a_row_without_fields_is_a_row_in_either_spelling() {
    for row in ["<transaction/>", "<transaction></transaction>", "<transaction> </transaction>"] {
        let found: Transactions = read(&response(&format!("<transactions>{row}{row}</transactions>")));
        assert_eq!((found.transactions.len(), found.extra.is_empty()), (2, true), "{row}");
    }
    assert_eq!(read::<Transactions>("{\"transactions\":[{},{}]}").transactions.len(), 2);
}

#[test]
fn records_by_name_are_empty_in_the_same_ways() {
    for value in ["null", "\"\"", "[]", "{}"] {
        let data: RedirectData = read(&format!("{{\"errors\":{value}}}"));
        assert_eq!(data.errors, Keyed::default(), "{value}");
        assert!(data.extra.is_empty(), "{value}");
    }
    assert_eq!(read::<RedirectData>(&response("<errors/>")).errors, Keyed::default());
}
