//! Steps about an embedding server, and about what was made of its vectors.

use std::time::{Duration, Instant};

use lorewell_capabilities::Failure;
use serde_json::{Value, json};

use crate::Step;
use crate::embedding::{Embedding, bring_up, embed_until_quiet, start_to_kill};
use crate::world::{Trouble, World};

/// However busy the machine is, the stub has seen a call by then.
const DEADLINE: Duration = Duration::from_secs(60);

fn embedding(world: &mut World) -> Result<&mut Embedding, String> {
    { world.embedding.as_mut() }.ok_or_else(|| "the case has no endpoint".to_string())
}

/// The stub behaves in another way from now on.
pub(super) fn embedder(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let root = world.root.clone();
    embedding(world)?.set(step, &root)?;
    Ok(Value::Null)
}

/// Everything is embedded by the model that the settings name.
pub(super) fn reembed(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    embedding(world)?.is_switching = false;
    bring_up(&world.host()?, true)?;
    Ok(Value::Null)
}

/// Tries an address of the stub.
pub(super) fn try_config(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let tried = embedding(world)?.try_address(step.text("base_url")?);
    tried.map_err(|message| {
        Trouble::Said(Failure {
            code: "endpoint_failed".to_string(),
            message,
            hint: String::new(),
        })
    })
}

/// Another process embeds, and is killed in the middle of it.
pub(super) fn kill_during(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    if step.text("step")? != "reembed" {
        return Err("only “reembed” can be killed here".to_string().into());
    }
    let (root, index) = (world.root.clone(), world.index_folder().to_path_buf());
    // All is made anew by a model that was not there yet, and slowly.
    let again = json!({ "do": "embedder", "model": "killed", "seed": 77, "delay_ms": 200 });
    let again = Step::of(&again)?;
    embedding(world)?.set(&again, &root)?;
    let before = embedding(world)?.calls_since(None)?.len();
    let mut child = start_to_kill(&root, &index, embedding(world)?)?;
    let until = Instant::now() + DEADLINE;
    while embedding(world)?.calls_since(None)?.len() == before && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    let made = embedding(world)?.calls_since(None)?.len() - before;
    // Whole as it was, and the next one goes on.
    let snapshot = world.snapshot()?;
    snapshot.verify().map_err(|error| error.to_string())?;
    embedding(world)?.is_switching = false;
    bring_up(&world.host()?, true)?;
    let status = world.models()?;
    let waits: u64 = status.iter().map(|model| model.missing).sum();
    match (made, waits) {
        (0, _) => Err("nothing was killed in the middle".to_string().into()),
        (_, 0) => Ok(json!({ "calls": made })),
        (_, waits) => Err(format!("{waits} passages still wait").into()),
    }
}

/// Lets time pass, while an update in the background goes on.
pub(super) fn sleep(_: &mut World, step: &Step) -> Result<Value, Trouble> {
    std::thread::sleep(Duration::from_millis(step.number_or("ms", 0)));
    Ok(Value::Null)
}

/// An update that goes on while the next steps are done.
pub(super) fn index_in_background(world: &mut World) -> Result<Value, Trouble> {
    let host = world.host()?;
    let thread = std::thread::spawn(move || bring_up(&host, true));
    embedding(world)?.background = Some(thread);
    Ok(Value::Null)
}

/// Waits for what goes on in the background, and embeds what waits then.
pub(super) fn settle(world: &mut World) -> Result<(), Trouble> {
    if let Some(thread) = embedding(world)?.background.take() {
        let outcome = thread.join();
        outcome.map_err(|_| "the update in the background panicked".to_string())??;
    }
    world.settle()?;
    embed_until_quiet(&world.host()?)?;
    Ok(())
}

/// The vectors that the index holds, beside the text that each is of: `[said, vector]`.
pub(super) fn vector_audit(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    Ok(json!(world.vectors()?))
}
