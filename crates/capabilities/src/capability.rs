//! What an ability is, and the list of them.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::check_fields;
use crate::sizes::{bounded, check_sizes};
use crate::{ContextPack, Desk, Failure, Links, Read, Rebuild, Related, Search, Status, Verify};

/// What a caller must be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads notes and answers.
    Read,
    /// Changes derived data.
    Manage,
}

/// An ability: everything that any surface needs to offer it.
pub trait Capability {
    /// Its stable name: `knowledge.search`.
    const ID: &'static str;
    /// One sentence for lists.
    const SUMMARY: &'static str;
    /// What it does, when to use it, what comes back.
    const DESCRIPTION: &'static str;
    /// What a caller must be allowed to do.
    const ACCESS: Access;
    /// The input field that a command line takes without a flag.
    const POSITIONAL: Option<&'static str>;
    /// Whether a surface looks for changes in the folder before it runs.
    const FRESH: bool;
    /// The input. Unknown fields are refused before it is read.
    type Input: DeserializeOwned + JsonSchema;
    /// The output.
    type Output: Serialize + JsonSchema;

    /// Does it.
    ///
    /// # Errors
    /// A [`Failure`] with a stable code, a message and a hint.
    fn run(desk: &Desk<'_>, input: Self::Input) -> Result<Self::Output, Failure>;
}

/// One row of the table: a capability with its types erased.
#[derive(Clone, Copy)]
pub struct Entry {
    /// [`Capability::ID`]
    pub id: &'static str,
    /// [`Capability::SUMMARY`]
    pub summary: &'static str,
    /// [`Capability::DESCRIPTION`]
    pub description: &'static str,
    /// [`Capability::ACCESS`]
    pub access: Access,
    /// [`Capability::POSITIONAL`]
    pub positional: Option<&'static str>,
    /// [`Capability::FRESH`]
    pub fresh: bool,
    /// The JSON Schema of the input.
    pub input_schema: fn() -> Schema,
    /// The JSON Schema of the output.
    pub output_schema: fn() -> Schema,
    /// JSON in, JSON out.
    pub run: fn(&Desk<'_>, Value) -> Result<Value, Failure>,
}

impl Entry {
    const fn of<C: Capability>() -> Entry {
        Entry {
            id: C::ID,
            summary: C::SUMMARY,
            description: C::DESCRIPTION,
            access: C::ACCESS,
            positional: C::POSITIONAL,
            fresh: C::FRESH,
            input_schema: || bounded(schema_for!(C::Input)),
            output_schema: || without_null(schema_for!(C::Output)),
            run: run_json::<C>,
        }
    }

    /// Refuses an input with a list or text that is larger than its schema says. [`Entry::run`]
    /// does so too; this costs nothing else.
    ///
    /// # Errors
    /// [`Failure::wrong_use`] naming the field and the limit.
    pub fn check_sizes(&self, input: &Value) -> Result<(), Failure> {
        check_sizes(input, (self.input_schema)().as_value())
    }

    /// The name without its family: `search`.
    pub fn name(&self) -> &'static str {
        self.id.rsplit('.').next().unwrap_or(self.id)
    }
}

/// Every ability, in the order in which help lists them.
pub fn table() -> &'static [Entry] {
    const TABLE: &[Entry] = &[
        Entry::of::<Search>(),
        Entry::of::<ContextPack>(),
        Entry::of::<Related>(),
        Entry::of::<Read>(),
        Entry::of::<Links>(),
        Entry::of::<Verify>(),
        Entry::of::<Status>(),
        Entry::of::<Rebuild>(),
    ];
    TABLE
}

/// Absent values are left out of outputs and never null, so their schemas do not allow it.
fn without_null(mut schema: Schema) -> Schema {
    RecursiveTransform(|schema: &mut Schema| {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_string(), only);
            }
        }
        if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
            if let [only] = choices.as_slice()
                && let Some(only) = only.as_object().cloned()
            {
                schema.remove("anyOf");
                for (key, value) in only {
                    schema.insert(key, value);
                }
            }
        }
        schema.remove("default");
    })
    .transform(&mut schema);
    schema
}

fn run_json<C: Capability>(desk: &Desk<'_>, input: Value) -> Result<Value, Failure> {
    let schema = bounded(schema_for!(C::Input));
    check_sizes(&input, schema.as_value())?;
    check_fields(&input, schema.as_value())?;
    let input: C::Input = serde_json::from_value(input).map_err(|error| {
        Failure::wrong_use(format!("the input is not as expected: {error}"), "")
    })?;
    let output = C::run(desk, input)?;
    serde_json::to_value(output)
        .map_err(|error| Failure::internal(format!("the answer cannot be written: {error}")))
}
