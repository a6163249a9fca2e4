//! From a model's weights to the prepared file that is computed from: weights in panels, quantized
//! or not, once. The file lies in the model's folder and is made again when the weights change.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, json};

use crate::EncoderError;
use crate::config::Shape;
use crate::container::{Container, Tensor, malformed, unreadable};
use crate::machine::{GROUP, PANEL};
use crate::numbers::{step_of, to_half, to_signed_byte};
use crate::precision::Precision;

/// The coarsest step in which a file system in use keeps times; such times are whole seconds.
const COARSEST: Duration = Duration::from_secs(2);

/// Raised whenever the same weights give another file.
const VERSION: &str = "1";

/// What a layer consists of: name here, sources, and whether each is as wide or as deep as the
/// intermediate size.
pub(crate) const PRODUCTS: [&str; 4] = ["qkv", "out", "up", "down"];

/// The prepared file of a folder, made if it is not there or is of other weights.
///
/// Where the folder may not be written, a file without a name among the temporary files takes its
/// place, for as long as this process uses it.
///
/// # Errors
/// The weights cannot be read or lack something; no file can be written at all.
pub(crate) fn prepared(
    folder: &Path,
    shape: &Shape,
    precision: Precision,
) -> Result<Container, EncoderError> {
    let source = folder.join("model.safetensors");
    let (stamp, time) = stamp(&source)?;
    let place = place_of(folder, precision);
    if let Some(container) = current(&place, precision, &stamp, time) {
        return Ok(container);
    }
    let source = Source::open(&source, shape)?;
    match tempfile::NamedTempFile::new_in(folder) {
        Ok(mut file) => {
            write(&source, shape, precision, &stamp, file.as_file_mut())
                .map_err(|error| error.at(&place))?;
            // A help for the next time; without it the file is made again.
            let _ = file.as_file().set_modified(time);
            file.persist(&place)
                .map_err(|error| EncoderError::Unwritable {
                    path: place.clone(),
                    source: error.error,
                })?;
            Container::open(&place)
        }
        Err(_) => {
            let unwritable = |source| EncoderError::Unwritable {
                path: place.clone(),
                source,
            };
            let mut file = tempfile::tempfile().map_err(unwritable)?;
            write(&source, shape, precision, &stamp, &mut file)
                .map_err(|error| error.at(&place))?;
            Container::of_file(&file, &place)
        }
    }
}

/// Whether the prepared file of a folder is what the weights give, byte by byte: they are prepared
/// once more for that. True where there is none that would be used.
///
/// # Errors
/// The weights cannot be read or lack something; no temporary file can be written.
pub fn is_prepared_well(folder: &Path, precision: Precision) -> Result<bool, EncoderError> {
    let source = folder.join("model.safetensors");
    let (stamp, time) = stamp(&source)?;
    let place = place_of(folder, precision);
    let Some(there) = current(&place, precision, &stamp, time) else {
        return Ok(true);
    };
    let shape = Shape::read(&folder.join("config.json"))?;
    let source = Source::open(&source, &shape)?;
    let unwritable = |source| EncoderError::Unwritable {
        path: std::env::temp_dir(),
        source,
    };
    let mut file = tempfile::tempfile().map_err(unwritable)?;
    write(&source, &shape, precision, &stamp, &mut file)
        .map_err(|error| error.at(&std::env::temp_dir()))?;
    let anew = Container::of_file(&file, &place)?;
    Ok(anew.bytes() == there.bytes())
}

/// Where the prepared file of a folder lies.
fn place_of(folder: &Path, precision: Precision) -> PathBuf {
    folder.join(format!("lorewell-{}.safetensors", precision.name()))
}

/// A prepared file, if it is of these weights by all that it says.
fn current(place: &Path, precision: Precision, stamp: &str, time: SystemTime) -> Option<Container> {
    let container = Container::open(place).ok()?;
    let is_current = container.note("version") == Some(VERSION)
        && container.note("precision") == Some(precision.name())
        && container.note("stamp") == Some(stamp)
        && is_of_time(place, time);
    is_current.then_some(container)
}

/// Size and time of the weights. The size stands in the prepared file and the time is that file's
/// own, so that weights which were only touched or copied give the very same file again.
fn stamp(path: &Path) -> Result<(String, SystemTime), EncoderError> {
    let about = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
    Ok((
        about.len().to_string(),
        about.modified().unwrap_or(UNIX_EPOCH),
    ))
}

/// Whether a file bears this time, as closely as its file system keeps times.
fn is_of_time(path: &Path, time: SystemTime) -> bool {
    let own = std::fs::metadata(path).and_then(|about| about.modified());
    own.is_ok_and(|own| {
        let since = own.duration_since(UNIX_EPOCH).unwrap_or_default();
        let apart = own.duration_since(time);
        let apart = apart.unwrap_or_else(|error| error.duration());
        own == time || since.subsec_nanos() == 0 && apart <= COARSEST
    })
}

/// Why no file was written.
enum Failure {
    Source(EncoderError),
    Disk(std::io::Error),
}

impl Failure {
    fn at(self, path: &Path) -> EncoderError {
        match self {
            Self::Source(error) => error,
            Self::Disk(source) => EncoderError::Unwritable {
                path: path.to_path_buf(),
                source,
            },
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<EncoderError> for Failure {
    fn from(error: EncoderError) -> Self {
        Self::Source(error)
    }
}

/// A model's own weights.
struct Source {
    container: Container,
    prefix: &'static str,
}

impl Source {
    fn open(path: &Path, shape: &Shape) -> Result<Self, EncoderError> {
        let container = Container::open(path)?;
        let words = "embeddings.word_embeddings.weight";
        let prefix = ["", "bert.", "roberta.", "0.auto_model.", "model."]
            .into_iter()
            .find(|prefix| container.find(&format!("{prefix}{words}")).is_some())
            .unwrap_or_default();
        container.get(
            &format!("{prefix}{words}"),
            &[shape.vocabulary, shape.hidden],
        )?;
        Ok(Self { container, prefix })
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        self.container
            .floats(&format!("{}{name}", self.prefix), shape)
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor<'_>, EncoderError> {
        self.container.get(&format!("{}{name}", self.prefix), shape)
    }

    fn path(&self) -> &Path {
        self.container.path()
    }
}

/// One of a layer's four products.
struct Product {
    name: String,
    /// Tensors of `depth` inputs each, whose outputs stand one after another.
    sources: Vec<String>,
    width: usize,
    depth: usize,
}

fn products(layer: usize, shape: &Shape) -> Vec<Product> {
    let (hidden, inner) = (shape.hidden, shape.intermediate);
    let base = format!("encoder.layer.{layer}");
    let attention = ["query", "key", "value"].map(|part| format!("{base}.attention.self.{part}"));
    let rows = [
        (attention.to_vec(), 3 * hidden, hidden),
        (
            vec![format!("{base}.attention.output.dense")],
            hidden,
            hidden,
        ),
        (vec![format!("{base}.intermediate.dense")], inner, hidden),
        (vec![format!("{base}.output.dense")], hidden, inner),
    ];
    PRODUCTS
        .iter()
        .zip(rows)
        .map(|(name, (sources, width, depth))| Product {
            name: format!("{layer}.{name}"),
            sources,
            width,
            depth,
        })
        .collect()
}

/// A tensor to be written.
struct Planned {
    name: String,
    numbers: &'static str,
    shape: Vec<usize>,
    bytes: usize,
}

fn plan(name: String, numbers: &'static str, shape: &[usize]) -> Planned {
    let size = match numbers {
        "I8" => 1,
        "F16" => 2,
        _ => 4,
    };
    Planned {
        name,
        numbers,
        bytes: size * shape.iter().product::<usize>(),
        shape: shape.to_vec(),
    }
}

/// All tensors in the order in which they are written. Sizes are multiples of 64 bytes, so that
/// every tensor begins at one.
fn planned(shape: &Shape, precision: Precision) -> Vec<Planned> {
    let hidden = shape.hidden;
    let mut plans = Vec::new();
    for layer in 0..shape.layers {
        for product in products(layer, shape) {
            let (width, depth) = (product.width, product.depth);
            match precision {
                Precision::Q8 => {
                    plans.push(plan(
                        product.name.clone(),
                        "I8",
                        &[width / PANEL, depth / GROUP, PANEL, GROUP],
                    ));
                    plans.push(plan(format!("{}.scales", product.name), "F32", &[width]));
                    plans.push(plan(format!("{}.columns", product.name), "I32", &[width]));
                }
                Precision::F16 | Precision::F32 => {
                    let numbers = if precision == Precision::F16 {
                        "F16"
                    } else {
                        "F32"
                    };
                    plans.push(plan(
                        product.name.clone(),
                        numbers,
                        &[width / PANEL, depth, PANEL],
                    ));
                }
            }
            plans.push(plan(format!("{}.bias", product.name), "F32", &[width]));
        }
        for norm in ["norm1", "norm2"] {
            plans.push(plan(format!("{layer}.{norm}.weight"), "F32", &[hidden]));
            plans.push(plan(format!("{layer}.{norm}.bias"), "F32", &[hidden]));
        }
    }
    plans.push(plan("norm.weight".into(), "F32", &[hidden]));
    plans.push(plan("norm.bias".into(), "F32", &[hidden]));
    plans.push(plan("positions".into(), "F32", &[shape.positions, hidden]));
    let words = if precision == Precision::F32 {
        "F32"
    } else {
        "F16"
    };
    plans.push(plan("words".into(), words, &[shape.vocabulary, hidden]));
    plans
}

fn header(shape: &Shape, precision: Precision, notes: &[(&str, &str)]) -> Vec<u8> {
    let mut all = Map::new();
    let notes: Map<_, _> = notes
        .iter()
        .map(|(key, text)| ((*key).into(), json!(text)))
        .collect();
    all.insert("__metadata__".into(), notes.into());
    let mut at = 0;
    for plan in planned(shape, precision) {
        let end = at + plan.bytes;
        let entry =
            json!({ "dtype": plan.numbers, "shape": plan.shape, "data_offsets": [at, end] });
        all.insert(plan.name, entry);
        at = end;
    }
    let mut text = serde_json::Value::from(all).to_string().into_bytes();
    // The data begins at a multiple of 64 bytes.
    text.resize((text.len() + 8).next_multiple_of(64) - 8, b' ');
    text
}

fn write(
    source: &Source,
    shape: &Shape,
    precision: Precision,
    stamp: &str,
    file: &mut File,
) -> Result<(), Failure> {
    let hash = blake3::hash(source.container.bytes()).to_hex();
    let notes = [
        ("version", VERSION),
        ("precision", precision.name()),
        ("stamp", stamp),
        ("weights", &hash[..32]),
    ];
    let header = header(shape, precision, &notes);
    let mut writer = Writer {
        file: BufWriter::with_capacity(1 << 20, file),
        precision,
    };
    writer
        .file
        .write_all(&(header.len() as u64).to_le_bytes())?;
    writer.file.write_all(&header)?;
    for layer in 0..shape.layers {
        for product in products(layer, shape) {
            writer.product(source, &product)?;
        }
        for norm in ["attention.output.LayerNorm", "output.LayerNorm"] {
            for part in ["weight", "bias"] {
                let name = format!("encoder.layer.{layer}.{norm}.{part}");
                writer.floats(&source.floats(&name, &[shape.hidden])?)?;
            }
        }
    }
    for part in ["weight", "bias"] {
        let name = format!("embeddings.LayerNorm.{part}");
        writer.floats(&source.floats(&name, &[shape.hidden])?)?;
    }
    writer.floats(&positions(source, shape)?)?;
    writer.words(source, shape)?;
    writer.file.flush()?;
    Ok(())
}

/// Rows of positions, with the one token type that there is in a single text added.
fn positions(source: &Source, shape: &Shape) -> Result<Vec<f32>, EncoderError> {
    let hidden = shape.hidden;
    let mut positions = source.floats(
        "embeddings.position_embeddings.weight",
        &[shape.positions, hidden],
    )?;
    let types = source.floats(
        "embeddings.token_type_embeddings.weight",
        &[shape.types, hidden],
    )?;
    for row in positions.chunks_exact_mut(hidden) {
        row.iter_mut()
            .zip(&types)
            .for_each(|(position, kind)| *position += kind);
    }
    Ok(positions)
}

struct Writer<'a> {
    file: BufWriter<&'a mut File>,
    precision: Precision,
}

impl Writer<'_> {
    fn floats(&mut self, floats: &[f32]) -> Result<(), Failure> {
        for float in floats {
            self.file.write_all(&float.to_le_bytes())?;
        }
        Ok(())
    }

    fn halves(&mut self, floats: &[f32]) -> Result<(), Failure> {
        for float in floats {
            self.file.write_all(&to_half(*float).to_le_bytes())?;
        }
        Ok(())
    }

    fn words(&mut self, source: &Source, shape: &Shape) -> Result<(), Failure> {
        let words = source.tensor(
            "embeddings.word_embeddings.weight",
            &[shape.vocabulary, shape.hidden],
        )?;
        let mut row = Vec::new();
        for word in 0..shape.vocabulary {
            let range = word * shape.hidden..(word + 1) * shape.hidden;
            words
                .floats_into(range, &mut row)
                .ok_or_else(|| not_floats(source.path(), "embeddings.word_embeddings.weight"))?;
            match self.precision {
                Precision::F32 => self.floats(&row)?,
                Precision::F16 | Precision::Q8 => self.halves(&row)?,
            }
        }
        Ok(())
    }

    /// Weights in panels of 16 outputs, scales and sums where they are bytes, and the bias.
    fn product(&mut self, source: &Source, product: &Product) -> Result<(), Failure> {
        let (mut bias, mut scales, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        let width = product.width / product.sources.len();
        for name in &product.sources {
            let weight = format!("{name}.weight");
            let tensor = source.tensor(&weight, &[width, product.depth])?;
            for panel in 0..width / PANEL {
                let mut rows = Vec::with_capacity(PANEL);
                for output in panel * PANEL..(panel + 1) * PANEL {
                    let mut row = Vec::new();
                    tensor
                        .floats_into(
                            output * product.depth..(output + 1) * product.depth,
                            &mut row,
                        )
                        .ok_or_else(|| not_floats(source.path(), &weight))?;
                    rows.push(row);
                }
                self.panel(&rows, &mut scales, &mut columns)?;
            }
            bias.extend(source.floats(&format!("{name}.bias"), &[width])?);
        }
        if self.precision == Precision::Q8 {
            self.floats(&scales)?;
            for column in columns {
                self.file.write_all(&i32::to_le_bytes(column))?;
            }
        }
        self.floats(&bias)
    }

    fn panel(
        &mut self,
        rows: &[Vec<f32>],
        scales: &mut Vec<f32>,
        columns: &mut Vec<i32>,
    ) -> Result<(), Failure> {
        let depth = rows[0].len();
        match self.precision {
            Precision::F32 | Precision::F16 => {
                for input in 0..depth {
                    let column: Vec<f32> = rows.iter().map(|row| row[input]).collect();
                    match self.precision {
                        Precision::F16 => self.halves(&column)?,
                        _ => self.floats(&column)?,
                    }
                }
            }
            Precision::Q8 => {
                let mut panel = vec![0u8; PANEL * depth];
                for (output, row) in rows.iter().enumerate() {
                    let reach = row
                        .iter()
                        .fold(0.0, |most: f32, value| most.max(value.abs()));
                    let (step, inverse) = step_of(reach);
                    let mut sum = 0;
                    for (input, value) in row.iter().enumerate() {
                        let byte = to_signed_byte(*value, inverse);
                        sum += i32::from(byte.cast_signed());
                        panel[(input / GROUP * PANEL + output) * GROUP + input % GROUP] = byte;
                    }
                    scales.push(step);
                    columns.push(sum);
                }
                self.file.write_all(&panel)?;
            }
        }
        Ok(())
    }
}

fn not_floats(path: &Path, tensor: &str) -> EncoderError {
    malformed(
        path,
        &format!("the tensor `{tensor}` is no tensor of finite F32, F16 or BF16 numbers"),
    )
}
