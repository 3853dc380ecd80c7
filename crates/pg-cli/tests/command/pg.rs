//! Runs the command in a clean environment.

use std::{
    fs::File,
    io::{Read, Write},
    ops::{Deref, DerefMut},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

/// A run of the command that is being put together. It sees no settings of the person who tests.
pub(crate) struct Pg {
    command: Command,
    input: Option<Vec<u8>>,
    home: TempDir,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// An account whose every secret can be recognised.
pub(crate) const CANARIES: [(&str, &str); 6] = [
    ("PG_API_KEY", "canary0apikey0000000000000000000"),
    ("PG_API_PASSWORD", "canary0apipassword"),
    ("PG_SHA_KEY", "canary0shakey"),
    ("PG_ENTERPRISE_API_KEY", "canary0v5apikey00000000000000000"),
    ("PG_ENTERPRISE_API_PASSWORD", "canary0v5password000000000000000"),
    ("PG_ACCOUNT_UPDATER_KEY", "canary0updaterkey"),
];

/// A run with these arguments.
pub(crate) fn pg<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Pg {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pg"));
    command.env_clear().env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path().join("config"));
    command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Pg { command, input: None, home }
}

/// Splits words at blanks.
pub(crate) fn words(text: &str) -> Pg {
    pg(text.split_whitespace())
}

impl Pg {
    /// One more argument, which may hold blanks.
    pub(crate) fn arg(mut self, argument: &str) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// A value that need not be text.
    #[cfg(unix)]
    pub(crate) fn env_bytes(mut self, name: &str, value: &[u8]) -> Self {
        use std::os::unix::ffi::OsStrExt;

        self.command.env(name, std::ffi::OsStr::from_bytes(value));
        self
    }

    /// Runs in this folder.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// The account of [`CANARIES`] at an address.
    pub(crate) fn account(self, base: &str) -> Self {
        let with_base = self.env("PG_BASE_URL", base).env("PG_ENTERPRISE_BASE_URL", &format!("{base}/enterprise"));
        CANARIES.iter().fold(with_base, |pg, (name, value)| pg.env(name, value))
    }

    pub(crate) fn input(mut self, text: &str) -> Self {
        self.input = Some(text.as_bytes().to_vec());
        self
    }

    /// Writes the profile file where it is looked for, readable only for its owner.
    pub(crate) fn profiles(self, text: &str) -> Self {
        let folder = self.home.path().join("config/pg");
        std::fs::create_dir_all(&folder).unwrap();
        write_private(&folder.join("profiles.toml"), text);
        self
    }

    pub(crate) fn run(mut self) -> Ended {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Who reads no input may have ended before it is written.
        drop(stdin.write_all(&self.input.unwrap_or_default()));
        drop(stdin);
        Ended::of(child.wait_with_output().unwrap())
    }

    /// Runs with standard output of the caller's choice.
    pub(crate) fn run_into(mut self, out: impl Into<Stdio>) -> Ended {
        self.command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped());
        Ended::of(self.command.spawn().unwrap().wait_with_output().unwrap())
    }

    /// Runs with standard input of the caller's choice.
    #[cfg(unix)]
    pub(crate) fn run_from(mut self, input: impl Into<Stdio>) -> Ended {
        self.command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ended::of(self.command.spawn().unwrap().wait_with_output().unwrap())
    }

    /// Runs another program that ends in executing this one, with the same environment: a shell that sets limits, say.
    pub(crate) fn under(mut self, program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).arg(self.command.get_program()).args(self.command.get_args());
        command.env_clear().envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        self.command = command;
        self
    }

    /// Ends it with its terminal, also if whatever runs the tests is kept alive without one, as by `nohup`.
    #[cfg(target_os = "linux")]
    pub(crate) fn in_a_terminal(self) -> Self {
        self.under("env", &["--default-signal=HUP"])
    }

    /// Starts it with something to read.
    pub(crate) fn start_with(mut self, input: &str) -> Started {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Started { child, _home: Some(self.home) }
    }

    /// Starts it with an input that stays open.
    #[cfg(unix)]
    pub(crate) fn start_open(mut self) -> Started {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started { child: self.command.spawn().unwrap(), _home: Some(self.home) }
    }

    /// Starts it, for commands that run until they are stopped.
    pub(crate) fn start(mut self) -> Started {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started { child: self.command.spawn().unwrap(), _home: Some(self.home) }
    }
}

/// A process that ends with the test, also with one that fails.
pub(crate) struct Started {
    child: Child,
    _home: Option<TempDir>,
}

impl Deref for Started {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.child
    }
}

impl DerefMut for Started {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Started {
    /// Another program than this one.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(child: Child) -> Self {
        Self { child, _home: None }
    }

    /// Its exit code and output.
    pub(crate) fn ended(mut self) -> Ended {
        let (mut out, mut err) = (String::new(), String::new());
        // It says too little to fill one while the other is read.
        self.stdout.take().map(|mut stdout| stdout.read_to_string(&mut out).unwrap());
        self.stderr.take().map(|mut stderr| stderr.read_to_string(&mut err).unwrap());
        Ended { code: self.wait().unwrap().code().unwrap(), out, err }
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output, after a run that has to end in this way.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in stderr: {}\nstdout: {}", self.err, self.out);
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no {text:?} in stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// None of these anywhere.
    #[track_caller]
    pub(crate) fn hides(self, secrets: &[&str]) -> Self {
        for secret in secrets {
            assert!(!self.out.contains(secret), "{secret} in stdout: {}", self.out);
            assert!(!self.err.contains(secret), "{secret} in stderr: {}", self.err);
        }
        self
    }
}

/// A file that only its owner may read.
pub(crate) fn write_private(path: &Path, text: &str) {
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// The guide of a command has the line of its help that lists the exit codes.
#[track_caller]
pub(crate) fn the_guide_has_the_exit_codes_of(command: &str, guide: &str) {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = words(command).arg("--help").run().ends(0).out;
    let (_, rest) = help.split_once("Exit codes: ").unwrap();
    let codes = one_line(rest.split("\n\n").next().unwrap());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(guide);
    let page = one_line(&std::fs::read_to_string(page).unwrap()).replace('`', "");
    assert!(page.contains(&format!("Exit codes: {codes}")), "{guide} lacks: Exit codes: {codes}");
}
