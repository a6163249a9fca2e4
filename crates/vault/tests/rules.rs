//! The user's exclusions by tag, property and path.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use lorewell_vault::{Reason, RuleSettings, Rules};
use proptest::prelude::*;
use serde_json::{Value, json};

fn rules(tags: &[&str], properties: &[&str]) -> Rules {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    Rules::new(RuleSettings {
        tags: owned(tags),
        properties: owned(properties),
        ..RuleSettings::default()
    })
    .unwrap()
}

#[test]
fn a_tag_stands_for_those_nested_in_it_and_for_no_other() {
    let rules = rules(&["#Private", "work/hr/"], &[]);
    for (tag, out) in [
        ("private", Some("Private")),
        ("PRIVATE/health", Some("Private")),
        ("privateer", None),
        ("not/private", None),
        ("Work/HR", Some("work/hr")),
        ("work", None),
    ] {
        let reason = rules.excludes_note(&["other", tag], &[]);
        assert_eq!(
            reason,
            out.map(|t| Reason::ExcludedTag(t.to_owned())),
            "{tag}"
        );
    }
}

#[test]
fn a_property_is_compared_as_people_would() {
    let rules = rules(
        &[],
        &["draft", "Status = Private ", "level=3", "published=false"],
    );
    let cases: [(&str, Value, bool); 16] = [
        ("draft", json!(true), true),
        ("Draft", json!("yes"), true),
        ("draft", json!(false), false),
        ("draft", Value::Null, false),
        ("draft", json!(""), false),
        ("draft", json!([]), false),
        ("draft", json!(0), true),
        ("status", json!("PRIVATE"), true),
        ("status", json!(["open", "private"]), true),
        ("status", json!("open"), false),
        ("statuses", json!("private"), false),
        ("level", json!(3), true),
        ("level", json!("3"), true),
        ("level", json!(30), false),
        ("published", json!(false), true),
        ("published", json!({"x": false}), false),
    ];
    for (key, value, out) in cases {
        let got = rules.excludes_note(&[], &[(key.to_owned(), value.clone())]);
        assert_eq!(got.is_some(), out, "{key}: {value}");
    }
}

#[test]
fn a_pattern_that_cannot_be_read_is_an_error_that_names_it() {
    let settings = RuleSettings {
        globs: vec!["a/[b".into()],
        ..RuleSettings::default()
    };
    let error = Rules::new(settings).unwrap_err();
    assert!(error.to_string().contains("a/[b"), "{error}");
}

#[test]
fn patterns_look_where_they_say() {
    for (glob, path, out) in [
        ("*.skip.md", "a/b/x.skip.md", true),
        ("Private", "a/private/x.md", true),
        ("private", "a/private.md", false),
        ("/Private", "a/private/x.md", false),
        ("/Private", "private/x.md", true),
        ("a/*", "a/b/c.md", true),
        ("a/*.md", "a/b/c.md", false),
        ("a/**/*.md", "a/b/c.md", true),
        ("a/**", "a/b/c.md", true),
        ("a/", "a/x.md", true),
        ("a/", "b/a.md", false),
        ("caf\u{e9}/", "Cafe\u{301}/x.md", true),
        ("{a,b}/x.md", "b/x.md", true),
    ] {
        let settings = RuleSettings {
            globs: vec![glob.into()],
            ..RuleSettings::default()
        };
        let rules = Rules::new(settings).unwrap();
        assert_eq!(rules.excludes_path(path).is_some(), out, "{glob} {path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever is excluded, all below an excluded folder is.
    #[test]
    fn an_excluded_folder_takes_all_below_it(
        folder in "[A-Za-zé]{1,6}(/[A-Za-zé ]{1,6}[a-z]){0,2}", below in "[a-z]{1,4}(/[a-z]{1,4}){0,2}"
    ) {
        let settings = RuleSettings { folders: vec![folder.to_uppercase()], ..RuleSettings::default() };
        let rules = Rules::new(settings).unwrap();
        let path = format!("{folder}/{below}.md");
        prop_assert!(rules.excludes_path(&path).is_some());
        let beside = format!("{folder}x.md");
        prop_assert_eq!(rules.excludes_path(&beside), None);
    }
}
