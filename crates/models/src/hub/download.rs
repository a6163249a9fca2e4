//! A file of a repository, fetched piece by piece: what came before a cut is not fetched again.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::exchange::{Method, number, tag};
use super::{Hub, Progress};
use crate::digest::Digests;
use crate::{ModelError, ModelFile};

/// A repository at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) repository: String,
    pub(crate) revision: String,
    /// Paths of its files.
    pub(crate) files: Vec<String>,
}

/// What a hub says of a file before it is fetched.
struct About {
    bytes: u64,
    /// Its hash.
    tag: String,
}

impl Hub {
    /// What a repository has at a revision: a branch, a tag or a commit.
    pub(crate) fn commit(
        &self,
        repository: &str,
        revision: &str,
        progress: &dyn Progress,
    ) -> Result<Commit, ModelError> {
        let path = format!("/api/models/{repository}/revision/{revision}");
        let answer = self.json(&path, progress)?;
        let Some(commit) = answer["sha"].as_str() else {
            return Err(self.failed("its answer names no commit; is that a hub?"));
        };
        let files = answer["siblings"].as_array().into_iter().flatten();
        Ok(Commit {
            repository: answer["id"].as_str().unwrap_or(repository).to_string(),
            revision: commit.to_string(),
            files: files
                .filter_map(|file| file["rfilename"].as_str().map(str::to_string))
                .collect(),
        })
    }

    /// Fetches a file of a repository to its place below `folder`. A file that is there in full is
    /// not fetched again, and one that is there in part is fetched from there on.
    pub(crate) fn fetch(
        &self,
        commit: &Commit,
        path: &str,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<ModelFile, ModelError> {
        let route = format!("/{}/resolve/{}/{path}", commit.repository, commit.revision);
        let about = self.again(progress, || self.about(&route))?;
        let place = folder.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(|source| io(parent, source))?;
        }
        progress.file(path, about.bytes);
        let download = Download {
            hub: self,
            route: &route,
            about: &about,
            part: beside(&place, "part"),
            tag: beside(&place, "etag"),
        };
        if !place.exists() {
            download.run(progress)?;
            fs::rename(&download.part, &place).map_err(|source| io(&place, source))?;
        }
        let digests = Digests::of(&place).map_err(|source| io(&place, source))?;
        if digests.bytes != about.bytes || digests.are(&about.tag) == Some(false) {
            // What came is of no use; the next time it is fetched from its beginning.
            let _ = fs::remove_file(&place);
            let _ = fs::remove_file(&download.tag);
            let path = path.to_string();
            return Err(ModelError::WrongChecksum { path });
        }
        let _ = fs::remove_file(&download.tag);
        progress.at(about.bytes);
        Ok(ModelFile {
            path: path.to_string(),
            bytes: digests.bytes,
            sha256: digests.sha256,
        })
    }

    fn about(&self, route: &str) -> Result<About, ModelError> {
        let response = self.ask(Method::Head, route, None, false)?;
        let response = self.sound(route, response)?;
        let bytes =
            number(&response, "x-linked-size").or_else(|| number(&response, "content-length"));
        let tag = tag(&response, "x-linked-etag").or_else(|| tag(&response, "etag"));
        match (bytes, tag) {
            (Some(bytes), Some(tag)) => Ok(About { bytes, tag }),
            _ => Err(self.failed("it does not say size and hash of a file; is that a hub?")),
        }
    }
}

/// A file on its way.
struct Download<'a> {
    hub: &'a Hub,
    route: &'a str,
    about: &'a About,
    /// What came by now.
    part: PathBuf,
    /// Of which content that is a part.
    tag: PathBuf,
}

impl Download<'_> {
    fn run(&self, progress: &dyn Progress) -> Result<(), ModelError> {
        let is_same = fs::read_to_string(&self.tag).is_ok_and(|tag| tag == self.about.tag);
        if !is_same {
            let _ = fs::remove_file(&self.part);
            fs::write(&self.tag, &self.about.tag).map_err(|source| io(&self.tag, source))?;
        }
        let mut attempt = 1;
        loop {
            let before = self.there();
            if before == self.about.bytes && self.part.exists() {
                return Ok(());
            }
            if let Err(error) = self.piece(before, progress) {
                if self.there() > before {
                    attempt = 1;
                }
                self.hub.pause(error, attempt, progress)?;
                attempt += 1;
            }
        }
    }

    /// How much is there.
    fn there(&self) -> u64 {
        fs::metadata(&self.part).map_or(0, |facts| facts.len())
    }

    /// One answer of the hub, written behind what is there.
    fn piece(&self, there: u64, progress: &dyn Progress) -> Result<(), ModelError> {
        let there = if there > self.about.bytes { 0 } else { there };
        let from = (there > 0).then_some(there);
        let response = self.hub.ask(Method::Get, self.route, from, true)?;
        if response.status().as_u16() == 416 {
            // What is there is no part of what the hub has.
            let _ = fs::remove_file(&self.part);
            return Err(self.hub.unreachable("it has no such part of the file"));
        }
        let response = self.hub.sound(self.route, response)?;
        let goes_on = response.status().as_u16() == 206 && begins_at(&response) == Some(there);
        let mut at = if goes_on { there } else { 0 };
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&self.part)
            .map_err(|source| io(&self.part, source))?;
        file.set_len(at)
            .and_then(|()| std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)))
            .map_err(|source| io(&self.part, source))?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            if progress.stopped() {
                return Err(ModelError::Stopped);
            }
            let read = body.read(&mut buffer).map_err(|error| {
                self.hub
                    .unreachable(&format!("the connection was cut: {error}"))
            })?;
            if read == 0 {
                break;
            }
            at += read as u64;
            if at > self.about.bytes {
                return Err(self.hub.failed("a file is longer than it said"));
            }
            file.write_all(&buffer[..read])
                .map_err(|source| io(&self.part, source))?;
            progress.at(at);
        }
        self.done(&file, at)
    }

    fn done(&self, file: &File, at: u64) -> Result<(), ModelError> {
        file.sync_all().map_err(|source| io(&self.part, source))?;
        if at < self.about.bytes {
            return Err(self.hub.unreachable("the connection was cut"));
        }
        Ok(())
    }
}

/// Where a part of a file begins, as its header says.
fn begins_at(response: &http::Response<ureq::Body>) -> Option<u64> {
    let range = response.headers().get("content-range")?.to_str().ok()?;
    let (first, _) = range.strip_prefix("bytes ")?.split_once('-')?;
    first.trim().parse().ok()
}

fn beside(place: &Path, ending: &str) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!("{name}.{ending}"))
}

fn io(path: &Path, source: std::io::Error) -> ModelError {
    ModelError::Io {
        path: path.to_path_buf(),
        source,
    }
}
