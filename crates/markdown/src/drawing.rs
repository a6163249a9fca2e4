//! Excalidraw drawings kept as notes: the words of the drawing are searched, the drawing itself is not.

use serde_json::Value;

use crate::structure::Structure;

/// Whether the note is a drawing, by its properties or by the heading that the plugin writes.
pub(crate) fn is_drawing(properties: &[(String, Value)], body: &str) -> bool {
    properties.iter().any(|(key, _)| key == "excalidraw-plugin")
        || memchr::memmem::find(body.as_bytes(), b"\n# Excalidraw Data").is_some()
        || body.starts_with("# Excalidraw Data")
}

/// Hides what the plugin writes for itself: the drawing, the lists of files and links, its own headings and the line that
/// tells how to open the drawing.
pub(crate) fn hide_machinery(text: &str, structure: &mut Structure) {
    let starts = structure
        .headings
        .iter()
        .map(|heading| heading.range.start)
        .skip(1)
        .chain([text.len()]);
    for (heading, end) in structure.headings.iter().zip(starts) {
        match heading.text.to_ascii_lowercase().as_str() {
            "drawing" | "embedded files" | "element links" => {
                structure.walls.push(heading.range.start..end)
            }
            "excalidraw data" | "text elements" => structure.hidden.push(heading.range.clone()),
            _ => {}
        }
    }
    for part in &structure.parts {
        let slice = text.get(part.range.clone()).unwrap_or_default();
        if slice.starts_with("==⚠") {
            structure.walls.push(part.range.clone());
        }
    }
}
