//! What XML allows beyond the shapes shown.

use pg_model::{CardKeyDetail, CardKeyDetails, Session, Transaction};

use crate::{read, response, try_read};

#[test]
fn prologue_comments_instructions_and_a_byte_order_mark_do_no_harm() {
    let element = response("<sessionKey>k</sessionKey>");
    for body in [
        format!("\u{feff}{element}"),
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{element}"),
        format!("\u{feff}<?xml version='1.0' standalone='yes'?>\r\n<!-- a > b --><?pi x?>\n{element}\n<!-- end -->\n"),
        format!("<!DOCTYPE serviceResponse>{element}"),
        format!("<!DOCTYPE serviceResponse [<!ELEMENT a (b|c)><!ENTITY e 'x'>]>{element}"),
        response("<!-- before --><sessionKey><!-- in -->k<!-- after --></sessionKey><?pi?>"),
        "<serviceResponse version='5' xmlns=\"urn:x\"><sessionKey type='a>b'>k</sessionKey ></serviceResponse >".into(),
        "<s:serviceResponse xmlns:s='urn:x'><s:sessionKey>k</s:sessionKey></s:serviceResponse>".into(),
    ] {
        assert_eq!(read::<Session>(&body).session_key, "k", "{body}");
    }
}

#[test]
fn text_comes_in_pieces() {
    for (inside, text) in [
        ("a<![CDATA[<b>&amp;]]>c", "a<b>&amp;c"),
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("&#65;&#x42;&#x1F600;", "AB😀"),
        ("a<!-- x -->b<?y?>c", "abc"),
        (" a b ", " a b "),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a&#13;b", "a\rb"),
        ("Zoë", "Zoë"),
    ] {
        let session: Session = read(&response(&format!("<sessionKey>{inside}</sessionKey>")));
        assert_eq!(session.session_key, text, "{inside}");
        let unknown: Session = read(&response(&format!("<new>{inside}</new>")));
        assert_eq!(unknown.extra.get("new").and_then(|value| value.as_text()), Some(text), "{inside}");
        let named: Transaction = read(&response(&format!("<bankNew>{inside}</bankNew>")));
        assert_eq!(named.bank.get("bankNew"), Some(text), "{inside}");
    }
}

#[test]
fn repeated_elements_are_a_list_whatever_they_are_called() {
    for item in ["cardKeyDetail", "item", "x"] {
        let list = format!(
            "<cardKeyDetails>\n<{item}><cardKey>a</cardKey></{item}>\n<{item}><cardKey>b</cardKey></{item}></cardKeyDetails>"
        );
        let found: CardKeyDetails = read(&response(&list));
        assert_eq!(found.card_key_details.iter().map(|card| card.card_key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}

#[test]
fn an_entity_that_a_document_type_declares_is_not_expanded() {
    let declared = "<!DOCTYPE serviceResponse [<!ENTITY e \"expanded\"><!ENTITY x SYSTEM \"file:///etc/hostname\">]>";
    for reference in ["&e;", "&x;", "&nbsp;"] {
        let body = format!("{declared}{}", response(&format!("<sessionKey>{reference}</sessionKey>")));
        let error = try_read::<Session>(&body).expect_err("an entity of the document's own");
        assert!(error.to_string().contains("entity"), "{error}");
    }
}

#[test]
fn a_small_body_cannot_grow() {
    let mut body = String::from("<!DOCTYPE lolz [<!ENTITY lol0 \"lol\">");
    for level in 1..=9 {
        body += &format!("<!ENTITY lol{level} \"{}\">", format!("&lol{};", level - 1).repeat(10));
    }
    body += "]>";
    assert!(try_read::<Session>(&(body.clone() + &response("<sessionKey>&lol9;</sessionKey>"))).is_err());
    assert_eq!(read::<Session>(&(body + &response("<sessionKey>k</sessionKey>"))).session_key, "k");
}

#[test]
fn malformed_input_is_refused() {
    for body in [
        "<serviceResponse>",
        "<serviceResponse><a></b></serviceResponse>",
        "<serviceResponse><sessionKey>k</serviceResponse>",
        "<serviceResponse></sessionKey></serviceResponse>",
        "<serviceResponse><sessionKey>a & b</sessionKey></serviceResponse>",
        "<serviceResponse><sessionKey>&#0;</sessionKey></serviceResponse>",
        "<serviceResponse><sessionKey>&#xD800;</sessionKey></serviceResponse>",
        "<serviceResponse><sessionKey>&#99999999999;</sessionKey></serviceResponse>",
        "<serviceResponse><!-- a </serviceResponse>",
        "<serviceResponse><![CDATA[ a </serviceResponse>",
        // A form feed is no white space in XML.
        "<serviceResponse></serviceResponse\u{c}>",
        "<serviceResponse></serviceResponse>\u{c}",
        "\u{c}<serviceResponse></serviceResponse>",
        "<serviceResponse/><serviceResponse/>",
        "<serviceResponse/>trailing",
        "<serviceResponse/>&amp;",
        "leading<serviceResponse/>",
        "<?xml version='1.0'?>text<serviceResponse/>",
        "</serviceResponse>",
        "<>",
        "< serviceResponse/>",
        "<!DOCTYPE serviceResponse",
    ] {
        assert!(try_read::<Session>(body).is_err(), "{body}");
    }
}

#[test]
fn an_element_inside_a_scalar_ends_where_it_should() {
    let body = response("<cardKey>a<b>c</b>d<e/></cardKey><enabled>1</enabled>");
    assert_eq!(read::<CardKeyDetail>(&body).enabled, "1");
}
