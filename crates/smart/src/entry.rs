//! One line of a file.

use serde_json::Value;

/// Before the path of a note.
const SOURCES: &str = "smart_sources:";

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    /// Of a note.
    Entry(Entry),
    /// The note is gone.
    Gone(String),
    /// Of something else, or nothing.
    Other,
    /// It cannot be understood.
    Broken,
}

/// A note as a line tells of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    /// Its vectors, by the name of the model.
    pub(crate) vectors: Vec<(String, Vec<f32>)>,
    /// The file when it was read: milliseconds of its last change, and bytes.
    pub(crate) stamp: Option<(f64, u64)>,
    /// When the vector was made, in milliseconds.
    pub(crate) made: Option<f64>,
    /// The vector is of another text than the one that was read last.
    pub(crate) is_behind: bool,
}

/// Reads a line. `model` is that of the whole file, in older ones.
pub(crate) fn read(line: &str, model: Option<&str>) -> Line {
    let line = line.trim().trim_end_matches(',');
    if matches!(line, "" | "{" | "}") {
        return Line::Other;
    }
    // Most lines are of blocks; they need not be parsed.
    let is_wanted = match model {
        None => line.starts_with("\"smart_sources:"),
        Some(_) => !line.starts_with("\"smart_blocks:"),
    };
    if !is_wanted {
        let other = line.starts_with('"') && line.ends_with(['}', 'l']);
        return if other { Line::Other } else { Line::Broken };
    }
    let Ok(Value::Object(object)) = serde_json::from_str(&format!("{{{line}}}")) else {
        return Line::Broken;
    };
    let Some((key, value)) = object.into_iter().next() else {
        return Line::Other;
    };
    let of_key = key.strip_prefix(SOURCES).unwrap_or(&key).to_string();
    if value.is_null() {
        return Line::Gone(of_key);
    }
    let path = value["path"].as_str().map_or(of_key, str::to_string);
    if path.contains('#') {
        return Line::Other;
    }
    let import = &value["last_import"];
    let stamp = import["mtime"].as_f64().zip(import["size"].as_u64());
    let (embedded, read) = (&value["last_embed"]["hash"], &value["last_read"]["hash"]);
    let read = if read.is_null() {
        &import["hash"]
    } else {
        read
    };
    Line::Entry(Entry {
        vectors: vectors(&value, model),
        stamp,
        made: value["last_embed"]["at"].as_f64(),
        is_behind: embedded.is_string() && read.is_string() && embedded != read,
        path,
    })
}

fn vectors(value: &Value, model: Option<&str>) -> Vec<(String, Vec<f32>)> {
    let several = value["embeddings"].as_object().into_iter().flatten();
    let named = several.map(|(model, embedding)| (model.as_str(), &embedding["vec"]));
    let single = model.map(|model| (model, &value["embedding"]["vec"]));
    let unit = |(model, vec): (&str, &Value)| Some((model.to_string(), unit(vec)?));
    named.chain(single).filter_map(unit).collect()
}

/// The vector, of unit length; nothing where it is none.
fn unit(vec: &Value) -> Option<Vec<f32>> {
    let numbers: Option<Vec<f64>> = vec.as_array()?.iter().map(Value::as_f64).collect();
    let numbers = numbers?;
    let length = numbers
        .iter()
        .map(|number| number * number)
        .sum::<f64>()
        .sqrt();
    let sound = length.is_finite() && length > 1e-12;
    sound.then(|| {
        numbers
            .iter()
            .map(|number| (number / length) as f32)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_what_is_none_is_told() {
        let line = r#""smart_sources:Ale.md": {"path":"Ale.md","embeddings":{"m":{"vec":[3,4]}},"last_embed":{"hash":"a","at":9},"last_read":{"hash":"b"},"last_import":{"mtime":5,"size":7}},"#;
        let Line::Entry(entry) = read(line, None) else {
            panic!("{line}");
        };
        assert_eq!(entry.vectors, [("m".to_string(), vec![0.6, 0.8])]);
        assert_eq!(
            (entry.stamp, entry.made, entry.is_behind),
            (Some((5.0, 7)), Some(9.0), true)
        );
        for (line, wanted) in [
            (
                r#""smart_sources:Ale.md": null,"#,
                Line::Gone("Ale.md".to_string()),
            ),
            (r#""smart_blocks:Ale.md#Mash": {"path":null},"#, Line::Other),
            ("", Line::Other),
            (r#""smart_sources:Ale.md": {"path":"Ale"#, Line::Broken),
            ("<<<<<<< HEAD", Line::Broken),
        ] {
            assert_eq!(read(line, None), wanted, "{line}");
        }
        let bad = r#""smart_sources:Ale.md": {"embeddings":{"m":{"vec":[0,0]},"n":{"vec":[1,null]},"o":{"vec":"x"}}}"#;
        let Line::Entry(entry) = read(bad, None) else {
            panic!("{bad}");
        };
        assert_eq!((entry.path.as_str(), entry.vectors.len()), ("Ale.md", 0));
    }

    #[test]
    fn older_files_have_one_model_for_all() {
        let line =
            r#""Ale.md": {"path":"Ale.md","embedding":{"vec":[0,2]},"class_name":"SmartNote"},"#;
        let Line::Entry(entry) = read(line, Some("jina")) else {
            panic!("{line}");
        };
        assert_eq!(entry.vectors, [("jina".to_string(), vec![0.0, 1.0])]);
    }
}
