//! Secrets are compared in constant time, by one function each: what would tell how much of a token
//! was right must not come back.

use crate::repository::root;

fn source(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The text without its tests.
fn code(path: &str) -> String {
    let text = source(path);
    text.split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .to_string()
}

#[test]
fn hashes_of_tokens_are_equal_by_one_function() {
    let token = code("crates/agents/src/token.rs");
    // What `==` means for a hash is written down, and is that function.
    let hash = token.find("pub struct TokenHash").unwrap();
    let derives = token[..hash].rsplit("#[derive(").next().unwrap();
    assert!(!derives.contains("PartialEq"), "{derives}");
    assert!(token.contains("self.0.ct_eq(&other.0)"));
    assert!(token.contains("self.is(other).into()"));
    // Its bytes are nobody else's, and no text of one is compared.
    assert!(token.contains("pub struct TokenHash([u8; 32]);"));
    for path in [
        "agents/src/token.rs",
        "agents/src/gate.rs",
        "agents/src/register.rs",
        "bridge/src/http/checks.rs",
    ] {
        for line in code(&format!("crates/{path}")).lines() {
            let compares = line.contains("==") || line.contains("!=");
            let secret = ["reveal()", "to_hex()", "token ==", "== token"]
                .iter()
                .any(|it| line.contains(it));
            assert!(!(compares && secret), "{path}: {line}");
        }
    }
    // The gate looks at every agent, whichever it is.
    assert!(
        code("crates/agents/src/gate.rs")
            .contains("conditional_assign(&at, agent.token.is(&shown))")
    );
}

#[test]
fn proofs_of_a_bridge_are_equal_by_one_function() {
    let state = code("crates/bridge/src/state.rs");
    assert!(state.contains("ct_eq(proof.as_bytes())"));
    for path in ["state.rs", "client.rs", "http/mod.rs"] {
        for line in code(&format!("crates/bridge/src/{path}")).lines() {
            let compares = line.contains("==") || line.contains("!=");
            assert!(
                !(compares && (line.contains("secret") || line.contains("proof"))),
                "{path}: {line}"
            );
        }
    }
}
