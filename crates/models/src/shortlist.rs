//! The models that were looked at: they are computed as their authors meant, and their licences
//! allow it.

use crate::Task;

/// A model of the shortlist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vetted {
    /// The name that it goes by here.
    pub name: &'static str,
    /// What it is for.
    pub task: Task,
    /// Its repository on the hub.
    pub repository: &'static str,
    /// Bytes that are fetched, about.
    pub bytes: u64,
    /// How many numbers a vector has; of a reranker, a token's within it.
    pub dimension: usize,
    /// How many layers its network has.
    pub layers: usize,
    /// In what languages it was trained, for people.
    pub languages: &'static str,
    /// The licence of its weights, as SPDX names it.
    pub licence: &'static str,
    /// What is known of its quality here, for people; nothing if it was not measured.
    pub measured: Option<&'static str>,
}

const MIB: u64 = 1 << 20;

/// The shortlist, what to take first at the top.
pub const SHORTLIST: &[Vetted] = &[
    Vetted {
        name: "bge-small-en-v1.5",
        task: Task::Embed,
        repository: "BAAI/bge-small-en-v1.5",
        bytes: 128 * MIB,
        dimension: 384,
        layers: 12,
        languages: "English",
        licence: "MIT",
        measured: Some(
            "English question sets: passage recall@6 .80, note MRR .76 (built-in .78, .76)",
        ),
    },
    Vetted {
        name: "all-MiniLM-L6-v2",
        task: Task::Embed,
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        bytes: 87 * MIB,
        dimension: 384,
        layers: 6,
        languages: "English",
        licence: "Apache-2.0",
        measured: Some(
            "English question sets: passage recall@6 .82, note MRR .78 (built-in .78, .76)",
        ),
    },
    Vetted {
        name: "multilingual-e5-small",
        task: Task::Embed,
        repository: "intfloat/multilingual-e5-small",
        bytes: 465 * MIB,
        dimension: 384,
        layers: 12,
        languages: "about 100 languages",
        licence: "MIT",
        measured: None,
    },
    Vetted {
        name: "gte-small",
        task: Task::Embed,
        repository: "thenlper/gte-small",
        bytes: 64 * MIB,
        dimension: 384,
        layers: 12,
        languages: "English",
        licence: "MIT",
        measured: None,
    },
    Vetted {
        name: "bge-base-en-v1.5",
        task: Task::Embed,
        repository: "BAAI/bge-base-en-v1.5",
        bytes: 418 * MIB,
        dimension: 768,
        layers: 12,
        languages: "English",
        licence: "MIT",
        measured: None,
    },
    Vetted {
        name: "multilingual-e5-base",
        task: Task::Embed,
        repository: "intfloat/multilingual-e5-base",
        bytes: 1_077 * MIB,
        dimension: 768,
        layers: 12,
        languages: "about 100 languages",
        licence: "MIT",
        measured: None,
    },
    Vetted {
        name: "bge-large-en-v1.5",
        task: Task::Embed,
        repository: "BAAI/bge-large-en-v1.5",
        bytes: 1_279 * MIB,
        dimension: 1024,
        layers: 24,
        languages: "English",
        licence: "MIT",
        measured: None,
    },
    Vetted {
        name: "ms-marco-MiniLM-L12-v2",
        task: Task::Rerank,
        repository: "cross-encoder/ms-marco-MiniLM-L12-v2",
        bytes: 128 * MIB,
        dimension: 384,
        layers: 12,
        languages: "English",
        licence: "Apache-2.0",
        measured: Some(
            "English question sets, behind all-MiniLM-L6-v2: note MRR +.01, nothing for certain",
        ),
    },
    Vetted {
        name: "ms-marco-MiniLM-L6-v2",
        task: Task::Rerank,
        repository: "cross-encoder/ms-marco-MiniLM-L6-v2",
        bytes: 87 * MIB,
        dimension: 384,
        layers: 6,
        languages: "English",
        licence: "Apache-2.0",
        measured: None,
    },
];

/// The model of the shortlist that a name means, whatever its case: its own or its repository's.
pub fn vetted(name: &str) -> Option<&'static Vetted> {
    SHORTLIST.iter().find(|model| {
        model.name.eq_ignore_ascii_case(name) || model.repository.eq_ignore_ascii_case(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorewell_encoder::Recipe;

    #[test]
    fn every_embedding_model_of_the_list_has_a_recipe() {
        for model in SHORTLIST.iter().filter(|model| model.task == Task::Embed) {
            let recipe = Recipe::known(model.name).expect(model.name);
            assert_eq!(recipe.name, model.name);
        }
        for model in SHORTLIST {
            assert!(model.repository.ends_with(model.name), "{}", model.name);
        }
        assert_eq!(vetted("BAAI/BGE-small-en-v1.5"), Some(&SHORTLIST[0]));
        assert_eq!(vetted("nothing"), None);
    }
}
