//! Texts for `--store` that are neither a file nor the address of a PostgreSQL database.

use super::pg::{Pg, pg};

#[test]
fn an_address_with_a_mistake_is_no_new_file_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cards.txt"), "4F2C-91\n").unwrap();
    let refused = |run: Pg| {
        let ended = run.within(folder.path()).run().ends(2).hides(&["hunter2"]);
        ended.says("is not of the form postgres://user@host:port/database").says("./");
    };
    for address in ["postgres:/u:hunter2@h/d", "host=h password=hunter2"] {
        let from_environment =
            |words: &str| pg(words.split(' ')).env("PG_SANDBOX_STORE", address).env("PG_INTENTS_STORE", address);
        refused(from_environment("sandbox --listen 127.0.0.1:0"));
        refused(from_environment("sandbox --listen 127.0.0.1:0 --log-format json --json"));
        refused(from_environment("intents"));
        refused(from_environment("intents --json migrate"));
        refused(pg(["sandbox", "--listen", "127.0.0.1:0", "--store", address]));
        refused(pg(["intents", "--store", address]));
        // Without the name of its option.
        for command in ["sandbox --log-format json", "intents", "intents --json"] {
            let ended = pg(command.split(' ')).arg(address).run().ends(2).hides(&["hunter2"]);
            ended.says("subcommand '***'");
        }
        refused(pg(["update-cards", "cards.txt", "--store", address]).account("https://gateway.example"));
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["cards.txt"]);
}

#[test]
fn a_file_whose_name_looks_like_an_address_is_given_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a")).unwrap();
    let absolute = folder.path().join("12:30.sqlite").to_str().unwrap().to_owned();
    for file in ["./shop=1.sqlite", "a/b=1.sqlite", "./a//b=2.sqlite", &absolute] {
        let run =
            |arguments: &[&str]| pg([&["intents", "--store", file], arguments].concat()).within(folder.path()).run();
        run(&["migrate"]).ends(0);
        run(&[]).ends(0).says("no payments");
    }
}
