//! Writes a plan and an adapter to start from.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{catalogue, drill::Family};

/// The language of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Uses only the standard library.
    Python,
    /// Uses only the standard library.
    Node,
    /// With its curl extension.
    Php,
    /// Uses only the standard library.
    Java,
    /// With curl and `pg sign`.
    Bash,
    /// Over `pg-hyper`.
    Rust,
}

struct Template {
    language: Language,
    name: &'static str,
    /// The command that runs once before the drills.
    prepare: Option<&'static str>,
    /// The command that starts the adapter.
    command: &'static str,
    /// The command of another job, `NAME`.
    other: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const TEMPLATES: &[Template] = &[
    Template {
        language: Language::Python,
        name: "python",
        prepare: None,
        command: r#"["python3", "pay.py"]"#,
        other: r#"["python3", "NAME.py"]"#,
        files: &[("pay.py", include_str!("init/pay.py"))],
    },
    Template {
        language: Language::Node,
        name: "node",
        prepare: None,
        command: r#"["node", "pay.mjs"]"#,
        other: r#"["node", "NAME.mjs"]"#,
        files: &[("pay.mjs", include_str!("init/pay.mjs"))],
    },
    Template {
        language: Language::Php,
        name: "php",
        prepare: None,
        command: r#"["php", "pay.php"]"#,
        other: r#"["php", "NAME.php"]"#,
        files: &[("pay.php", include_str!("init/pay.php"))],
    },
    Template {
        language: Language::Java,
        name: "java",
        prepare: Some(r#"["javac", "-d", "classes", "Pay.java"]"#),
        command: r#"["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", "classes", "Pay"]"#,
        other: r#"["java", "NAME.java"]"#,
        files: &[("Pay.java", include_str!("init/Pay.java"))],
    },
    Template {
        language: Language::Bash,
        name: "bash",
        prepare: None,
        command: r#"["bash", "pay.sh"]"#,
        other: r#"["bash", "NAME.sh"]"#,
        files: &[("pay.sh", include_str!("init/pay.sh"))],
    },
    Template {
        language: Language::Rust,
        name: "rust",
        prepare: Some(r#"["cargo", "build", "--manifest-path", "pay/Cargo.toml"]"#),
        command: r#"["cargo", "run", "--quiet", "--manifest-path", "pay/Cargo.toml"]"#,
        other: r#"["pay/target/debug/NAME"]"#,
        files: &[
            ("pay/src/main.rs", include_str!("init/pay.rs.txt")),
            ("pay/Cargo.toml", include_str!("init/pay.toml.txt")),
        ],
    },
];

impl Language {
    fn template(self) -> &'static Template {
        TEMPLATES.iter().find(|template| template.language == self).unwrap_or(&TEMPLATES[0])
    }

    /// Returns the names of all languages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TEMPLATES.iter().map(|template| template.name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.template().name
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let name = match lower.as_str() {
            "python3" | "py" => "python",
            "javascript" | "js" | "nodejs" => "node",
            "sh" | "shell" | "curl" => "bash",
            other => other,
        };
        let found = TEMPLATES.iter().find(|template| template.name == name).map(|template| template.language);
        found.ok_or_else(|| format!("give one of {}", Self::names().collect::<Vec<_>>().join(", ")))
    }
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Their paths.
    pub files: Vec<PathBuf>,
}

/// Why nothing was written.
#[derive(Debug)]
#[non_exhaustive]
pub enum InitError {
    /// The file already exists.
    Exists(PathBuf),
    /// It cannot be written.
    Io(PathBuf, io::Error),
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(path) => {
                write!(f, "{} already exists; move it away, or choose another folder", path.display())
            }
            Self::Io(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for InitError {}

/// Writes `rehearse.toml` and an adapter into a folder.
///
/// # Errors
/// [`InitError`] if a file exists already or cannot be written; nothing is overwritten.
pub fn init(folder: &Path, language: Language) -> Result<Written, InitError> {
    let template = language.template();
    let prepare =
        template.prepare.map_or_else(|| "# prepare = [\"make\"]".to_owned(), |words| format!("prepare = {words}"));
    let plan = include_str!("init/rehearse.toml").replace("PREPARE", &prepare).replace("COMMAND", template.command);
    let jobs = ["capture", "refund", "checkout", "three_d_secure", "update_cards", "shop"];
    let plan = jobs
        .iter()
        .fold(plan, |plan, job| plan.replace(&format!("OTHER({job})"), &template.other.replace("NAME", job)));
    let mut files = vec![(folder.join("rehearse.toml"), plan)];
    files.extend(template.files.iter().map(|(name, text)| (folder.join(name), (*text).to_owned())));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(InitError::Exists(path.clone()));
    }
    for (at, (path, text)) in files.iter().enumerate() {
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(path, text)).map_err(|error| {
            // Half a file would be in the way of the next attempt. One that was not created cannot be removed.
            files[..=at].iter().for_each(|(path, _)| drop(fs::remove_file(path)));
            InitError::Io(path.clone(), error)
        })?;
    }
    Ok(Written { files: files.into_iter().map(|(path, _)| path).collect() })
}

/// `docs/reference/drills.md`: describes every drill.
#[must_use]
pub fn page() -> String {
    let mut text = "<!-- @generated by the test `the_page_of_drills_is_fresh` from crates/pg-rehearse/src/catalogue. Do not edit. -->\n\n\
                    # Drills\n\nThe faults that `pg rehearse` rehearses with an integration. [How to run the drills](../guide/rehearsal.md). The basis is a section of the\n\
                    documents (`2 §4.3` is document 2, section 4.3) or an [assumption](assumptions.md).\n"
        .to_owned();
    for family in Family::ALL {
        text.push_str(&format!("\n## {}\n", family.title()));
        for drill in catalogue::drills().filter(|drill| drill.family == family) {
            text.push_str(&format!(
                "\n### {} {}\n\n{}\n\n- **Severity:** {}\n- **Job:** `{}`\n- **Based on:** {}\n- **How to fix it:** \
                {}\n",
                drill.id,
                drill.title,
                drill.imitates,
                drill.severity,
                drill.job().name(),
                drill.basis,
                drill.mend
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_a_plan_are_in_the_language_of_its_adapter() {
        for template in TEMPLATES {
            let folder = tempfile::tempdir().expect("a folder");
            init(folder.path(), template.language).expect("a plan");
            let plan = fs::read_to_string(folder.path().join("rehearse.toml")).expect("the plan");
            assert!(!plan.contains("OTHER") && !plan.contains("NAME"), "{plan}");
            assert_eq!(plan.contains("python3"), template.language == Language::Python, "{plan}");
            for job in ["capture", "refund", "checkout", "three_d_secure", "update_cards", "shop"] {
                let command = format!("# command = {}\n", template.other.replace("NAME", job));
                assert_eq!(plan.matches(&command).count(), 1, "{command}: {plan}");
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_failed_write_leaves_no_file_in_the_way_of_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        // The first file is written, the second is not.
        let blocked = folder.path().join("pay.sh");
        std::os::unix::fs::symlink("missing/pay.sh", &blocked).expect("a link");
        let written = init(folder.path(), Language::Bash);
        assert!(written.is_err(), "{written:?}");
        drop(fs::remove_file(&blocked));
        init(folder.path(), Language::Bash).expect("a plan");
    }

    /// The written crate is outside of the workspace, whose other crates would enable the feature for it.
    #[test]
    fn the_manifest_of_the_rust_adapter_enables_what_its_source_uses() {
        let files: Vec<&str> = Language::Rust.template().files.iter().map(|(_, text)| *text).collect();
        let [source, manifest] = files[..] else { panic!("{files:?}") };
        assert!(source.contains("Dialect::from_toml"));
        assert!(manifest.contains(r#"features = ["dialect-file"]"#), "{manifest}");
    }
}
