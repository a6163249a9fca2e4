//! Writes the image of a segment file: first the passages, then term after term in byte order.

use crate::format::{
    BLOCK, GROUP, HEADER, HEADER_SUMMED, Header, checksum, header_checksum, write_varint,
};
use crate::forward::ForwardBuilder;
use crate::length;
use crate::postings::Encoder;

/// What a segment keeps of a passage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    pub(crate) passage: u32,
    pub(crate) tie: u64,
    /// The encoded length.
    pub(crate) length: u8,
}

/// The image of a segment in the making.
pub(crate) struct Image {
    header: Header,
    out: Vec<u8>,
    postings_start: usize,
    encoder: Encoder,
    forward: ForwardBuilder,
    dictionary: Vec<u8>,
    groups: Vec<u8>,
    frequencies: Vec<u8>,
    hashes: Vec<u8>,
    previous: Vec<u8>,
}

impl Image {
    /// Starts an image of these passages, of which the ids ascend strictly.
    pub(crate) fn new(documents: &[Document]) -> Self {
        let mut out = vec![0; HEADER];
        out.extend(documents.iter().map(|document| document.length));
        out.extend(
            documents
                .iter()
                .flat_map(|document| document.passage.to_le_bytes()),
        );
        out.extend(
            documents
                .iter()
                .flat_map(|document| document.tie.to_le_bytes()),
        );
        let header = Header {
            passages: documents.len() as u64,
            total_length: documents
                .iter()
                .map(|document| u64::from(length::decode(document.length)))
                .sum(),
            ..Header::default()
        };
        let postings_start = out.len();
        Self {
            header,
            out,
            postings_start,
            encoder: Encoder::default(),
            forward: ForwardBuilder::new(documents.len()),
            dictionary: Vec::new(),
            groups: Vec::new(),
            frequencies: Vec::new(),
            hashes: Vec::new(),
            previous: Vec::new(),
        }
    }

    /// Adds a posting of the term that [`Image::end_term`] will name; documents ascend.
    pub(crate) fn posting(&mut self, doc: u32, tf: u8) {
        self.encoder.push(doc, tf);
        self.forward.posting(doc);
    }

    /// Ends a term; terms ascend in byte order. One without postings is left out.
    pub(crate) fn end_term(&mut self, term: &[u8]) {
        let start = self.out.len();
        let count = self.encoder.write(&mut self.out);
        if count == 0 {
            return;
        }
        let shared = if self.header.terms.is_multiple_of(GROUP as u64) {
            self.groups
                .extend_from_slice(&(self.dictionary.len() as u64).to_le_bytes());
            self.groups
                .extend_from_slice(&((start - self.postings_start) as u64).to_le_bytes());
            0
        } else {
            let shared = self
                .previous
                .iter()
                .zip(term)
                .take_while(|(a, b)| a == b)
                .count();
            write_varint(&mut self.dictionary, shared as u64);
            shared
        };
        write_varint(&mut self.dictionary, (term.len() - shared) as u64);
        self.dictionary.extend_from_slice(&term[shared..]);
        write_varint(&mut self.dictionary, u64::from(count));
        write_varint(&mut self.dictionary, (self.out.len() - start) as u64);
        self.forward.end_term(term);
        self.frequencies.extend_from_slice(&count.to_le_bytes());
        self.hashes
            .extend_from_slice(&blake3::hash(term).as_bytes()[..8]);
        self.previous.clear();
        self.previous.extend_from_slice(term);
        self.header.terms += 1;
        self.header.postings += u64::from(count);
    }

    /// The finished file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.header.postings_bytes = (self.out.len() - self.postings_start) as u64;
        self.header.dictionary_bytes = self.dictionary.len() as u64;
        self.out.extend_from_slice(&self.dictionary);
        self.out.extend_from_slice(&self.groups);
        self.header.forward_bytes = self.forward.write(&mut self.out);
        self.out.extend_from_slice(&self.frequencies);
        self.out.extend_from_slice(&self.hashes);
        let checksums: Vec<u8> = self.out[HEADER..]
            .chunks(BLOCK)
            .flat_map(|block| checksum(block).to_le_bytes())
            .collect();
        let header = self.header.encode();
        self.out[..HEADER_SUMMED].copy_from_slice(&header);
        self.out[HEADER_SUMMED..HEADER].copy_from_slice(&header_checksum(&header, &checksums));
        self.out.extend_from_slice(&checksums);
        self.out
    }
}
