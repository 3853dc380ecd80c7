//! The command itself: its output, its warnings, and the files that it writes.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    thread,
};

use crate::{Result, row::Table, target::Program};

pub(crate) fn run(program: &Program, table: &mut Table<'_>) -> Result<()> {
    let attack = "a card number on the command line, where `ps` shows it, draws no warning";
    if table.wants(attack) {
        let through = unwarned(program)?;
        table.add_tries(attack, "no warning at a sandbox", WARNED.len(), &through);
    }
    let attack = "`pg sandbox` prints secrets of its config file, in its start text, its errors or its help";
    if table.wants(attack) {
        let (tries, through) = printed(program)?;
        table.add_tries(attack, "printed them", tries, &through);
    }
    let attack = "a reply controls the terminal: escape sequences, U+202E, zero-width characters";
    if table.wants(attack) {
        let (tries, through) = tricked(program)?;
        table.add_tries(attack, "U+202E reached it", tries, &through);
    }
    let attack = "card numbers in other spellings pass the masks: other scripts, any separators, escapes, Base64";
    if table.wants(attack) {
        let (tries, through) = unmasked(program)?;
        table.add_tries(attack, "full-width and Base64 passed", tries, &through);
    }
    let attack = "files of the store that exist beforehand as symbolic links, or are readable by other users";
    if table.wants(attack) {
        let (tries, through) = linked(program)?;
        table.add_tries(attack, "a wrong error; 0644", tries, &through);
    }
    Ok(())
}

/// An account at an address without a listener.
const ACCOUNT: [(&str, &str); 4] = [
    ("PG_BASE_URL", "http://127.0.0.1:1"),
    ("PG_API_KEY", "canaryKey00000000000000000000000"),
    ("PG_API_PASSWORD", "canaryPassword"),
    ("PG_SHA_KEY", "canaryShaKey"),
];

/// What `ps` would show.
const WARNED: [&[&str]; 6] = [
    &["call", "transaction/auth", "cardNumber=4111111111111111", "--unchecked"],
    &["call", "transaction/auth", "cardNumber=4111111111111111", "--unchecked", "--dry-run"],
    &["call", "token/lookup", "cardKey=4111-1111-1111-1111", "--dry-run"],
    &["sign", "cardNumber=4111111111111111"],
    &["methods", "4111111111111111"],
    &["decrypt", "--iv", "0123456789abcdef", "4111 1111 1111 1111"],
];

fn unwarned(program: &Program) -> Result<Vec<String>> {
    let mut through = Vec::new();
    for arguments in WARNED {
        let output = program.command(arguments).envs(ACCOUNT).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let all = said.clone() + &String::from_utf8_lossy(&output.stdout);
        if !said.contains("warning") || all.contains("4111111111111111") || all.contains("4111-1111-1111") {
            through.push(arguments.join(" "));
        }
    }
    Ok(through)
}

fn printed(program: &Program) -> Result<(usize, Vec<String>)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("merchants.toml");
    let path = file.to_str().ok_or("a path that is no text")?;
    let key = "canaryKey00000000000000000000000";
    let account = format!(
        "[[merchant]]\nname = \"shop\"\napiKey = \"{key}\"\napiPassword = \"canaryPassword\"\nshaKey = \"canaryShaKey\"\ncurrencies = [\"GBP\"]\n"
    );
    let mut through = Vec::new();
    let texts = [
        account.clone(),
        account.replace("GBP", "canary"),
        account.replace("\"GBP\"", "5"),
        account.replace(&format!("\"{key}\""), "4111111111111111"),
        account.replace("shaKey", "shakey"),
        account.clone() + "requestsPerMinute = \"canaryPassword\"\n",
    ];
    for (at, text) in texts.iter().enumerate() {
        fs::write(&file, text)?;
        let child = program
            .command(&["sandbox", "--listen", "127.0.0.1:0", "--config", path])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()?;
        let said = until_up(child)?;
        if said.contains("canary") || said.contains("4111111111111111") {
            through.push(format!("config file {}", at + 1));
        }
    }
    let helps: [&[&str]; 4] =
        [&["sandbox", "--help"], &["call", "--help"], &["decrypt", "--help"], &["update-cards", "--help"]];
    for arguments in helps {
        let output = program.command(arguments).envs(ACCOUNT).env("PG_CONTROL_TOKEN", "canaryToken").output()?;
        if String::from_utf8_lossy(&output.stdout).contains("canary") {
            through.push(arguments.join(" "));
        }
    }
    Ok((texts.len() + helps.len(), through))
}

/// The output of a sandbox until it is ready or ends.
fn until_up(mut child: std::process::Child) -> Result<String> {
    let mut said = String::new();
    let mut out = child.stdout.take().ok_or("no standard output")?;
    let mut some = [0; 4096];
    while !said.contains("Then, in that shell") {
        let read = out.read(&mut some)?;
        if read == 0 {
            break;
        }
        said.push_str(&String::from_utf8_lossy(&some[..read]));
    }
    drop(child.kill());
    if let Some(mut err) = child.stderr.take() {
        err.read_to_string(&mut said)?;
    }
    child.wait()?;
    Ok(said)
}

/// Characters that no terminal may get from outside.
const TRICKS: [char; 7] = ['\u{1b}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{7f}'];

fn tricked(program: &Program) -> Result<(usize, Vec<String>)> {
    let text: String = TRICKS.iter().collect();
    let in_json = text.replace('\u{1b}', "\\u001b");
    let in_xml = text.replace('\u{1b}', "");
    let bodies = [
        (
            "400 Bad Request",
            "application/json",
            format!(r#"{{"errorCode":"{in_json}","traceCode":"1","errorMessage":"{in_json}"}}"#),
        ),
        (
            "400 Bad Request",
            "application/xml",
            format!("<response><errorCode>102</errorCode><errorMessage>{in_xml}</errorMessage></response>"),
        ),
        (
            "200 OK",
            "application/json",
            format!(r#"{{"cardKeyDetails":{{"0":{{"cardKey":"a","cardholderName":"{in_json}","x{in_json}":"y"}}}}}}"#),
        ),
        ("200 OK", "text/html", format!("<title>{text}</title>")),
        ("302 Found\r\nLocation: https://a.example/%E2%80%AE", "text/plain", text.clone()),
    ];
    let mut through = Vec::new();
    for (status, content_type, body) in &bodies {
        for json in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let base = format!("http://{}", listener.local_addr()?);
            let reply = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let peer = thread::spawn(move || -> std::io::Result<()> {
                let (mut stream, _) = listener.accept()?;
                let _ = stream.read(&mut [0; 4096])?;
                stream.write_all(reply.as_bytes())
            });
            let mut arguments = vec!["call", "token/lookup", "cardKey=a"];
            if json {
                arguments.push("--json");
            }
            let output = program.command(&arguments).envs(ACCOUNT).env("PG_BASE_URL", &base).output()?;
            peer.join().map_err(|_| "the peer failed")??;
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            if TRICKS.iter().any(|trick| said.contains(*trick)) {
                through.push(format!("{status} {content_type} json={json}"));
            }
        }
    }
    Ok((bodies.len() * 2, through))
}

fn unmasked(program: &Program) -> Result<(usize, Vec<String>)> {
    // Each spelling with what must not be seen of it.
    let spellings = [
        ("４１１１１１１１１１１１１１１１", "１１１１１１１１１１１１"),
        ("٤١١١١١١١١١١١١١١١", "١١١١١١١١١١١"),
        ("४१११११११११११११११", "१११११११११११"),
        ("4111\u{200b}1111\u{200b}1111\u{200b}1111", "1111\u{200b}1111\u{200b}1111"),
        ("4111.1111/1111,1111", "1111/1111"),
        ("4111_1111_1111_1111", "1111_1111_1111"),
        ("%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31", "%31%31%31%31%31%31%31%31%31%31%31%31"),
        ("NDExMTExMTExMTExMTExMQ==", "NDExMTExMTExMTEx"),
        ("34313131313131313131313131313131", "3131313131313131"),
        ("&#52;&#49;&#49;&#49;&#49;&#49;&#49;&#49;&#49;&#49;&#49;&#49;", "&#49;&#49;&#49;&#49;&#49;&#49;&#49;"),
    ];
    let mut through = Vec::new();
    for (spelling, seen) in spellings {
        let argument = format!("merchantReference={spelling}");
        let output = program.command(&["call", "transaction/lookup", &argument, "--dry-run"]).envs(ACCOUNT).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if said.contains(seen) || said.contains(spelling) {
            through.push(spelling.to_owned());
        }
    }
    Ok((spellings.len(), through))
}

fn linked(program: &Program) -> Result<(usize, Vec<String>)> {
    let mut through = Vec::new();
    // A key file that is a link to another user's file must not be written through, nor trusted when it is shared.
    let folder = tempfile::tempdir()?;
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious")?;
    let store = folder.path().join("shop.sqlite");
    symlink(&victim, folder.path().join("shop.sqlite.key"))?;
    let said = start(program, &store)?;
    if fs::read_to_string(&victim)? != "precious" || said.contains("Then, in that shell") {
        through.push("the key file is a link".to_owned());
    }
    // The store itself as a link to something that is not a store.
    let folder = tempfile::tempdir()?;
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious")?;
    let store = folder.path().join("shop.sqlite");
    symlink(&victim, &store)?;
    let said = start(program, &store)?;
    if fs::read_to_string(&victim)? != "precious" || said.contains("Then, in that shell") {
        through.push("the store is a link".to_owned());
    }
    // New files are readable by their owner only.
    let folder = tempfile::tempdir()?;
    start(program, &folder.path().join("shop.sqlite"))?;
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        if entry.metadata()?.permissions().mode() & 0o077 != 0 {
            through.push(format!("{} is for everybody", entry.file_name().display()));
        }
    }
    Ok((3, through))
}

fn start(program: &Program, store: &std::path::Path) -> Result<String> {
    let child = program
        .command(&["sandbox", "--listen", "127.0.0.1:0", "--store", store.to_str().ok_or("no text")?])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    until_up(child)
}
