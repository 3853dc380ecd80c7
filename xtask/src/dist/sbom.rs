//! The software bill of materials, CycloneDX 1.6. It is the same in every run.

use anyhow::Result;
use cargo_metadata::{Package, PackageId};
use serde_json::{Value, json};

use super::{bundled::Bundled, contents::Contents};

pub(super) fn document(contents: &Contents) -> Result<String> {
    let by_id = |id: &PackageId| contents.packages.iter().find(|package| package.id == *id);
    let program = by_id(&contents.program).map(|package| component(package, contents));
    let mut components: Vec<Value> = contents
        .packages
        .iter()
        .filter(|package| package.id != contents.program)
        .map(|package| component(package, contents))
        .collect();
    let mut dependencies: Vec<Value> = contents
        .packages
        .iter()
        .map(|package| {
            let mut links: Vec<String> =
                contents.links.get(&package.id).into_iter().flatten().filter_map(by_id).map(reference).collect();
            // Every program has what no crate brings.
            let linked = contents.bundled.iter().filter(|one| match one.within {
                Some(name) => *package.name == *name,
                None => package.id == contents.program,
            });
            links.extend(linked.map(|one| one.name.to_owned()));
            json!({ "ref": reference(package), "dependsOn": links })
        })
        .collect();
    components.extend(contents.bundled.iter().map(no_crate));
    dependencies.extend(contents.bundled.iter().map(|one| json!({ "ref": one.name })));
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": program },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn no_crate(bundled: &Bundled) -> Value {
    let licence = match bundled.licence {
        words if words.starts_with("public") => json!([{ "license": { "name": words } }]),
        expression => json!([{ "expression": expression }]),
    };
    let mut component =
        json!({ "type": "library", "bom-ref": bundled.name, "name": bundled.name, "licenses": licence });
    if let Some(version) = &bundled.version {
        component["version"] = json!(version);
    }
    component
}

fn component(package: &Package, contents: &Contents) -> Value {
    let version = package.version.to_string();
    let kind = if package.id == contents.program { "application" } else { "library" };
    let mut component = json!({
        "type": kind, "bom-ref": reference(package), "name": package.name.as_str(), "version": version,
    });
    if let Some(licence) = &package.license {
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    // Only what was downloaded can be found where others download it.
    if let Some(checksum) = contents.checksums.get(&(package.name.to_string(), version)) {
        component["purl"] = json!(reference(package));
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}
