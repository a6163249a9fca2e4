//! What a fetched model is: a file beside its weights, so that nothing has to be opened to know it.

use lorewell_embed::Fingerprint;
use lorewell_encoder::{Pooling, Precision, Recipe, fingerprint};
use serde::{Deserialize, Serialize};

/// What is known of a model that was fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this file.
    pub version: u32,
    /// The model's name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it is of the shortlist. Of others nobody here knows whether they are computed as
    /// they are meant.
    pub vetted: bool,
    /// Its files, by path in its folder.
    pub files: Vec<ModelFile>,
    /// Files that were prepared from its weights, by path in its folder.
    pub prepared: Vec<ModelFile>,
    /// A hash of weights and tokenizer, as fingerprints have it.
    pub weights: String,
    /// What it is for.
    #[serde(default)]
    pub task: Task,
    /// How many numbers a vector has; of a reranker, a token's within it.
    pub dimension: usize,
    /// Where longer texts are cut, in tokens.
    pub longest: usize,
    /// How it is used.
    pub recipe: ModelRecipe,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It makes vectors of texts.
    #[default]
    Embed,
    /// It reads a question and a passage together and says how well the one answers the other.
    Rerank,
}

impl Task {
    /// What stands before [`noun`](Self::noun).
    pub fn article(self) -> &'static str {
        match self {
            Task::Embed => "an",
            Task::Rerank => "a",
        }
    }

    /// A model of this task, for people.
    pub fn noun(self) -> &'static str {
        match self {
            Task::Embed => "embedding model",
            Task::Rerank => "reranker",
        }
    }
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// A hub.
    Hub {
        /// Its address, without what is secret.
        hub: String,
        /// The repository there.
        repository: String,
        /// The commit.
        revision: String,
    },
    /// A folder of this machine.
    Folder {
        /// Which.
        folder: String,
    },
}

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Path in the model's folder, with `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// How a model is used, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecipe {
    /// `cls` or `mean`.
    pub pooling: String,
    /// What is put before a question.
    pub question_prefix: String,
    /// What is put before a passage.
    pub passage_prefix: String,
    /// The most tokens that it asks for.
    pub longest: usize,
}

impl Manifest {
    /// The version that this program writes and reads.
    pub(crate) const VERSION: u32 = 1;

    /// How the encoder is to use the model; nothing if the file names a pooling that there is not.
    pub fn recipe(&self) -> Option<Recipe> {
        let pooling = [Pooling::Cls, Pooling::Mean]
            .into_iter()
            .find(|pooling| pooling.name() == self.recipe.pooling)?;
        Some(Recipe {
            name: self.name.clone(),
            pooling,
            question_prefix: self.recipe.question_prefix.clone(),
            passage_prefix: self.recipe.passage_prefix.clone(),
            longest: self.recipe.longest,
        })
    }

    /// What decides the model's vectors in a precision; nothing as with [`recipe`](Self::recipe).
    pub fn fingerprint(&self, precision: Precision) -> Option<Fingerprint> {
        let recipe = self.recipe()?;
        Some(fingerprint(&recipe, &self.weights, precision, self.longest))
    }
}

impl From<&Recipe> for ModelRecipe {
    fn from(recipe: &Recipe) -> ModelRecipe {
        ModelRecipe {
            pooling: recipe.pooling.name().to_string(),
            question_prefix: recipe.question_prefix.clone(),
            passage_prefix: recipe.passage_prefix.clone(),
            longest: recipe.longest,
        }
    }
}
