//! What known models want before a question and before a passage. From the models' own cards.

/// Texts put before what is embedded; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Before a question.
    pub question: String,
    /// Before a passage.
    pub passage: String,
}

const SEARCH: &str = "Represent this sentence for searching relevant passages: ";
const INSTRUCT: &str = "Instruct: Given a web search query, retrieve relevant passages that answer \
                        the query\nQuery: ";

/// Parts of a model's name, and the prefixes of what has all of them; the first row that fits holds.
const FAMILIES: &[(&[&str], &str, &str)] = &[
    (&["nomic-embed"], "search_query: ", "search_document: "),
    (&["e5", "instruct"], INSTRUCT, ""),
    (&["e5-mistral"], INSTRUCT, ""),
    (&["e5-"], "query: ", "passage: "),
    (&["bge-m3"], "", ""),
    (&["bge-", "-en"], SEARCH, ""),
    (&["bge-large"], SEARCH, ""),
    (&["bge-base"], SEARCH, ""),
    (&["bge-small"], SEARCH, ""),
    (&["mxbai-embed-large"], SEARCH, ""),
    (&["arctic-embed", "v2"], "query: ", ""),
    (&["arctic-embed2"], "query: ", ""),
    (&["arctic-embed"], SEARCH, ""),
    (
        &["embeddinggemma"],
        "task: search result | query: ",
        "title: none | text: ",
    ),
    (
        &["embedding-gemma"],
        "task: search result | query: ",
        "title: none | text: ",
    ),
    (&["qwen3-embedding"], INSTRUCT, ""),
];

/// The prefixes of a model that is known by its name, and none for others. Settings override them.
pub fn usual_prefixes(model: &str) -> Prefixes {
    let name = model.to_ascii_lowercase();
    let fits = |parts: &[&str]| parts.iter().all(|part| name.contains(part));
    let found = FAMILIES.iter().find(|(parts, ..)| fits(parts));
    found.map_or_else(Prefixes::default, |(_, question, passage)| Prefixes {
        question: (*question).to_string(),
        passage: (*passage).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_have_their_prefixes_and_others_none() {
        for (model, question, passage) in [
            ("nomic-embed-text", "search_query: ", "search_document: "),
            (
                "nomic-ai/nomic-embed-text-v1.5",
                "search_query: ",
                "search_document: ",
            ),
            ("multilingual-e5-small", "query: ", "passage: "),
            (
                "text-embedding-intfloat/multilingual-e5-large-instruct",
                INSTRUCT,
                "",
            ),
            ("bge-m3", "", ""),
            ("BAAI/bge-small-en-v1.5", SEARCH, ""),
            ("snowflake-arctic-embed2", "query: ", ""),
            ("text-embedding-3-small", "", ""),
            ("all-minilm", "", ""),
        ] {
            let found = usual_prefixes(model);
            assert_eq!(
                (&*found.question, &*found.passage),
                (question, passage),
                "{model}"
            );
        }
    }
}
