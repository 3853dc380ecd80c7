//! Checks that this program has the commands and probes of the container file and the Kubernetes manifest in
//! `docs/examples/shared-sandbox/`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use clap::Parser as _;
use serde_json::Value;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/shared-sandbox").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Whether `pg` takes these arguments.
fn assert_accepted(arguments: &[&str]) {
    let parsed = crate::Arguments::try_parse_from([&["pg"], arguments].concat());
    if let Err(error) = parsed {
        panic!("{arguments:?}: {error}");
    }
}

#[test]
fn the_container_runs_a_command_that_exists() {
    let text = read("Containerfile");
    let list = |instruction: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(instruction)).unwrap();
        serde_json::from_str(line).unwrap()
    };
    assert_eq!(list("ENTRYPOINT "), ["/usr/local/bin/pg"]);
    let command = list("CMD ");
    assert_accepted(&command.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(text.contains("--features postgres") && text.contains("crates/pg-cli"));
    // Local builds are large, and built for another system.
    assert!(read("Containerfile.dockerignore").lines().any(|line| line == "target"));
}

#[test]
fn the_manifest_has_flags_variables_and_probes_that_exist() {
    let text = read("kubernetes.yaml");
    let documents: Vec<Value> = text.split("\n---\n").map(|document| yaml_serde::from_str(document).unwrap()).collect();
    let [deployment, service] = &documents[..] else { panic!("{} documents", documents.len()) };
    assert_eq!((&deployment["kind"], &service["kind"]), (&"Deployment".into(), &"Service".into()));
    let template = &deployment["spec"]["template"];
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], template["metadata"]["labels"]);
    assert_eq!(service["spec"]["selector"], template["metadata"]["labels"]);
    let container = &template["spec"]["containers"][0];

    let arguments: Vec<&str> = container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_accepted(&arguments);
    // With the options that the comment recommends for TLS.
    assert!(text.contains("--tls-certificate and --tls-key"));
    let with_tls = ["--tls-certificate", "/tls/tls.crt", "--tls-key", "/tls/tls.key"];
    assert_accepted(&[&arguments[..], &with_tls].concat());
    let variables: Vec<&str> =
        container["env"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(variables, ["PG_SANDBOX_STORE", "PG_STORE_KEY", crate::control::TOKEN]);
    // Every process of the machine can read arguments, so none contains a variable: the store's has the password.
    assert!(!arguments.iter().any(|argument| argument.contains("$(")), "{arguments:?}");
    let help = <crate::Arguments as clap::CommandFactory>::command();
    let sandbox = help.find_subcommand("sandbox").unwrap();
    let store = sandbox.get_arguments().find(|argument| argument.get_id() == "store").unwrap();
    assert_eq!(store.get_env(), Some(std::ffi::OsStr::new("PG_SANDBOX_STORE")));
    let port = &container["ports"][0]["containerPort"];
    assert_eq!(&service["spec"]["ports"][0]["port"], port);
    for (probe, path) in [("livenessProbe", "/_sandbox/health/live"), ("readinessProbe", "/_sandbox/health/ready")] {
        assert_eq!((&container[probe]["httpGet"]["path"], &container[probe]["httpGet"]["port"]), (&path.into(), port));
    }
}
