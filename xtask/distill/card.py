"""Writes the model card of newly made weights: what they are, how they were made, from what.

    python card.py WORK OUT

What the model can do is not in it: `cargo run --release -p lorewell-embed --example measure` says
that of the weights in the crate, so they are put there first.
"""

import json
import sys
from pathlib import Path

import sources
import train

CARD = """\
# static-en-256

A table of word vectors for English, made by `cargo xtask distill`.

| | |
| --- | --- |
| Kind | static embedding: one vector a token, no network |
| Language | English only |
| Vocabulary | {tokens:,} WordPiece tokens (uncased), `vocab.txt`, one a line |
| Vector | {dimension} numbers, unit length, compared by cosine |
| Weights | `{name}`: `embeddings` U8 [{tokens}, {half}], `scales` F32 [{tokens}] |
| SHA-256 of the weights | `{sha256}` |
| Teacher | {teacher} |

## How it was made

1. {texts:,} texts of at most 60 words and {pairs:,} pairs of them were read from the packages below.
2. The teacher gave a vector for each text and each token of the vocabulary; all were reduced to
   {dimension} dimensions by principal component analysis of the texts' vectors.
3. Ridge regression fitted the tokens' rows, weighted by a/(a + frequency) with a = {sif}, to the
   teacher's vectors of the texts, starting from its vectors of the tokens.
4. {steps:,} steps of Adam on batches of {batch:,} pairs: each text has to find its partner among all,
   wrong answers that the teacher finds closer than the right one left out, and the similarities have
   to be like the teacher's.
5. {fitted:.0%} of the fitted rows and {trained:.0%} of the trained ones were added up, and the
   {common} directions that texts have most in common taken out.
6. Each row was rounded to whole numbers of −{top} to {top}, with a scale of its own: the one that leaves
   the least squared error.

The same packages give the same weights, byte by byte, on the same kind of machine with one thread of
linear algebra. The vocabulary is a given.

## Sources

The teacher: {teacher}, {teacher_licence}. No text of a test collection was used.

{table}
"""


def main(work, out):
    work, out = Path(work), Path(out)
    weights = out / train.NAME
    header_bytes = int.from_bytes(weights.read_bytes()[:8], "little")
    header = json.loads(weights.read_bytes()[8 : 8 + header_bytes])
    tokens, half = header["embeddings"]["shape"]
    sha256 = sources.digest(weights)
    card = CARD.format(
        tokens=tokens,
        dimension=2 * half,
        half=half,
        name=weights.name,
        sha256=sha256,
        teacher="all-MiniLM-L6-v2 (sentence-transformers)",
        teacher_licence="Apache-2.0",
        texts=sum(1 for _ in open(work / "texts.jsonl")),
        pairs=sum(1 for _ in open(work / "pairs.txt")),
        sif=train.SIF,
        steps=train.STEPS,
        batch=train.BATCH,
        fitted=train.FITTED,
        trained=1 - train.FITTED,
        common=train.COMMON,
        top=train.TOP,
        table=sources.table(),
    )
    (out / "MODEL_CARD.md").write_text(card)
    print(f"{weights}\nSHA-256 {sha256}")


if __name__ == "__main__":
    main(*sys.argv[1:])
