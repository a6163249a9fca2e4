//! Which notes are alike.

use rustc_hash::FxHashMap;

/// The vectors of a vault's notes, of one model.
#[derive(Clone, Debug, Default)]
pub struct SmartVectors {
    model: String,
    /// By path.
    places: FxHashMap<String, usize>,
    paths: Vec<String>,
    /// Without what all have in common, of unit length.
    vectors: Vec<Vec<f32>>,
    /// What all have in common.
    common: Vec<f32>,
    /// Notes whose text changed since.
    pub stale: u64,
    /// Lines and files that cannot be understood.
    pub broken: u64,
}

/// A note and how near it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Its path in the vault.
    pub path: String,
    /// The cosine of the two vectors, without what all vectors of the vault have in common.
    pub cosine: f32,
}

/// The notes nearest to something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Likeness {
    /// Nearest first.
    pub neighbours: Vec<Neighbour>,
    /// How many vectors that is rested on: those of the notes that were asked for and have one, or
    /// that of a text.
    pub of: usize,
}

impl SmartVectors {
    /// Vectors of a length that most do not have are of something else, and are left out.
    pub(crate) fn new(
        model: String,
        mut notes: Vec<(String, Vec<f32>)>,
        stale: u64,
        broken: u64,
    ) -> SmartVectors {
        let mut lengths: FxHashMap<usize, u64> = FxHashMap::default();
        for (_, vector) in &notes {
            *lengths.entry(vector.len()).or_default() += 1;
        }
        let usual = lengths
            .into_iter()
            .max_by_key(|(length, count)| (*count, *length));
        let usual = usual.map_or(0, |(length, _)| length);
        notes.retain(|(_, vector)| vector.len() == usual);
        notes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (paths, mut vectors): (Vec<String>, Vec<Vec<f32>>) = notes.into_iter().unzip();
        let common = mean(vectors.iter(), usual);
        for vector in &mut vectors {
            *vector = unit(less(vector, &common));
        }
        SmartVectors {
            model,
            places: paths.iter().cloned().zip(0..).collect(),
            paths,
            vectors,
            common,
            stale,
            broken,
        }
    }

    /// The model that made them.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many notes have a vector that is of their text as it is.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The notes nearest to the centre of some, those themselves left out; at most so many.
    pub fn near(&self, paths: &[&str], limit: usize) -> Likeness {
        let own: Vec<usize> = { paths.iter() }
            .filter_map(|path| self.places.get(*path).copied())
            .collect();
        if own.is_empty() {
            return Likeness::default();
        }
        let centre = mean(
            own.iter().map(|place| &self.vectors[*place]),
            self.dimension(),
        );
        Likeness {
            neighbours: self.nearest(&unit(centre), &own, limit),
            of: own.len(),
        }
    }

    /// The notes nearest to a text, by its vector of the same model; at most so many. Nothing where
    /// the vector is of another length.
    pub fn near_to_text(&self, vector: &[f32], limit: usize) -> Likeness {
        if vector.len() != self.dimension() || vector.is_empty() {
            return Likeness::default();
        }
        let vector = unit(less(&unit(vector.to_vec()), &self.common));
        Likeness {
            neighbours: self.nearest(&vector, &[], limit),
            of: 1,
        }
    }

    fn nearest(&self, vector: &[f32], without: &[usize], limit: usize) -> Vec<Neighbour> {
        let others = (0..self.paths.len()).filter(|place| !without.contains(place));
        let mut near: Vec<(f32, usize)> = others
            .map(|place| (dot(vector, &self.vectors[place]), place))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.truncate(limit);
        let neighbour = |(cosine, place): (f32, usize)| Neighbour {
            path: self.paths[place].clone(),
            cosine,
        };
        near.into_iter().map(neighbour).collect()
    }

    fn dimension(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }
}

fn mean<'v>(vectors: impl Iterator<Item = &'v Vec<f32>>, dimension: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f64; dimension];
    let mut count = 0.0_f64;
    for vector in vectors {
        count += 1.0;
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += f64::from(*number);
        }
    }
    sum.into_iter()
        .map(|sum| (sum / count.max(1.0)) as f32)
        .collect()
}

fn less(vector: &[f32], common: &[f32]) -> Vec<f32> {
    vector.iter().zip(common).map(|(a, b)| a - b).collect()
}

/// Of unit length, or all zero.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt();
    if length > 1e-6 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
