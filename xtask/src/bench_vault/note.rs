//! The text of one note: properties, headings, paragraphs, lists, tables, code, links.

use std::fmt::Write as _;

use super::chance::Chance;
use super::plan::{Plan, Planned, date};
use super::words::{Script, Topic, capitalized};

/// What a vault holds, counted while it is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) sections: usize,
    pub(super) links: usize,
    pub(super) tables: usize,
    pub(super) fences: usize,
    pub(super) tags: usize,
    pub(super) cjk_notes: usize,
}

/// Writes the note at `index` of the plan.
pub(super) fn write(plan: &Plan, index: usize, chance: &mut Chance, counts: &mut Counts) -> String {
    let note = &plan.notes[index];
    let mut pen = Pen {
        plan,
        note,
        topic: &plan.topics[note.topic],
        chance,
        counts,
        text: String::with_capacity(note.length + 400),
        chars: 0,
    };
    pen.properties();
    if pen.chance.percent(60) {
        let title = note.title.clone();
        pen.block(&format!("# {title}\n"));
    }
    pen.sections();
    if note.script != Script::Latin {
        pen.counts.cjk_notes += 1;
    }
    pen.text
}

/// A note under the pen.
struct Pen<'a> {
    plan: &'a Plan,
    note: &'a Planned,
    topic: &'a Topic,
    chance: &'a mut Chance,
    counts: &'a mut Counts,
    text: String,
    chars: usize,
}

impl Pen<'_> {
    /// Characters that are still to be written.
    fn room(&self) -> usize {
        self.note.length.saturating_sub(self.chars)
    }

    /// Puts down a block and the empty line after it.
    fn block(&mut self, block: &str) {
        self.chars += block.chars().count() + 1;
        self.text.push_str(block);
        self.text.push('\n');
    }

    fn properties(&mut self) {
        if self.note.length < 300 || !self.chance.percent(65) {
            return;
        }
        let words = &self.plan.words;
        let mut block = String::from("---\ntags:\n");
        for _ in 0..self.chance.between(1, 3) {
            self.counts.tags += 1;
            let rank = self.chance.below(12);
            let tag = words.topic_name(self.topic, rank);
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(block, "  - {tag}");
        }
        if self.chance.percent(20) {
            let alias = capitalized(words.topic_word(self.topic, self.chance));
            let _ = writeln!(
                block,
                "aliases: [{alias} {}]",
                words.word(self.topic, self.chance)
            );
        }
        if self.chance.percent(70) {
            let _ = writeln!(block, "created: {}", date(self.note.day));
        }
        if self.chance.percent(30) {
            let status = ["open", "waiting", "done"][self.chance.below(3)];
            let _ = writeln!(block, "status: {status}");
        }
        block.push_str("---\n");
        self.block(&block);
    }

    fn sections(&mut self) {
        let mut deep = false;
        while self.room() > 0 {
            if self.room() > 350 && self.note.length > 700 {
                let level = if deep && self.chance.percent(40) {
                    "###"
                } else {
                    "##"
                };
                deep = true;
                let heading = self.heading();
                self.block(&format!("{level} {heading}\n"));
                self.counts.sections += 1;
            }
            let end = self.chars + self.chance.between(400, 1_100);
            while self.room() > 0 && self.chars < end {
                self.any_block();
            }
        }
    }

    fn any_block(&mut self) {
        let room = self.room();
        let kind = self.chance.below(100);
        let block = match kind {
            _ if room < 260 => self.paragraph(room),
            0..66 => {
                let length = self.chance.between(120, 620).min(room);
                self.paragraph(length)
            }
            66..82 => self.list(if kind < 78 { "- " } else { "- [ ] " }),
            82..86 => self.list("1. "),
            86..90 => self.table(),
            90..95 => self.fence(),
            95..98 => {
                let quote = self.paragraph(room.min(240));
                format!("> {quote}")
            }
            _ => {
                let body = self.paragraph(room.min(200));
                format!("> [!note] {}\n> {body}", self.heading())
            }
        };
        self.block(&block);
    }

    fn heading(&mut self) -> String {
        let mut heading = self.phrase(self.note.script);
        if self.note.daily && self.chance.percent(40) {
            heading = ["Log", "Meetings", "Ideas", "Done"][self.chance.below(4)].to_owned();
        }
        heading
    }

    fn phrase(&mut self, script: Script) -> String {
        if script != Script::Latin {
            let length = self.chance.between(3, 7);
            let characters = (0..length).map(|_| self.plan.words.character(script, self.chance));
            return characters.collect();
        }
        let mut phrase = capitalized(self.plan.words.topic_word(self.topic, self.chance));
        for _ in 0..self.chance.between(0, 3) {
            phrase.push(' ');
            phrase.push_str(self.plan.words.word(self.topic, self.chance));
        }
        phrase
    }

    /// Sentences of about `length` characters in all, and a line's end.
    fn paragraph(&mut self, length: usize) -> String {
        let mut paragraph = String::new();
        let mut chars = 0;
        while chars + 8 < length {
            let sentence = self.sentence(length - chars);
            chars += sentence.chars().count() + 1;
            paragraph.push_str(&sentence);
            paragraph.push(' ');
        }
        paragraph.truncate(paragraph.trim_end().len());
        paragraph.push('\n');
        paragraph
    }

    /// A sentence of at most about `room` characters.
    fn sentence(&mut self, room: usize) -> String {
        // Notes in an unspaced script hold Latin sentences too.
        let script = match self.note.script {
            Script::Latin => Script::Latin,
            _ if self.chance.percent(15) => Script::Latin,
            script => script,
        };
        if script != Script::Latin {
            return self.unspaced(script, room);
        }
        let mut sentence = capitalized(self.plan.words.word(self.topic, self.chance));
        let count = self.chance.between(5, 22);
        for _ in 1..count {
            if sentence.len() + 6 > room {
                break;
            }
            sentence.push(' ');
            self.piece(&mut sentence);
            if self.chance.percent(7) {
                sentence.push(',');
            }
        }
        sentence.truncate(sentence.trim_end_matches(',').len());
        sentence.push('.');
        sentence
    }

    /// A word, now and then dressed: a link, emphasis, a number, code, a tag.
    fn piece(&mut self, sentence: &mut String) {
        let word = self.plan.words.word(self.topic, self.chance);
        let _ = match self.chance.below(1_000) {
            0..9 => {
                let link = self.link();
                sentence.push_str(&link);
                Ok(())
            }
            9..17 => write!(sentence, "**{word}**"),
            17..23 => write!(sentence, "*{word}*"),
            23..30 => write!(sentence, "{}", self.chance.between(2, 4_000)),
            30..33 => write!(sentence, "`{word}_{}`", self.chance.below(90)),
            33..36 => write!(sentence, "{}", date(self.chance.below(2_500))),
            36..38 => {
                self.counts.tags += 1;
                write!(sentence, "#{word}")
            }
            38..40 => write!(sentence, "[{word}](https://example.org/{word})"),
            _ => {
                sentence.push_str(word);
                Ok(())
            }
        };
    }

    fn link(&mut self) -> String {
        let Some(target) = self.plan.neighbour(self.note.topic, self.chance) else {
            return String::new();
        };
        self.counts.links += 1;
        let title = &target.title;
        match self.chance.below(10) {
            0..6 => format!("[[{title}]]"),
            6..9 => format!(
                "[[{title}|{}]]",
                self.plan.words.word(self.topic, self.chance)
            ),
            _ => format!("[[{title}#{}]]", self.phrase(target.script)),
        }
    }

    fn unspaced(&mut self, script: Script, room: usize) -> String {
        let length = self.chance.between(10, 38).min(room.max(4));
        let mut sentence = String::new();
        for at in 1..length {
            sentence.push(self.plan.words.character(script, self.chance));
            if at % 9 == 0 && self.chance.percent(60) {
                sentence.push(if script == Script::Chinese {
                    '，'
                } else {
                    '、'
                });
            }
        }
        sentence.push('。');
        sentence
    }

    fn list(&mut self, marker: &str) -> String {
        let mut list = String::new();
        for _ in 0..self.chance.between(3, 7) {
            if list.len() > self.room() {
                break;
            }
            let length = self.chance.between(20, 90);
            let indent = if !list.is_empty() && self.chance.percent(20) {
                "    "
            } else {
                ""
            };
            let item = self.sentence(length);
            let _ = writeln!(list, "{indent}{marker}{}", item.trim_end_matches('.'));
        }
        list
    }

    fn table(&mut self) -> String {
        self.counts.tables += 1;
        let columns = self.chance.between(2, 4);
        let mut table = self.row(columns);
        table.push_str(&"| --- ".repeat(columns));
        table.push_str("|\n");
        for _ in 0..self.chance.between(3, 8) {
            if table.len() > self.room() {
                break;
            }
            let row = self.row(columns);
            table.push_str(&row);
        }
        table
    }

    fn row(&mut self, columns: usize) -> String {
        let mut row = String::new();
        for _ in 0..columns {
            let word = self.plan.words.word(self.topic, self.chance);
            let _ = write!(row, "| {word} {} ", self.chance.below(500));
        }
        row.push_str("|\n");
        row
    }

    fn fence(&mut self) -> String {
        self.counts.fences += 1;
        let language = ["rust", "python", "sh", ""][self.chance.below(4)];
        let mut fence = format!("```{language}\n");
        for _ in 0..self.chance.between(2, 9) {
            if fence.len() > self.room() {
                break;
            }
            let words = &self.plan.words;
            let name = words.topic_word(self.topic, self.chance);
            let call = words.topic_word(self.topic, self.chance);
            let _ = writeln!(fence, "let {name} = {call}({});", self.chance.below(100));
        }
        fence.push_str("```\n");
        fence
    }
}
