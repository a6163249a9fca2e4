//! Steps that change the vault as people, editors and other programs do.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::Step;
use crate::actions::act;
use crate::world::{Answer, Trouble, World};

/// Writes a file: `content` or `content_hex`, with its old time if `keep_mtime`.
pub(super) fn write(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = world.path(step.text("path")?);
    let bytes = match step.text("content_hex") {
        Ok(hex) => from_hex(hex)?,
        Err(_) => step.text("content")?.as_bytes().to_vec(),
    };
    let time = fs::metadata(&path).and_then(|facts| facts.modified());
    make_folder(&path)?;
    fs::write(&path, bytes)?;
    if step.flag("keep_mtime") {
        set_time(&path, time?)?;
    }
    done(world)
}

/// Removes a file, or a folder with all in it.
pub(super) fn delete(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = world.path(step.text("path")?);
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(&path)?;
    } else {
        fs::remove_file(&path)?;
    }
    done(world)
}

/// Renames or moves a file or folder.
pub(super) fn rename(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let (from, to) = (world.path(step.text("frm")?), world.path(step.text("to")?));
    make_folder(&to)?;
    fs::rename(from, to)?;
    done(world)
}

/// Moves a file or folder to a place outside the vault.
pub(super) fn move_out(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let from = world.path(step.text("path")?);
    fs::rename(from, world.place.join("moved out"))?;
    done(world)
}

/// Saves as editors do: a temporary file beside it, renamed over; or, with the style
/// `rename_old_to_backup`, the old file renamed and a new one written.
pub(super) fn atomic_save(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = step.text("path")?;
    let content = step.text("content")?;
    let target = world.path(path);
    if step.text("style") == Ok("rename_old_to_backup") {
        fs::rename(&target, world.path(&format!("{path}~")))?;
        world.seen()?;
        fs::write(&target, content)?;
    } else {
        let temporary = world.path(&format!("{path}.tmp"));
        fs::write(&temporary, content)?;
        world.seen()?;
        fs::rename(&temporary, &target)?;
    }
    done(world)
}

/// Truncates a file and writes its parts; between them changes are taken in, and the steps that
/// go with it are done.
pub(super) fn slow_write(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = world.path(step.text("path")?);
    let parts = step.get("parts").and_then(Value::as_array);
    let during = std::mem::take(&mut world.during);
    let mut file = File::create(&path)?;
    for part in parts.into_iter().flatten().filter_map(Value::as_str) {
        file.write_all(part.as_bytes())?;
        file.flush()?;
        world.seen()?;
        for other in &during {
            meanwhile(world, other)?;
        }
    }
    done(world)
}

/// Does a step while another is at work; its first failure is what counts.
fn meanwhile(world: &mut World, step: &Step) -> Result<(), Trouble> {
    let output = match act(world, step) {
        Ok(output) => Ok(output),
        Err(Trouble::Said(failure)) => Err(failure),
        Err(trouble) => return Err(trouble),
    };
    let name = step.name.clone().unwrap_or_default();
    let failed = world.answers.get(&name).is_some_and(|a| a.output.is_err());
    if !failed {
        let took = Duration::ZERO;
        let model = None;
        let answer = Answer {
            output,
            took,
            model,
        };
        world.answers.insert(name, answer);
    }
    Ok(())
}

/// A file with a size and no blocks: what a cloud leaves of a file that it took away.
pub(super) fn sparse(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = world.path(step.text("path")?);
    fs::remove_file(&path)?;
    File::create(&path)?.set_len(step.number_or("size", 4096))?;
    done(world)
}

/// The mount point of a drive that is not there.
pub(super) fn empty_root(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    fs::rename(&world.root, world.place.join("unmounted"))?;
    fs::create_dir(&world.root)?;
    done(world)
}

/// The drive is back.
pub(super) fn restore_root(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    fs::remove_dir(&world.root)?;
    fs::rename(world.place.join("unmounted"), &world.root)?;
    done(world)
}

/// Sets the time of a file: `now`, or a day and time in UTC (`2031-08-01T00:00:00Z`).
pub(super) fn utime(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let text = step.text("mtime")?;
    let time = match text {
        "now" => SystemTime::now(),
        _ => moment(text).ok_or_else(|| format!("“{text}” is no time"))?,
    };
    set_time(&world.path(step.text("path")?), time)?;
    done(world)
}

/// Gives every file the time of now.
pub(super) fn touch_all(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    touch_below(&world.root)?;
    done(world)
}

fn touch_below(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            touch_below(&path)?;
        } else {
            set_time(&path, SystemTime::now())?;
        }
    }
    Ok(())
}

/// Takes permissions away, or gives them: `mode` in octal digits.
#[cfg(unix)]
pub(super) fn chmod(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = u32::from_str_radix(step.text("mode")?, 8).map_err(|e| e.to_string())?;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(world.path(step.text("path")?), permissions)?;
    done(world)
}

/// Makes a symbolic link.
#[cfg(unix)]
pub(super) fn symlink(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = world.path(step.text("path")?);
    make_folder(&path)?;
    std::os::unix::fs::symlink(step.text("target")?, path)?;
    done(world)
}

/// Not on this system.
#[cfg(not(unix))]
pub(super) fn chmod(_: &mut World, _: &Step) -> Result<Value, Trouble> {
    Err("there are no such permissions on this system"
        .to_string()
        .into())
}

/// Not on this system.
#[cfg(not(unix))]
pub(super) fn symlink(_: &mut World, _: &Step) -> Result<Value, Trouble> {
    Err("links are not made on this system".to_string().into())
}

fn done(_: &mut World) -> Result<Value, Trouble> {
    Ok(Value::Null)
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn set_time(path: &Path, time: SystemTime) -> std::io::Result<()> {
    File::options().append(true).open(path)?.set_modified(time)
}

/// The moment that `2031-08-01T00:00:00Z` means.
fn moment(text: &str) -> Option<SystemTime> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let days = u64::try_from(lorewell_text::Day::parse(day)?.to_epoch()).ok()?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

fn from_hex(hex: &str) -> Result<Vec<u8>, String> {
    let byte = |at: usize| {
        let digits = hex.get(at..at + 2)?;
        u8::from_str_radix(digits, 16).ok()
    };
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    bytes.ok_or_else(|| format!("“{hex}” is no hex"))
}
