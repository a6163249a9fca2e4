//! Ways to answer that are compared: which lanes run and how their lists are joined.

use lorewell_engine::{Fusion, Lane, Request, SearchSettings};

/// A way to answer.
pub struct System {
    /// Its name in tables.
    pub name: String,
    change: Box<dyn Fn(&mut Request) + Send + Sync>,
}

impl System {
    /// The usual request, changed.
    pub fn new(
        name: impl Into<String>,
        change: impl Fn(&mut Request) + Send + Sync + 'static,
    ) -> System {
        System {
            name: name.into(),
            change: Box::new(change),
        }
    }

    /// The engine's defaults: every lane.
    pub fn fused() -> System {
        System::new("fused", |_| {})
    }

    /// The defaults with other settings.
    pub fn with(
        name: impl Into<String>,
        change: impl Fn(&mut SearchSettings) + Send + Sync + 'static,
    ) -> System {
        System::new(name, move |request| change(&mut request.settings))
    }

    /// What these settings give, whatever the defaults are.
    pub fn set(name: impl Into<String>, settings: SearchSettings) -> System {
        System::new(name, move |request| {
            request.lanes.clone_from(&settings.lanes);
            request.settings = settings.clone();
        })
    }

    /// The five that are always compared; `fused` is the third.
    pub fn all() -> Vec<System> {
        vec![
            System::new("text", |r| r.lanes = vec![Lane::Text]),
            System::new("dense", |r| r.lanes = vec![Lane::Dense]),
            System::fused(),
            System::new("title+text", |r| r.lanes = vec![Lane::Title, Lane::Text]),
            System::with("rrf", |s| s.fusion = Fusion::Rrf { k: 60.0 }),
        ]
    }

    /// The request for a question.
    pub fn request(&self, question: &str, limit: usize) -> Request {
        let mut request = Request::new(question);
        request.limit = limit;
        (self.change)(&mut request);
        request
    }
}
