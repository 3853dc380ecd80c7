//! Starts that are refused, each with one line that says what to do.

use std::{fs, process::Command};

use pg_sandbox::{Config, Server};
use pg_stores::Postgres;
use tokio::runtime::Runtime;

use super::command;

#[test]
fn a_shop_that_listens_everywhere_needs_its_address() {
    let runtime = Runtime::new().unwrap();
    let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("customers.json"), "{}").unwrap();
    for program in [env!("CARGO_BIN_EXE_fleet-shop"), env!("CARGO_BIN_EXE_axum-shop")] {
        let shop = command(&sandbox, "", &file("intents.sqlite"), &file("customers.json"));
        let mut shop_there = Command::new(program);
        shop_there.envs(shop.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let shop_there =
            shop_there.env_remove("SHOP_URL").env("SHOP_LISTEN", "0.0.0.0:0").env("SHOP_ORDERS", file("orders"));
        let refused = shop_there.output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.starts_with("SHOP_URL is not set"), "{said}");
    }
}

#[test]
fn an_order_whose_number_fits_no_address_or_reference_is_refused_at_the_start() {
    let runtime = Runtime::new().unwrap();
    let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let of_30 = "x".repeat(30);
    for order in ["X.Y", "order_x", "a/b", "", "é", &of_30] {
        let orders =
            format!(r#"{{"secret":{{"reference":"alice","cardKey":"K","orders":{{"order-1":499,"{order}":1}}}}}}"#);
        fs::write(file("customers.json"), orders).unwrap();
        let shop =
            command(&sandbox, "http://127.0.0.1:1", &file("intents.sqlite"), &file("customers.json")).output().unwrap();
        let error = String::from_utf8(shop.stderr).unwrap();
        assert!(
            !shop.status.success() && error.contains(&format!("{order:?} cannot be the number")),
            "{order}: {error}"
        );
    }
}

#[test]
fn a_shop_makes_no_empty_store() {
    let runtime = Runtime::new().unwrap();
    let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("customers.json"), "{}").unwrap();
    fs::write(file("empty.sqlite"), "").unwrap();
    for (store, says) in [
        (None, "SHOP_STORE is not set"),
        (Some(file("missing.sqlite")), "for a new shop, type: pg intents --store"),
        (Some("mysql://shop@db/shop".to_owned()), "SHOP_STORE is neither a file nor an address"),
        (Some("host=db password=hunter2 dbname=shop".to_owned()), "neither a file nor an address"),
        (Some("postgres:/shop:hunter2@db/shop".to_owned()), "neither a file nor an address"),
        (Some(file("empty.sqlite")), "If the shop has paid orders before"),
    ] {
        let mut shop = command(&sandbox, "http://127.0.0.1:1", "", &file("customers.json"));
        shop.current_dir(folder.path()).env_remove("SHOP_STORE");
        if let Some(store) = &store {
            shop.env("SHOP_STORE", store);
        }
        let ended = shop.output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && error.contains(says) && error.lines().count() == 1, "{store:?}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["customers.json", "empty.sqlite"]);
    assert_eq!(fs::metadata(file("empty.sqlite")).unwrap().len(), 0);
}

#[test]
fn a_database_that_cannot_be_used_is_refused_in_one_line_that_says_what_to_type() {
    let runtime = Runtime::new().unwrap();
    let sandbox = runtime.block_on(Server::start(Config::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "not a database, but long enough to be one: ".repeat(200)).unwrap();
    let mut refused = vec![(file.to_str().unwrap().to_owned(), "notes.txt: ")];
    let customers = folder.path().join("customers.json").to_str().unwrap().to_owned();
    fs::write(&customers, "{}").unwrap();
    let postgres = Postgres::installed().map(|_| Postgres::start(&[]).unwrap());
    if let Some(postgres) = &postgres {
        refused.push((
            format!("{}?sslmode=disable", postgres.database().unwrap()),
            r#"If the shop has paid orders before, name its store"#,
        ));
    }
    for (store, says) in refused {
        let ended = command(&sandbox, "http://127.0.0.1:1", &store, &customers).output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && ended.stdout.is_empty(), "{:?}", ended.stdout);
        assert!(error.contains(says) && error.lines().count() == 1, "{error}");
    }
}
