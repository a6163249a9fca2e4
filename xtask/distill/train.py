"""Makes the rows of the static model from texts, their tokens, and a teacher's vectors of them.

    python train.py WORK OUT

`WORK` holds `texts.tokens` (a line of token numbers for each text), `vocabulary.jsonl` (the tokens),
`texts.f32` and `vocabulary.f32` (the teacher's vectors of both) and `pairs.txt` (two texts that
belong together, and their source). `OUT` gets `static_en_256_int4.safetensors`. The same input gives the
same bytes on the same machine with one thread of BLAS.
"""

import json
import struct
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

NAME = "static_en_256_int4.safetensors"
DIMENSION = 256
SEED = 1

# Frequent tokens count less: a / (a + share of all tokens) (Arora et al. 2017).
SIF = 1e-4
# How hard a row is held to where it began, in the fit.
RIDGE = 1.0
FIT_ROUNDS = 10
# How much longer than a text's vector a token's is at first: a mean of several is shorter.
START = 1.3

# Steps with pairs.
STEPS = 1500
BATCH = 1024
RATE = 1e-2
TEMPERATURE = 0.07
# A text that the teacher finds this much closer than the pair's own is no wrong answer.
MARGIN = 0.05
# This share of the batches has a part of each text find the whole, so that a word stays itself; of a
# text's tokens so many are kept, from and to.
CROPS = 0.2
KEPT = (0.15, 0.6)
# How much the teacher's similarities count beside the pairs, and how sharp they are.
TEACHING = 4.0
TEACHER_TEMPERATURE = 0.07

# How much of the fitted rows stays in the trained ones (Wortsman et al. 2022 for networks).
FITTED = 0.3
# So many directions that all texts share are taken out (Mu and Viswanath 2018).
COMMON = 2

# A row is rounded to whole numbers of at most this size, and its scale is one of these parts of the
# one that cuts nothing.
TOP = 7
CUTS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)


def read_tokens(path, tokens):
    """Texts × tokens: how often each occurs."""
    starts, columns = [0], []
    for line in open(path):
        columns.extend(map(int, line.split()))
        starts.append(len(columns))
    ones = np.ones(len(columns), np.float32)
    counts = csr_matrix((ones, np.array(columns, np.int32), np.array(starts)), (len(starts) - 1, tokens))
    counts.sum_duplicates()
    return counts


def read_vectors(path, rows):
    return np.fromfile(path, "<f4").reshape(rows, -1)


def scaled_rows(matrix, factors):
    """A sparse matrix with each row times a factor."""
    matrix = matrix.copy()
    matrix.data *= np.repeat(factors, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def unit(vectors):
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.maximum(lengths, 1e-9)[:, None]


def axes(vectors):
    """The mean, and the directions in which the vectors differ most."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    spread = np.zeros((len(mean), len(mean)))
    for start in range(0, len(vectors), 1 << 14):
        part = vectors[start : start + (1 << 14)] - mean
        spread += part.T @ part
    values, directions = np.linalg.eigh(spread)
    directions = directions[:, np.argsort(-values)[:DIMENSION]]
    # A direction's sign is a matter of the library: make its largest number positive.
    largest = np.abs(directions).argmax(axis=0)
    directions *= np.sign(directions[largest, np.arange(DIMENSION)])
    return mean.astype(np.float32), directions.astype(np.float32)


def fitted(weights, rows, wanted):
    """Rows whose weighted means come near the wanted vectors, by ridge regression towards `rows`
    (conjugate gradients, all columns at once)."""
    turned = weights.T.tocsr()
    change = np.zeros_like(rows)
    rest = turned @ (wanted - weights @ rows)
    step = rest.copy()
    size = np.einsum("ij,ij->j", rest, rest)
    for _ in range(FIT_ROUNDS):
        product = turned @ (weights @ step) + RIDGE * step
        length = size / np.maximum(np.einsum("ij,ij->j", step, product), 1e-20)
        change += length * step
        rest -= length * product
        after = np.einsum("ij,ij->j", rest, rest)
        step = rest + (after / np.maximum(size, 1e-20)) * step
        size = after
    return rows + change


class Adam:
    """Adam (Kingma and Ba 2015) on the rows that a step touches only."""

    def __init__(self, rows):
        self.rows = rows
        self.mean = np.zeros_like(rows)
        self.square = np.zeros_like(rows)
        self.steps = 0

    def step(self, touched, slope, rate):
        self.steps += 1
        mean = 0.9 * self.mean[touched] + 0.1 * slope
        square = 0.999 * self.square[touched] + 0.001 * slope * slope
        self.mean[touched] = mean
        self.square[touched] = square
        mean = mean / (1 - 0.9**self.steps)
        square = square / (1 - 0.999**self.steps)
        self.rows[touched] -= rate * mean / (np.sqrt(square) + 1e-8)


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def slope_of_scores(scores, taught):
    """The loss's slope by the similarities of left × right: the right answer is on the diagonal.
    Two sides, each by the pairs and by the teacher."""
    size = len(scores)
    own = np.diagonal(taught)
    slope = np.zeros_like(scores)
    for turn in (False, True):
        view, given = (scores.T, taught.T) if turn else (scores, taught)
        logits = view / TEMPERATURE
        close = given > own[:, None] + MARGIN
        np.fill_diagonal(close, False)
        masked = np.where(close, np.float32(-1e4), logits)
        part = softmax(masked)
        part[np.arange(size), np.arange(size)] -= 1
        part += TEACHING * (softmax(logits) - softmax(given / TEACHER_TEMPERATURE))
        slope += part.T if turn else part
    return slope / (2 * size * TEMPERATURE)


def slope_of_sums(vectors, lengths, slope):
    """Through the bringing to unit length."""
    along = np.einsum("ij,ij->i", vectors, slope)
    return (slope - along[:, None] * vectors) / lengths[:, None]


def batches(pairs, random):
    """Without end: numbers of pairs, half of the batches of one source only, which are harder."""
    groups = [np.flatnonzero(pairs[:, 2] == group) for group in np.unique(pairs[:, 2])]
    shares = np.array([len(group) for group in groups], np.float64) ** 0.7
    shares /= shares.sum()
    while True:
        if random.random() < 0.5:
            group = groups[random.choice(len(groups), p=shares)]
            yield random.choice(group, min(BATCH, len(group)), replace=False)
        else:
            yield random.choice(len(pairs), BATCH, replace=False)


def cropped(counts, random):
    """Each text with some of its tokens only, but one at least."""
    kept = random.random(len(counts.data)) < random.uniform(*KEPT)
    kept[counts.indptr[:-1] + (random.random(counts.shape[0]) * np.diff(counts.indptr)).astype(int)] = True
    return csr_matrix((counts.data * kept, counts.indices, counts.indptr), counts.shape)


def trained(rows, counts, teacher, pairs):
    """Steps on pairs, each against the others of its batch."""
    random = np.random.default_rng(SEED)
    adam = Adam(rows.copy())
    started = time.time()
    for number, chosen in zip(range(STEPS), batches(pairs, random)):
        sides = [pairs[chosen, 0], pairs[chosen, 1]]
        is_crop = random.random() < CROPS
        if is_crop:
            sides[0] = sides[1] = np.unique(sides[random.integers(2)])
        each = [counts[side] for side in sides]
        if is_crop:
            each[0] = cropped(each[0], random)
        touched = np.unique(np.concatenate([one.indices for one in each]))
        place = np.zeros(counts.shape[1], np.int32)
        place[touched] = np.arange(len(touched))
        each = [csr_matrix((one.data, place[one.indices], one.indptr), (one.shape[0], len(touched)))
                for one in each]
        table = adam.rows[touched]
        sums = [one @ table for one in each]
        lengths = [np.maximum(np.sqrt(np.einsum("ij,ij->i", s, s)), 1e-6) for s in sums]
        left, right = (s / length[:, None] for s, length in zip(sums, lengths))
        slope = slope_of_scores(left @ right.T, teacher[sides[0]] @ teacher[sides[1]].T)
        slope = (each[0].T @ slope_of_sums(left, lengths[0], slope @ right)
                 + each[1].T @ slope_of_sums(right, lengths[1], slope.T @ left))
        rate = RATE * min(1.0, (number + 1) / 100) * (1 - number / STEPS)
        adam.step(touched, slope, rate)
        if number % 200 == 0:
            print(f"    step {number} of {STEPS}, {time.time() - started:.0f} s", flush=True)
    return adam.rows


def without_common(rows, counts):
    """Rows without the directions that the vectors of texts have most in common."""
    some = unit(counts[::20] @ rows).astype(np.float64)
    _, directions = np.linalg.eigh(some.T @ some)
    common = directions[:, -COMMON:]
    return rows - ((rows @ common) @ common.T).astype(np.float32)


def quantized(rows):
    """Whole numbers of -7 to 7 and a scale for each row: the one, of several that cut a row's largest
    numbers or do not, that leaves the least squared error."""
    top = np.maximum(np.abs(rows).max(axis=1), 1e-12) / TOP
    numbers, scales, least = None, None, None
    for part in CUTS:
        scale = (top * part).astype("<f4")
        tried = np.clip(np.rint(rows / scale[:, None]), -TOP, TOP)
        error = np.square(tried * scale[:, None] - rows).sum(axis=1)
        if least is None:
            numbers, scales, least = tried, scale, error
            continue
        better = error < least
        numbers[better], scales[better], least[better] = tried[better], scale[better], error[better]
    return numbers.astype(np.int8), scales


def packed(numbers):
    """Two numbers a byte, each plus 8: the row's first half in the low four bits, its second half in
    the high ones."""
    first, second = np.split((numbers + 8).astype(np.uint8), 2, axis=1)
    return first | (second << 4)


def write(path, numbers, scales):
    """A safetensors file: scales first, as their bytes are aligned then."""
    at, numbers = scales.nbytes, packed(numbers)
    header = {
        "scales": {"dtype": "F32", "shape": list(scales.shape), "data_offsets": [0, at]},
        "embeddings": {"dtype": "U8", "shape": list(numbers.shape), "data_offsets": [at, at + numbers.nbytes]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + scales.tobytes() + numbers.tobytes())


def main(work, out):
    work, out = Path(work), Path(out)
    with open(work / "vocabulary.jsonl") as file:
        tokens = sum(1 for _ in file)
    vocabulary = read_vectors(work / "vocabulary.f32", tokens)
    counts = read_tokens(work / "texts.tokens", tokens)
    teacher = read_vectors(work / "texts.f32", counts.shape[0])
    pairs = np.loadtxt(work / "pairs.txt", np.int64)
    has_tokens = np.diff(counts.indptr) > 0
    pairs = pairs[has_tokens[pairs[:, 0]] & has_tokens[pairs[:, 1]]]
    print(f"    {counts.shape[0]} texts, {counts.nnz} tokens, {len(pairs)} pairs", flush=True)

    # The teacher in fewer dimensions, tokens and texts alike.
    mean, directions = axes(teacher)
    wanted = (teacher - mean) @ directions
    rows = (vocabulary - vocabulary.mean(axis=0)) @ directions * START

    shares = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    weight = (SIF / (SIF + shares)).astype(np.float32)
    weighted = counts.copy()
    weighted.data *= weight[weighted.indices]
    sums = np.asarray(weighted.sum(axis=1)).ravel()
    weighted = scaled_rows(weighted, 1 / np.maximum(sums, 1e-9))
    rows = fitted(weighted, rows, wanted) * weight[:, None]
    rows /= np.sqrt(np.mean(np.square(rows)))
    start = rows.astype(np.float32)

    rows = trained(start, counts, unit(wanted), pairs)
    rows = without_common((1 - FITTED) * rows + FITTED * start, counts)
    np.save(work / "rows.npy", rows)
    out.mkdir(parents=True, exist_ok=True)
    write(out / NAME, *quantized(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
