//! From the arguments of a tool to the request of a capability.

use lorewell_capabilities::Failure;
use serde_json::{Map, Value};

use crate::tools::{DEFAULT_ANSWER_CHARS, Preset, PresetValue, Tool};

/// A request of a capability.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shaped {
    /// The vault, if one was named.
    pub(crate) vault: Option<String>,
    /// The input.
    pub(crate) input: Map<String, Value>,
    /// Whether the client left the size of the text to the surface.
    pub(crate) may_shrink: bool,
}

/// What a client asks of a tool, with the defaults of this surface: they are part of the request,
/// so that any other surface answers it with the same bytes.
///
/// # Errors
/// A number beyond what this surface takes, or a vault that is no name.
pub(crate) fn shaped(
    tool: &Tool,
    arguments: Option<Map<String, Value>>,
) -> Result<Shaped, Failure> {
    let mut input = arguments.unwrap_or_default();
    // Left out and null are the same.
    input.retain(|_, value| !value.is_null());
    let vault = match input.remove("vault") {
        None => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => {
            let message = "“vault” must be the name of a vault, a text";
            return Err(Failure::wrong_use(message, ""));
        }
    };
    preset(tool, &mut input);
    let mut may_shrink = false;
    for argument in tool.arguments {
        match (input.get(argument.name), argument.default) {
            (Some(given), _) => {
                if let (Some(given), Some(most)) = (given.as_u64(), argument.most.map(u64::from))
                    && given > most
                {
                    input.insert(argument.name.to_string(), most.into());
                    continue;
                }
                let maximum = argument.maximum.map(u64::from);
                if let (Some(given), Some(maximum)) = (given.as_u64(), maximum)
                    && given > maximum
                {
                    return Err(Failure::wrong_use(
                        format!(
                            "“{}” is {given}; it must be at most {maximum}",
                            argument.name
                        ),
                        "Ask for less, and go on with `cursor` where the answer has `next`.",
                    ));
                }
            }
            (None, Some(default)) => {
                input.insert(argument.name.to_string(), default.into());
                may_shrink |= argument.name == "max_chars";
            }
            (None, None) => {}
        }
    }
    Ok(Shaped {
        vault,
        input,
        may_shrink,
    })
}

/// Sets what this surface sets by itself, unless the client gave something that decides instead.
fn preset(tool: &Tool, input: &mut Map<String, Value>) {
    let wanted: Vec<&Preset> = tool
        .presets
        .iter()
        .filter(|preset| !input.contains_key(preset.name) && !input.contains_key(preset.unless))
        .collect();
    for preset in wanted {
        let value = match preset.value {
            PresetValue::Number(number) => number.into(),
            PresetValue::Switch(switch) => switch.into(),
        };
        input.insert(preset.name.to_string(), value);
    }
}

impl Shaped {
    /// After an answer of `chars` characters that is larger than a default answer may be: the same
    /// request for less, where the size was left to the surface. Text that needs many signs to be
    /// written in JSON makes that necessary.
    pub(crate) fn smaller(&self, chars: usize) -> Option<Shaped> {
        if !self.may_shrink || chars < DEFAULT_ANSWER_CHARS {
            return None;
        }
        let now = self.input.get("max_chars")?.as_u64()? as usize;
        let less = now * (DEFAULT_ANSWER_CHARS - 500) / chars;
        if less < 100 || less >= now {
            return None;
        }
        let mut input = self.input.clone();
        input.insert("max_chars".to_string(), less.into());
        Some(Shaped {
            input,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(arguments: Value) -> Result<Shaped, Failure> {
        let tool = Tool::named("read_note").unwrap();
        shaped(tool, arguments.as_object().cloned())
    }

    #[test]
    fn what_is_left_out_is_the_default_of_the_surface() {
        let asked = read(json!({"note": "Kiln", "heading": null, "vault": "Notes"})).unwrap();
        assert_eq!(asked.vault.as_deref(), Some("Notes"));
        assert_eq!(
            Value::Object(asked.input),
            json!({"note": "Kiln", "max_chars": 6000})
        );
    }

    #[test]
    fn no_more_than_the_maximum() {
        let error = read(json!({"note": "Kiln", "max_chars": 1_000_000})).unwrap_err();
        assert_eq!(error.code, "wrong_use");
        assert!(error.message.contains("at most 40000"), "{error}");
        assert!(read(json!({"note": "Kiln", "max_chars": 40_000})).is_ok());
        assert!(read(json!({"note": "Kiln", "vault": 1})).is_err());
    }

    #[test]
    fn a_default_that_was_too_much_becomes_less_and_a_wish_does_not() {
        let asked = read(json!({"note": "Kiln"})).unwrap();
        assert_eq!(asked.smaller(7_000), None);
        let less = asked.smaller(36_000).unwrap();
        assert_eq!(less.input["max_chars"], json!(1250));
        let wished = read(json!({"note": "Kiln", "max_chars": 30_000})).unwrap();
        assert_eq!(wished.smaller(36_000), None);
    }
}
