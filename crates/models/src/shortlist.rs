//! The models that were looked at: they are computed as their authors meant, and their licences
//! allow it.

/// A model of the shortlist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vetted {
    /// The name that it goes by here.
    pub name: &'static str,
    /// Its repository on the hub.
    pub repository: &'static str,
    /// Bytes that are fetched, about.
    pub bytes: u64,
    /// How many numbers a vector has.
    pub dimension: usize,
    /// In what languages it was trained, for people.
    pub languages: &'static str,
    /// The licence of its weights, as SPDX names it.
    pub licence: &'static str,
    /// What its lane counts beside words in the fusion.
    pub weight: f32,
    /// What is known of its quality here, for people; nothing if it was not measured.
    pub measured: Option<&'static str>,
}

/// What a transformer counts beside words: scores of words and meaning joined 1 to 0.8. Of .33, .6,
/// .8, 1, 1.5 and 2 it gave the most on the English question sets for bge-small, and as much as any
/// for MiniLM (docs/evaluation.md); the others were not measured.
pub(crate) const USUAL_WEIGHT: f32 = 0.8;

const MIB: u64 = 1 << 20;

/// The shortlist, what to take first at the top.
pub const SHORTLIST: &[Vetted] = &[
    Vetted {
        name: "bge-small-en-v1.5",
        repository: "BAAI/bge-small-en-v1.5",
        bytes: 128 * MIB,
        dimension: 384,
        languages: "English",
        licence: "MIT",
        weight: USUAL_WEIGHT,
        measured: Some(
            "English question sets: passage recall@6 .79, note MRR .75 (built-in .75, .72)",
        ),
    },
    Vetted {
        name: "all-MiniLM-L6-v2",
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        bytes: 87 * MIB,
        dimension: 384,
        languages: "English",
        licence: "Apache-2.0",
        weight: USUAL_WEIGHT,
        measured: Some(
            "English question sets: passage recall@6 .81, note MRR .77 (built-in .75, .72)",
        ),
    },
    Vetted {
        name: "multilingual-e5-small",
        repository: "intfloat/multilingual-e5-small",
        bytes: 465 * MIB,
        dimension: 384,
        languages: "about 100 languages",
        licence: "MIT",
        weight: USUAL_WEIGHT,
        measured: None,
    },
    Vetted {
        name: "gte-small",
        repository: "thenlper/gte-small",
        bytes: 64 * MIB,
        dimension: 384,
        languages: "English",
        licence: "MIT",
        weight: USUAL_WEIGHT,
        measured: None,
    },
    Vetted {
        name: "bge-base-en-v1.5",
        repository: "BAAI/bge-base-en-v1.5",
        bytes: 418 * MIB,
        dimension: 768,
        languages: "English",
        licence: "MIT",
        weight: USUAL_WEIGHT,
        measured: None,
    },
    Vetted {
        name: "multilingual-e5-base",
        repository: "intfloat/multilingual-e5-base",
        bytes: 1_077 * MIB,
        dimension: 768,
        languages: "about 100 languages",
        licence: "MIT",
        weight: USUAL_WEIGHT,
        measured: None,
    },
    Vetted {
        name: "bge-large-en-v1.5",
        repository: "BAAI/bge-large-en-v1.5",
        bytes: 1_279 * MIB,
        dimension: 1024,
        languages: "English",
        licence: "MIT",
        weight: USUAL_WEIGHT,
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
    fn every_model_of_the_list_has_a_recipe() {
        for model in SHORTLIST {
            let recipe = Recipe::known(model.name).expect(model.name);
            assert_eq!(recipe.name, model.name);
            assert!(model.repository.ends_with(model.name), "{}", model.name);
        }
        assert_eq!(vetted("BAAI/BGE-small-en-v1.5"), Some(&SHORTLIST[0]));
        assert_eq!(vetted("nothing"), None);
    }
}
