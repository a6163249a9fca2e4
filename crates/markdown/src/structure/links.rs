//! Links and pictures: from the parser's events to what they point at.

use std::ops::Range;

use pulldown_cmark::LinkType;

use super::Walk;
use crate::target;
use crate::{Link, LinkKind};

/// An open link or picture.
pub(super) struct OpenLink {
    pub(super) wiki: bool,
    pub(super) embed: bool,
    pub(super) destination: String,
    /// Whether its inner text is a label rather than the target itself.
    pub(super) labelled: bool,
    pub(super) label: String,
    pub(super) range: Range<usize>,
    /// Whether the address itself is its text.
    pub(super) bare: bool,
    pub(super) inner_end: usize,
}

impl Walk<'_> {
    pub(super) fn start_link(
        &mut self,
        link_type: LinkType,
        destination: &str,
        range: Range<usize>,
        embed: bool,
    ) {
        self.id = None;
        let wiki = matches!(link_type, LinkType::WikiLink { .. });
        self.links.push(OpenLink {
            wiki,
            embed,
            destination: destination.to_owned(),
            labelled: link_type != LinkType::WikiLink { has_pothole: false },
            label: String::new(),
            inner_end: range.start,
            range,
            bare: matches!(link_type, LinkType::Autolink | LinkType::Email),
        });
    }

    pub(super) fn end_link(&mut self, range: Range<usize>) {
        let Some(link) = self.links.pop() else { return };
        self.out.solid.push(range.clone());
        if let Some(outer) = self.links.last_mut() {
            outer.inner_end = range.end;
            if outer.labelled {
                outer.label.push_str(&link.label);
            }
        }
        if link.destination.starts_with("data:") {
            self.hide_data(&link);
        }
        let target = match (link.bare, link.wiki) {
            (true, _) => None,
            (_, true) => target::wiki(&link.destination),
            (_, false) => target::markdown(&link.destination),
        };
        let Some(target) = target else { return };
        let label = link.label.trim();
        self.out.links.push(Link {
            kind: if link.wiki {
                LinkKind::Wiki
            } else {
                LinkKind::Markdown
            },
            embed: link.embed,
            target: target.note,
            headings: target.headings,
            block: target.block,
            label: (!label.is_empty()).then(|| label.to_owned()),
            range: link.range,
        });
    }

    /// Hides the address of a picture that is its own data, with the brackets around it.
    pub(super) fn hide_data(&mut self, link: &OpenLink) {
        let tail = link.inner_end.max(link.range.start)..link.range.end;
        if let Some(found) = memchr::memmem::find(self.slice(&tail).as_bytes(), b"](") {
            self.out.hidden.push(tail.start + found..tail.end);
        }
    }
}
