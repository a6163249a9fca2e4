//! What links where, and which notes are related: over small vaults that each show one thing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod links;
mod related;

use lorewell_engine::{
    EngineSettings, Host, Listed, NoteLinks, Patience, Piece, Quiet, RelatedNotes, RelatedQuestion,
    Scope, SharedTarget,
};
use lorewell_testkit::TempHome;

struct World {
    home: TempHome,
    settings: EngineSettings,
}

impl World {
    fn new(fixture: &str) -> World {
        World {
            home: TempHome::new(fixture),
            settings: EngineSettings::default(),
        }
    }

    fn host(&self) -> Host {
        let (root, index) = (self.home.vault.root(), self.home.index_dir());
        let host = Host::open("Notes", root, &index, self.settings.clone()).unwrap();
        host.refresh(Patience::Read, &Quiet).unwrap();
        host
    }

    fn links(&self, note: &str) -> NoteLinks {
        let host = self.host();
        host.view().unwrap().links_of(note, ALL).unwrap()
    }

    fn related(&self, note: &str) -> RelatedNotes {
        self.related_in(note, Scope::default())
    }

    fn related_in(&self, note: &str, scope: Scope) -> RelatedNotes {
        let host = self.host();
        let question = RelatedQuestion {
            note: note.to_string(),
            limit: 10,
            scope,
        };
        host.view().unwrap().related(&question).unwrap()
    }
}

const ALL: Piece = Piece {
    offset: 0,
    limit: 1000,
};

fn backlinks(links: &NoteLinks) -> Vec<String> {
    let shown = links.backlinks.items.iter().map(|link| {
        let line = link.line_range.map_or(0, |(first, _)| first);
        format!("{}:{line} {}", link.from.path, link.sentence)
    });
    shown.collect()
}

fn targets(list: &Listed<SharedTarget>) -> Vec<String> {
    let shown = list.items.iter().map(|shared| {
        let from: Vec<String> = shared
            .from
            .iter()
            .map(|place| format!("{}:{}", place.note.path, place.line.unwrap_or(0)))
            .collect();
        let notes = shared.notes.join(", ");
        format!(
            "{} [{notes}] {}x from {}",
            shared.target,
            shared.links,
            from.join(" ")
        )
    });
    shown.collect()
}
