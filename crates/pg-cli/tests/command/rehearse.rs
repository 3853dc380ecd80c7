//! `pg rehearse` as people and continuous integration run it.

use std::{
    env, fs,
    io::Read,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use pg_support::installed;

use super::pg::{Ended, Pg, Started, pg, the_guide_has_the_exit_codes_of};

fn plan(folder: &Path, text: &str) -> String {
    let path = folder.join("rehearse.toml");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The folders in which programs are looked for: that of this `pg` first.
fn path() -> String {
    let here = Path::new(env!("CARGO_BIN_EXE_pg")).parent().unwrap().display().to_string();
    format!("{here}:{}", env::var("PATH").unwrap())
}

fn rehearse(plan: &str, more: &[&str]) -> Pg {
    pg(["rehearse", "--plan", plan].iter().chain(more)).env("PATH", &path())
}

#[test]
fn an_invalid_plan_is_reported_with_its_lines_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let command = format!("command = [\"touch\", \"{}\"]\n", began.display());
    for (text, told) in [
        (
            format!("timeout_seconds = \"20\"\n[jobs.charge]\n{command}"),
            "line 1, column 19: timeout_seconds must be a whole number",
        ),
        (format!("[job.charge]\n{command}"), "did you mean jobs?"),
        (format!("[jobs.charge]\n{command}with = [\"sesionKey\"]\n"), "did you mean sessionKey?"),
        (
            format!("[jobs.charge]\n{command}url = \"http://127.0.0.1:1/\"\n"),
            "has both a command and a url; keep one of them",
        ),
        (format!("[jobs.charge]\n{command}[hygiene]\nlogs = \"a.log\"\n"), "logs must be a list of strings"),
        (format!("[jobs.charge\n{command}"), "line 1, column 13"),
        (format!("[jobs.charge]\n{command}[service]\nlisten = \"8480\"\n"), "listen must be"),
        (format!("[jobs.charge]\n{command}[jobs.charge]\n{command}"), "line 3, column 7"),
    ] {
        let ended = rehearse(&plan(folder.path(), &text), &[]).run();
        assert_eq!(ended.code, 2, "{text}\n{}", ended.err);
        assert!(ended.err.contains(told), "{text}\n{}", ended.err);
        assert!(!began.exists(), "{text}");
    }
    let missing = rehearse(&folder.path().join("none.toml").display().to_string(), &[]).run();
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("pg rehearse init"), "{}", missing.err);
    assert_eq!(missing.err.matches("none.toml").count(), 1, "{}", missing.err);
}

/// A charge that needs no program to be installed, and claims what no ledger confirms.
const CLAIM: &str =
    "[jobs.charge]\ncommand = [\"echo\", \"{\\\"claim\\\": \\\"unknown\\\"}\"]\nwith = [\"sessionKey\"]\n";

#[test]
fn a_selection_without_a_drill_is_misuse() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), CLAIM);
    for options in [&["--only", "M04", "--skip", "M04"][..], &["--only", "M04", "--skip", "money"]] {
        let ended = rehearse(&plan, options).run().ends(2).says("no drill is left after --only and --skip");
        assert_eq!(ended.out, "");
    }
}

/// The drills ran, so their results are shown, and each report that can be written is.
#[test]
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_written_hides_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), CLAIM);
    for option in ["--html", "--junit", "--json-file", "--write-baseline"] {
        let other = folder.path().join("other.json");
        let kept = if option == "--json-file" { "--html" } else { "--json-file" };
        let options = ["--only", "M01", option, "/dev/full", kept, &other.display().to_string()];
        let ended = rehearse(&plan, &options).run().ends(4).says("/dev/full cannot be written: ");
        ended.prints("seed 1");
        fs::remove_file(other).unwrap();
    }
    let ended = rehearse(&plan, &["--only", "M01", "--html", "/dev/full", "--json"]).run().ends(4);
    let document = json(&ended);
    assert_eq!((&document["exit"], &document["exitCode"], &document["seed"]), (&4.into(), &4.into(), &1.into()));
    assert_eq!(document["drills"].as_array().unwrap().len(), 1);
    assert!(document["error"]["message"].as_str().unwrap().starts_with("/dev/full cannot be written: "));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let report = folder.path().join("report.html");
    let ended = rehearse(&plan, &["--only", "M01", "--html", &report.display().to_string()]).run_into(full);
    ended.ends(4).says("cannot write the result to standard output");
    assert!(report.is_file());
}

fn json(ended: &Ended) -> serde_json::Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// A shell's habit: no file has the name `-`.
#[test]
fn a_single_dash_is_standard_output_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), CLAIM);
    for json_to in [&["--json", "-"][..], &["--json=-"]] {
        let ended = rehearse(&plan, &[&["--only", "M01"], json_to].concat()).within(folder.path()).run();
        assert_eq!(json(&ended)["drills"].as_array().unwrap().len(), 1, "{}", ended.err);
    }
    for option in ["--json-file", "--html", "--junit", "--write-baseline"] {
        let ended = rehearse(&plan, &["--only", "M01", option, "-"]).within(folder.path()).run().ends(2);
        let ended = ended.says("- cannot be written: it is no name of a file");
        assert!(!ended.err.contains("M01"), "nothing ran");
    }
    for command in ["rehearse init -", "man -", "config new shop --profile-file -"] {
        let ended = crate::command::pg::words(command).within(folder.path()).run().ends(2);
        ended.says("-: ").says("it is no name of a file or a folder; ./- is one");
    }
    assert_eq!(all_files(folder.path()), ["rehearse.toml"]);
}

#[test]
fn the_guide_lists_the_exit_codes_of_the_help() {
    the_guide_has_the_exit_codes_of("rehearse", "rehearsal.md");
}

#[test]
fn a_program_that_cannot_run_is_reported_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let charge = "[jobs.charge]\ncommand = [\"echo\", \"{\\\"claim\\\": \\\"payed\\\"}\"]\nwith = [\"sessionKey\"]\n";
    let typed = rehearse(&plan(folder.path(), charge), &["--only", "M01"]).run();
    assert_eq!(typed.code, 3);
    assert!(
        typed.out.contains("the claim payed is not one of paid") && typed.out.contains("did you mean paid?"),
        "{}",
        typed.out
    );

    let nowhere = rehearse(&plan(folder.path(), charge), &["--html", "/no-such-folder/report.html"]).run();
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("/no-such-folder is not a folder"), "{}", nowhere.err);
    assert!(!nowhere.err.contains("M01"), "nothing ran");

    let shop = "[shop]\ncommand = [\"false\"]\nready = \"http://127.0.0.1:9/\"\n[jobs.callback]\nurl = \"http://127.0.0.1:9/\"\n";
    // A report of an earlier run would be taken for that of this one.
    let reports = ["r.json", "r.html", "r.xml"].map(|name| folder.path().join(name).display().to_string());
    reports.iter().for_each(|report| fs::write(report, "passed").unwrap());
    let options = ["--only", "B03", "--json-file", &reports[0], "--html", &reports[1], "--junit", &reports[2]];
    let ended = rehearse(&plan(folder.path(), shop), &options).run();
    assert_eq!(ended.code, 3);
    assert!(reports.iter().all(|report| !Path::new(report).exists()));
    assert!(ended.err.contains("the shop exited with code 1 before it answered"), "{}", ended.err);
}

#[test]
#[cfg(unix)]
fn a_report_that_cannot_be_written_takes_that_of_an_earlier_run_away() {
    let folder = tempfile::tempdir().unwrap();
    let reports = ["r.json", "r.html"].map(|name| folder.path().join(name).display().to_string());
    reports.iter().for_each(|report| fs::write(report, "passed").unwrap());
    let charge = "[jobs.charge]\ncommand = [\"echo\", \"{\\\"claim\\\": \\\"paid\\\"}\"]\nwith = [\"sessionKey\"]\n";
    let options = ["--only", "M01", "--json-file", &reports[0], "--html", &reports[1]];
    let run = rehearse(&plan(folder.path(), charge), &options);
    let ended = run.under("sh", &["-c", "ulimit -f 4; exec \"$@\"", "sh"]).run().ends(4);
    assert!(fs::read_to_string(&reports[0]).is_ok_and(|report| report != "passed"), "it is short enough");
    assert!(!Path::new(&reports[1]).exists());
    ended.says(&format!("{} cannot be written", reports[1]));
}

/// All files below a folder, by their paths in it.
fn all_files(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn no_name_leads_a_report_out_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    ["work", "work/out", "tmp"].iter().for_each(|name| fs::create_dir(at(name)).unwrap());
    let reports: Vec<String> = [("--json-file", "r.json"), ("--html", "r.html"), ("--junit", "r.xml")]
        .iter()
        .flat_map(|(option, name)| [(*option).to_owned(), at("work/out").join(name).display().to_string()])
        .collect();
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    let run = |plan: &str, more: &[&str]| {
        let temporary = at("tmp").display().to_string();
        rehearse(plan, &[&reports, more].concat()).env("TMPDIR", &temporary).run()
    };
    let before = ["work/answer.json", "work/rehearse.toml"];
    let after = ["work/answer.json", "work/out/r.html", "work/out/r.json", "work/out/r.xml", "work/rehearse.toml"];
    let long = "n".repeat(5_000);
    let names = [
        "../out",
        "../../../../out",
        &at("absolute").display().to_string(),
        "a\0b",
        "C:\\\\out",
        "-x",
        "%2e%2e/x",
        &long,
    ];
    let charge = plan(&at("work"), "[jobs.charge]\ncommand = [\"cat\", \"answer.json\"]\nwith = [\"sessionKey\"]\n");
    for name in names {
        // Names that the integration chooses.
        let answer =
            serde_json::json!({"claim": "paid", "transactionKey": name, "order": name, "file": name, name: name});
        fs::write(at("work/answer.json"), answer.to_string()).unwrap();
        let ended = run(&charge, &["--only", "M01,M02", "--jobs", "1"]);
        assert_eq!(ended.code, 1, "{name}: {}{}", ended.out, ended.err);
        assert_eq!(all_files(folder.path()), after, "{name}");
        ["r.html", "r.json", "r.xml"].iter().for_each(|report| fs::remove_file(at("work/out").join(report)).unwrap());
        // Names of drills and jobs.
        if !name.contains('\0') {
            assert_eq!(run(&charge, &["--only", name]).code, 2, "{name}");
        }
        let job = serde_json::json!(name);
        let unknown = plan(&at("work"), &format!("[jobs.{job}]\ncommand = [\"true\"]\n"));
        assert_eq!(run(&unknown, &[]).code, 2, "{name}");
        assert_eq!(all_files(folder.path()), before, "{name}");
        plan(&at("work"), "[jobs.charge]\ncommand = [\"cat\", \"answer.json\"]\nwith = [\"sessionKey\"]\n");
    }
    let ended = rehearse(&charge, &["--html", &at(&long).display().to_string()]).run();
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("cannot be written") && !ended.out.contains("M01"), "{}{}", ended.out, ended.err);
    assert_eq!(all_files(folder.path()), before);
}

/// An adapter that replies in M01 and then runs until it is killed, with a connection that shows its end.
fn hanging(folder: &Path, port: u16) -> String {
    let code = format!(
        "import json, socket, sys, time\njob = json.loads(sys.stdin.readline())\n\
         if '-M01-' in job['order']: sys.exit(print(json.dumps({{'claim': 'unknown'}})))\n\
         line = socket.create_connection(('127.0.0.1', {port}))\nline.sendall(b'.')\ntime.sleep(600)\n"
    );
    fs::write(folder.join("hang.py"), code).unwrap();
    plan(
        folder,
        "timeout_seconds = 600\n[jobs.charge]\ncommand = [\"sh\", \"-c\", \"python3 hang.py; true\"]\nwith = [\"sessionKey\"]\n",
    )
}

/// Starts a rehearsal that hangs in its second drill.
fn until_it_hangs(folder: &Path, more: &[&str]) -> (Started, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let plan = hanging(folder, listener.local_addr().unwrap().port());
    let options: Vec<&str> = ["--only", "M01,M02", "--jobs", "1"].iter().chain(more).copied().collect();
    let temporary = folder.join("tmp");
    fs::create_dir(&temporary).unwrap();
    // What a killed rehearsal leaves is removed with the folder.
    let running = rehearse(&plan, &options).env("TMPDIR", &temporary.display().to_string()).start();
    let (mut line, _) = listener.accept().unwrap();
    line.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    line.read_exact(&mut [0]).unwrap();
    (running, line)
}

/// Whether the process at the other end has ended.
fn has_ended(mut line: TcpStream) -> bool {
    matches!(line.read(&mut [0]), Ok(0)) || line.take_error().is_ok_and(|error| error.is_some())
}

#[test]
fn ctrl_c_leaves_no_process_and_still_writes_the_reports() {
    if !installed(&["python3"], "Ctrl-C in a rehearsal") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names = [("--html", "r.html"), ("--junit", "r.xml"), ("--json", "r.json")];
    let files: Vec<String> =
        names.iter().flat_map(|(option, name)| [(*option).to_owned(), at(name).display().to_string()]).collect();
    let baseline = at("known.txt").display().to_string();
    fs::write(&baseline, "M05 # of an earlier run\n").unwrap();
    let files: Vec<&str> = files.iter().map(String::as_str).chain(["--write-baseline", &baseline]).collect();
    let (running, line) = until_it_hangs(folder.path(), &files);
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    let ended = running.ended().ends(4).prints("interrupted, 1 drill did not run");
    ended.says(&format!("pg: interrupted: 1 drill did not run; {baseline} is not written"));
    assert!(has_ended(line), "the adapter still runs");
    assert_eq!(fs::read_dir(at("tmp")).unwrap().count(), 0, "temporary files are left");
    assert_eq!(fs::read_to_string(&baseline).unwrap(), "M05 # of an earlier run\n");
    assert!(fs::read_to_string(at("r.html")).unwrap().contains("Rehearsal, interrupted: 1 drill did not run"));
    let junit = fs::read_to_string(at("r.xml")).unwrap();
    assert!(junit.contains("M01") && junit.contains("tests=\"2\" failures=\"1\" errors=\"1\""), "{junit}");
    assert!(junit.contains("name=\"M02 ") && junit.contains("<error type=\"interrupted\""), "{junit}");
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(at("r.json")).unwrap()).unwrap();
    assert_eq!((&json["interrupted"], &json["exitCode"]), (&true.into(), &4.into()));
    assert_eq!(json["notRun"], serde_json::json!(["M02"]));
    assert_eq!(json["drills"].as_array().unwrap().len(), 1, "the drill that ran");
}

#[test]
fn a_rehearsal_that_is_killed_leaves_no_process() {
    if !installed(&["python3"], "kill -9 of a rehearsal") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut running, line) = until_it_hangs(folder.path(), &[]);
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(has_ended(line), "the adapter still runs");
}

#[test]
fn the_bash_adapter_passes_its_drills() {
    if !installed(&["bash", "curl", "jq"], "the adapter in bash") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = pg(["rehearse", "init", "--language", "bash", &folder.path().display().to_string()]).run();
    assert_eq!(made.code, 0, "{}", made.err);
    let plan = folder.path().join("rehearse.toml").display().to_string();
    let drills = "M01,M02,M04,M07,M08,M14,M20,M23,M36,M38,M39,M42,M58,M59,M60,M61,M62,M63,M64,M65,M66,C01,C06,C13,C14,\
                  T01,T03,T06,T07,H02";
    let ended = rehearse(&plan, &["--only", drills, "--jobs", "4"]).run();
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("30 passed, 0 failed"), "{}", ended.out);
}

fn guide(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs lines as a shell does that ends with the first one that fails.
fn shell(folder: &Path, lines: &[String]) -> Ended {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &lines.join("\n")]).current_dir(folder);
    let out = command.env_clear().env("PATH", path()).env("HOME", folder).output().unwrap();
    Ended::of(out)
}

/// The commands of the console blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    lines.filter_map(|line| line.trim_start().strip_prefix("$ ")).map(ToOwned::to_owned).collect()
}

fn page_works(language: &str, programs: &[&str]) {
    if !installed(programs, &format!("the guide for {language}")) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut commands = commands(&guide(&format!("rehearsal/{language}.md")));
    assert!(commands[0].ends_with(&format!("--language {language}")) && commands.len() >= 2, "{commands:?}");
    // The tests of the adapters run all drills; three of them show here that the commands work.
    let drills = "M01,M04,M08,M36,M39,C01,T01,T06,H02";
    assert!(commands.iter().any(|command| command.contains(drills)), "{commands:?}");
    commands.iter_mut().for_each(|command| *command = command.replace(drills, "M01,M04,T06"));
    let ended = shell(folder.path(), &commands);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("3 passed, 0 failed"), "{}", ended.out);
}

#[test]
fn the_guide_for_python_works_as_it_is_written() {
    page_works("python", &["python3"]);
}

#[test]
fn the_guide_for_node_works_as_it_is_written() {
    page_works("node", &["node"]);
}

#[test]
fn the_guide_for_php_works_as_it_is_written() {
    page_works("php", &["php"]);
}

#[test]
fn the_guide_for_java_works_as_it_is_written() {
    page_works("java", &["java", "javac"]);
}

#[test]
fn the_guide_for_bash_works_as_it_is_written() {
    page_works("bash", &["bash", "curl", "jq"]);
}

/// The scripts of a workflow, without those that install this command: it is the one that is tested.
fn scripts(file: &str) -> Vec<String> {
    let page = guide("rehearsal/continuous-integration.md");
    let marker = format!("`{file}`");
    let (_, rest) = page.split_once(&marker).unwrap();
    let (_, rest) = rest.split_once("```yaml\n").unwrap();
    let (yaml, _) = rest.split_once("```").unwrap();
    let parsed: serde_json::Value = yaml_serde::from_str(yaml).unwrap();
    let lines: Vec<String> = if file.starts_with(".github") {
        let steps = parsed["jobs"]["rehearse"]["steps"].as_array().unwrap();
        steps.iter().filter_map(|step| step["run"].as_str()).flat_map(str::lines).map(ToOwned::to_owned).collect()
    } else {
        let lines = parsed["rehearse"]["script"].as_array().unwrap();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    assert!(lines.iter().any(|line| line.starts_with("cargo install --path pg/crates/pg-cli")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("pg rehearse") && line.contains("--junit")), "{lines:?}");
    let rest = lines.into_iter().filter(|line| !line.starts_with("cargo install") && !line.starts_with("git clone"));
    rest.collect()
}

#[test]
fn the_files_for_continuous_integration_run_and_leave_their_reports() {
    if !installed(&["python3", "bash"], "the files for continuous integration") {
        return;
    }
    for file in [".github/workflows/rehearse.yml", ".gitlab-ci.yml"] {
        let folder = tempfile::tempdir().unwrap();
        let made = pg(["rehearse", "init", "--language", "python", &folder.path().display().to_string()]).run();
        assert_eq!(made.code, 0, "{}", made.err);
        fs::write(folder.path().join("known-failures.txt"), "M04 # known\n").unwrap();
        // All drills take a quarter of a minute, and are run elsewhere.
        let few = |line: String| if line.contains("pg rehearse") { line + " --only M01,M04,M08" } else { line };
        let ended = shell(folder.path(), &scripts(file).into_iter().map(few).collect::<Vec<_>>());
        assert_eq!(ended.code, 0, "{file}: {}{}", ended.out, ended.err);
        for report in ["rehearse.xml", "rehearse.html"] {
            let report: PathBuf = folder.path().join(report);
            assert!(fs::metadata(&report).is_ok_and(|file| file.len() > 300), "{file}: {}", report.display());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused() {
    crate::command::pg::words("rehearse --plan /dev/zero").run().ends(2).says("/dev/zero").says("longer than 1 MiB");
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("rehearse.toml");
    fs::write(&plan, "[jobs.charge]\ncommand = [\"true\"]\n").unwrap();
    let plan = format!("rehearse --plan {} --baseline /dev/zero", plan.display());
    crate::command::pg::words(&plan).run().ends(2).says("/dev/zero cannot be read: longer than 1 MiB");
}

#[test]
fn a_report_overwrites_neither_the_plan_nor_another_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (plan, report) = (path("rehearse.toml"), path("report"));
    let text = "[jobs.charge]\ncommand = [\"true\"]\n";
    fs::write(&plan, text).unwrap();
    fs::write(path("known.txt"), "").unwrap();
    for (flags, says) in [
        (format!("--html {plan}"), "--plan and --html name the same file"),
        (format!("--write-baseline {plan}"), "--plan and --write-baseline name the same file"),
        (format!("--html {report} --junit {report}"), "--junit and --html name the same file"),
        (format!("--baseline {0} --html {0}", path("known.txt")), "--baseline and --html name the same file"),
    ] {
        let command = format!("rehearse --plan {plan} --only M01 {flags}");
        pg(command.split(' ')).run().ends(2).says(says);
    }
    assert_eq!(fs::read_to_string(&plan).unwrap(), text);
}

/// The last line of a crash is quoted, and often names a database.
#[test]
#[cfg(unix)]
fn a_crash_is_quoted_without_secrets_of_this_program_and_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let said = "echo \"$PG_CONTROL_TOKEN $PG_STORE_KEY $PG_INTENTS_KEY cannot connect to $DATABASE_URL\" >&2; exit 1";
    let plan =
        plan(folder.path(), &format!("[jobs.charge]\ncommand = [\"sh\", \"-c\", '{said}']\nwith = [\"card\"]\n"));
    let html = folder.path().join("report.html");
    let rehearsal = rehearse(&plan, &["--only", "M04", "--json", "--html", &html.display().to_string()]);
    let secrets = ["canaryToken000000", "canaryKey", "canaryIntents"];
    let names = ["PG_CONTROL_TOKEN", "PG_STORE_KEY", "PG_INTENTS_KEY"];
    let rehearsal = names.iter().zip(secrets).fold(rehearsal, |rehearsal, (name, value)| rehearsal.env(name, value));
    let ended = rehearsal.env("DATABASE_URL", "postgres://u:canaryPassword@127.0.0.1/shop").run();
    let ended = ended.ends(3).hides(&["canary"]).prints("cannot connect to postgres://***@127.0.0.1/shop");
    let html = fs::read_to_string(html).unwrap();
    assert!(html.contains("postgres://***@127.0.0.1/shop") && !html.contains("canary"), "{}", ended.out);
}
