"""Turns the sources into short texts and pairs of texts that belong together.

    python texts.py PACKAGES OUT

`PACKAGES` holds what sources.py fetched. `OUT` gets `texts.jsonl`, one text a line as a JSON string,
`pairs.txt`, two line numbers and the source's number each line, and `vocabulary.jsonl`, the model's
tokens as texts. The same packages give the same files.
"""

import ast
import gzip
import hashlib
import html
import io
import json
import re
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import zstandard

import sources

VOCABULARY = Path(__file__).parents[2] / "crates/embed/models/static-en-256/vocab.txt"
# Texts are cut after this many words: the teacher reads some 1.4 tokens a word.
MOST_WORDS = 60
# A source gives at most this many pairs; which ones, a hash decides.
MOST_PAIRS = 16_000
SPACE = re.compile(r"\s+")
TAG = re.compile(r"<[^>]*>")
ROLE = re.compile(r":[a-z:+-]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`")
SENTENCE_END = re.compile(r"(?<=[a-z0-9)\"'][.!?])\s+(?=[A-Z\"'])")


def plain(text):
    """Without markup and in one line."""
    text = html.unescape(TAG.sub(" ", text))
    text = ROLE.sub(r"\1", text).replace("`", "").replace("**", "")
    return SPACE.sub(" ", text).strip()


def cut(text):
    return " ".join(text.split(" ")[:MOST_WORDS])


def words_of_name(name):
    """`ListUserTags` and `list_user_tags` as words."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return SPACE.sub(" ", re.sub(r"[_.\-]+", " ", name)).strip()


def is_prose(text):
    """Enough words, and most of it letters."""
    letters = sum(letter.isalpha() or letter == " " for letter in text)
    return text.count(" ") >= 5 and letters > 0.85 * len(text)


def halves(text):
    """The sentences of a text in two parts, if it has several."""
    sentences = SENTENCE_END.split(text)
    if len(sentences) < 2 or text.count(" ") < 16:
        return []
    half = (len(sentences) + 1) // 2
    return [(" ".join(sentences[:half]), " ".join(sentences[half:]))]


def order(*parts):
    """A number that looks random and is always the same."""
    return hashlib.sha256("\x00".join(parts).encode()).digest()


def members(path, suffix):
    """Names and contents of the files in an archive, by name."""
    if path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            names = sorted(m.name for m in archive if m.isfile() and m.name.endswith(suffix))
            for name in names:
                yield name, archive.extractfile(name).read()
    else:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(suffix):
                    yield name, archive.read(name)


# Readers: each yields pairs of texts.


def wordnet(path):
    """Words with their definition, definition with examples, words with the more general ones."""
    synsets, order_read = {}, []
    for part in ("noun", "verb", "adj", "adv"):
        for _, data in members(path, f"dict/data.{part}"):
            for line in data.decode("latin-1").splitlines():
                if not line.startswith("  "):
                    read_synset(line, synsets, order_read)
    for key in order_read:
        names, gloss, general = synsets[key]
        parts = gloss.split("; ")
        definition = "; ".join(part for part in parts if not part.startswith('"'))
        yield names, definition
        for example in (part.strip('"') for part in parts if part.startswith('"')):
            if example.count(" ") >= 2:
                yield example, f"{names}: {definition}"
        if general in synsets and order(names)[0] < 32:
            yield f"{names}: {definition}", "{}: {}".format(*synsets[general][:2])


def read_synset(line, synsets, order_read):
    fields, _, gloss = line.partition(" | ")
    fields = fields.split(" ")
    count = int(fields[3], 16)
    names = [re.sub(r"\(\w+\)$", "", name).replace("_", " ") for name in fields[4 : 4 + 2 * count : 2]]
    general = None
    pointers = fields[5 + 2 * count :]
    for symbol, offset, part in zip(pointers[::4], pointers[1::4], pointers[2::4]):
        if symbol == "@" and general is None:
            general = (offset, part)
    key = (fields[0], fields[2])
    synsets[key] = (", ".join(names), gloss.strip(), general)
    order_read.append(key)


def thesaurus(path):
    """A headword and a few of its synonyms, with others of them."""
    for _, data in members(path, "package/words.txt"):
        for line in data.decode().splitlines():
            head, *synonyms = line.strip().split(",")
            synonyms.sort(key=lambda word: order(head, word))
            if len(synonyms) >= 4:
                yield head, ", ".join(synonyms[:6])
            if len(synonyms) >= 24:
                yield f"{head}, {', '.join(synonyms[6:9])}", ", ".join(synonyms[9:19])


ONTOLOGIES = ("CL-ontology-v2026-03-26", "EFO-ontology-v3.90.0", "MONDO-ontology-v2026-05-05",
              "UBERON-ontology-v2026-04-01", "PATO-ontology-v2025-05-14")


def ontology(path):
    """A term with its definition, and with its synonyms."""
    for name, data in members(path, ".json.zst"):
        if not Path(name).name.startswith(ONTOLOGIES):
            continue
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
        for term in json.loads(data).values():
            label = term.get("label", "")
            if term.get("deprecated") or not label:
                continue
            text = plain(term.get("description", ""))
            if text.count(" ") >= 4:
                yield label, text
                yield from halves(cut(text))
            synonyms = sorted(s for s in term.get("synonyms", []) if s.lower() != label.lower())
            if synonyms:
                yield label, ", ".join(synonyms[:3])


def web_services(path):
    """What an operation is called with what it does; members of structures likewise."""
    latest = {}
    for name, data in members(path, "service-2.json.gz"):
        latest[name.split("/")[2]] = data
    for _, data in sorted(latest.items()):
        model = json.loads(gzip.decompress(data))
        title = model["metadata"].get("serviceId", "")
        found = [(f"{title} service", model.get("documentation", ""))]
        found += [(f"{title}: {words_of_name(name)}", operation.get("documentation", ""))
                  for name, operation in model["operations"].items()]
        found += [(f"{title}: {words_of_name(name)}", shape.get("documentation", ""))
                  for name, shape in model["shapes"].items()]
        yield from described(found, 60)


def web_interfaces(path):
    """Likewise of Google's discovery documents."""
    latest = {}
    for name, data in members(path, ".json"):
        if "/documents/" in name:
            latest[Path(name).name.split(".")[0]] = data
    for _, data in sorted(latest.items()):
        model = json.loads(data)
        title = model.get("title", "").removesuffix(" API")
        found = [(title, model.get("description", ""))]
        for name, schema in model.get("schemas", {}).items():
            found.append((f"{title}: {words_of_name(name)}", schema.get("description", "")))
            for field, value in schema.get("properties", {}).items():
                found.append((f"{title}: {words_of_name(name)} {words_of_name(field)}",
                              value.get("description", "")))
        yield from described(found, 60)


def described(found, most):
    """Of names and descriptions the prose, at most so many."""
    found = [(name, plain(text)) for name, text in found if text]
    found = [(name, text) for name, text in found if is_prose(cut(text))]
    found.sort(key=lambda one: order(*one))
    for name, text in found[:most]:
        yield name, text
        yield from halves(cut(text))


def docstrings(path):
    """What a function is called and its summary, with the paragraphs of its description."""
    for name, data in members(path, ".py"):
        if "/tests/" in name or "/externals/" in name or "/_vendor/" in name:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                title = getattr(node, "name", Path(name).stem)
                yield from docstring(words_of_name(title), ast.get_docstring(node))


CODE = re.compile(r"^\s*(>>>|\.\.\.|\.\. |[-=~^*]{3,}|:[a-z]+:)")


def docstring(title, text):
    if not text:
        return
    summary, *rest = re.split(r"\n\s*\n", text)
    summary = plain(summary)
    if summary.count(" ") < 2:
        return
    head = f"{title}: {summary}" if title.strip() else summary
    given = 0
    for paragraph in rest:
        lines = [line for line in paragraph.splitlines() if not CODE.match(line)]
        body = plain(" ".join(lines))
        if is_prose(cut(body)) and body.count(" ") >= 9 and given < 4:
            given += 1
            yield head, body
            if given == 1:
                yield from halves(cut(body))


COMMENT = re.compile(r"/\*\*(.*?)\*/\s*(?:export |declare |readonly |static |function |const )*(\w*)", re.S)


def comments(path):
    """Comments of declarations: what is declared with what is said of it."""
    for _, data in members(path, ".d.ts"):
        for match in COMMENT.finditer(data.decode()):
            text = re.sub(r"^\s*\* ?", "", match[1], flags=re.M)
            text = re.sub(r"```.*?```", " ", text.partition("\n@")[0], flags=re.S)
            text = plain(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
            if is_prose(cut(text)):
                yield words_of_name(match[2]) or text, text
                yield from halves(cut(text))


def factbook(path):
    """A country and a heading with what is said there."""
    for name, data in members(path, ".json"):
        country = json.loads(data)
        if "Government" not in country:
            continue
        title = country["Government"].get("Country name", {})
        title = title.get("conventional short form", {}).get("text") or Path(name).stem
        for section in country.values():
            for heading, entry in section.items():
                text = plain(entry.get("text", "")) if isinstance(entry, dict) else ""
                if is_prose(cut(text)):
                    yield f"{title}: {heading}", text
                    yield from halves(cut(text))


def dialogues(path):
    """What is said with what is answered."""
    for name, data in members(path, ".yml"):
        if "/english/" not in name:
            continue
        before = None
        for line in data.decode().splitlines():
            starts = line.startswith("- - ")
            if not starts and not line.startswith("  - "):
                continue
            said = plain(line[4:].strip().strip("'\""))
            if not starts and before:
                yield before, said
            before = said


READERS = {
    reader.__name__: reader
    for reader in (wordnet, thesaurus, ontology, web_services, web_interfaces, docstrings, comments,
                   factbook, dialogues)
}


def pairs_of(source, path):
    """The source's pairs, no two alike, at most MOST_PAIRS (the word list may have more)."""
    seen, pairs = set(), []
    for left, right in READERS[source.reader](path):
        pair = (cut(plain(left)), cut(plain(right)))
        if all(any(c.isalpha() for c in side) for side in pair) and pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            pairs.append(pair)
    most = int(MOST_PAIRS * source.share)
    if len(pairs) > most:
        pairs = sorted(pairs, key=lambda pair: order(*pair))[:most]
    return pairs


def write_if_new(path, texts):
    """A file that is as it would be keeps its time, so that what was made of it need not be made again."""
    data = "".join(json.dumps(text) + "\n" for text in texts).encode()
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def main(packages, out):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    numbers = {}
    with open(out / "pairs.txt", "w") as file:
        for group, (source, path) in enumerate(sources.fetch_all(packages)):
            pairs = pairs_of(source, path)
            for pair in pairs:
                left, right = (numbers.setdefault(text, len(numbers)) for text in pair)
                file.write(f"{left} {right} {group}\n")
            print(f"    {source.key}: {len(pairs)} pairs", flush=True)
    write_if_new(out / "texts.jsonl", numbers)
    tokens = VOCABULARY.read_text(encoding="utf-8").splitlines()
    write_if_new(out / "vocabulary.jsonl", [token.removeprefix("##") or token for token in tokens])
    words = sum(text.count(" ") + 1 for text in numbers)
    print(f"    {len(numbers)} texts, {words} words")


if __name__ == "__main__":
    main(*sys.argv[1:])
