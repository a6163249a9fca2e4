//! tantivy: one weighted field with frequencies, one thread, our tokenizer.

use std::path::Path;

use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::notes::Passage;
use crate::{Engine, Failure};

/// Memory for the writer, so that it makes one segment of the usual vault.
const WRITER_BYTES: usize = 400_000_000;

pub struct Theirs {
    searcher: Searcher,
    words: Field,
    numbers: Vec<Column<u64>>,
}

impl Engine for Theirs {
    const NAME: &'static str = "tantivy 0.27";

    fn build(passages: &[Passage], folder: &Path) -> Result<Self, Failure> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("lorewell")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let words = schema.add_text_field(
            "words",
            TextOptions::default().set_indexing_options(indexing),
        );
        let number = schema.add_u64_field("number", FAST);
        let index = Index::create_in_dir(folder, schema.build())?;
        index.tokenizers().register("lorewell", OurTokenizer);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
        for (at, passage) in (0..).zip(passages) {
            let mut document = TantivyDocument::new();
            document.add_u64(number, at);
            for (times, text) in [(3, &passage.title), (2, &passage.path), (1, &passage.body)] {
                (0..times).for_each(|_| document.add_text(words, text));
            }
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let searcher = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?
            .searcher();
        let readers = searcher.segment_readers();
        let numbers = readers
            .iter()
            .map(|reader| reader.fast_fields().u64("number"))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            searcher,
            words,
            numbers,
        })
    }

    fn search(&self, terms: &[String], limit: usize) -> Result<Vec<u32>, Failure> {
        let clause = |term: &String| {
            let term = Term::from_field_text(self.words, term);
            let query: Box<dyn Query> =
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (Occur::Should, query)
        };
        let query = BooleanQuery::new(terms.iter().map(clause).collect());
        let hits = self
            .searcher
            .search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let number = |place: tantivy::DocAddress| {
            self.numbers[place.segment_ord as usize].first(place.doc_id)
        };
        Ok(hits
            .into_iter()
            .filter_map(|(_, place)| Some(number(place)? as u32))
            .collect())
    }
}

/// Lorewell's tokenizer for tantivy.
#[derive(Clone)]
struct OurTokenizer;

/// The terms of one text, one behind the other.
struct Terms {
    text: String,
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Tokenizer for OurTokenizer {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms {
        let mut terms = Terms {
            text: String::new(),
            ends: Vec::new(),
            next: 0,
            token: Token::default(),
        };
        lorewell_text::Tokenizer::new().tokens(text, &mut |token| {
            terms.text.push_str(token.term);
            terms.ends.push(terms.text.len());
        });
        terms
    }
}

impl TokenStream for Terms {
    fn advance(&mut self) -> bool {
        let Some(end) = self.ends.get(self.next) else {
            return false;
        };
        let start = self
            .next
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        self.token.text.clear();
        self.token.text.push_str(&self.text[start..*end]);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
