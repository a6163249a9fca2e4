//! Servers that are known to have no embeddings, or to want them asked in another form.

/// Why a server cannot be used, for people; nothing where none is known.
pub(crate) fn refusal(
    host: &str,
    port: Option<u16>,
    path: &str,
    query: Option<&str>,
) -> Option<&'static str> {
    let of = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
    let azure_form = path.contains("/openai/deployments/")
        || query.is_some_and(|query| query.contains("api-version"));
    if of("anthropic.com") {
        return Some(
            "Anthropic offers no embeddings; a server on this machine (Ollama, LM Studio, \
             llama.cpp) does, and so do the built-in model and those of `lorewell models list`",
        );
    }
    if of("openai.azure.com") || of("cognitiveservices.azure.com") || azure_form {
        return Some(
            "Azure wants embeddings asked by deployment, with a version in the query and the key in \
             a header of its own; only the OpenAI form is spoken here",
        );
    }
    if host.starts_with("bedrock-runtime") && of("amazonaws.com") {
        return Some(
            "Bedrock wants requests signed in Amazon's way; only the OpenAI form is spoken here",
        );
    }
    if of("cohere.com") && !path.contains("/compatibility/") {
        return Some(
            "its own form is another; its OpenAI form is https://api.cohere.com/compatibility/v1",
        );
    }
    if of("generativelanguage.googleapis.com") && !path.contains("/openai") {
        return Some(
            "its own form is another; its OpenAI form is \
             https://generativelanguage.googleapis.com/v1beta/openai",
        );
    }
    ollama(port, path)
}

/// Ollama's own form, at the address that its documents show first.
fn ollama(port: Option<u16>, path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let own = matches!(
        parts[..],
        ["api"] | ["api", "embed" | "generate" | "chat" | "tags"]
    ) || (port == Some(11434) && parts == ["api", "embeddings"]);
    own.then_some(
        "that is Ollama's own form; its OpenAI form is at the same host and port with /v1",
    )
}
