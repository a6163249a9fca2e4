"""Passages a second side by side with ONNX Runtime and rten, in one run, on one model.

    python3 -m venv VENV && VENV/bin/pip install torch transformers onnx onnxscript onnxruntime
    cargo build --release -p lorewell-encoder --example speed
    VENV/bin/python xtask/encoder/speed.py MODEL_DIR NOTES_DIR [--threads 2] [--kernels best] [--rounds 3]

Cuts 96 passages of some 820 characters from the Markdown files of a folder. ONNX Runtime computes the
same weights in floats and in int8 per channel, each with and without its own fusion of transformer
layers, at six batch sizes of texts sorted by length; its best counts. rten computes the files that it
can read in the same way (`xtask/encoder/rten`, built when it is first needed; cargo has to be there).
Engines take turns, three rounds, and each is shown at its best. Last come the passages a second that
matrix products alone would allow, at the rate of large square ones in oneDNN (by torch) on the same
threads. Of our own kernels those of the machine are taken that are
named (`--kernels amx avx2`), by default the best alone.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUESTION = "How do I keep the embers of a wood stove alive overnight?"
BATCHES = (1, 2, 4, 8, 16, 32)


def passages(folder):
    texts = []
    for path in sorted(Path(folder).rglob("*.md")):
        text = path.read_text(errors="replace")
        texts += [text[at : at + 820] for at in range(0, len(text) - 820, 820)]
    return texts[:: max(1, len(texts) // 96)][:96]


def export(model, out):
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer
    from transformers import BertModel

    bert = BertModel.from_pretrained(model, attn_implementation="eager", add_pooling_layer=False).eval()

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.bert(input_ids=input_ids, attention_mask=attention_mask,
                             token_type_ids=token_type_ids).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "tokens"} for name in names + ["states"]}
    some = torch.ones(2, 16, dtype=torch.long)
    plain = out / "f32.onnx"
    torch.onnx.export(States(), (some, some, some * 0), str(plain), input_names=names,
                      output_names=["states"], dynamic_axes=axes, opset_version=17, dynamo=False)
    fused = out / "f32 fused.onnx"
    optimizer.optimize_model(str(plain), "bert", num_heads=bert.config.num_attention_heads,
                             hidden_size=bert.config.hidden_size, opt_level=0).save_model_to_file(str(fused))
    for path in (plain, fused):
        quantize_dynamic(str(path), str(path).replace("f32", "int8"), per_channel=True,
                         weight_type=QuantType.QInt8, extra_options={"DefaultTensorType": 1})
    return [out / "int8.onnx", out / "int8 fused.onnx", plain, fused]


@functools.cache
def tokenizer_of(model):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256 if "MiniLM" in str(model) else 512)
    return tokenizer


def tokens_of(model, texts):
    """The tokens of each text, as the model reads them."""
    return [one.ids for one in tokenizer_of(model).encode_batch(texts)]


class Onnx:
    def __init__(self, path, model, texts, threads):
        import onnxruntime

        self.engine = f"ONNX Runtime {path.stem}"
        self.model, self.texts = model, texts
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        self.names = {value.name for value in self.session.get_inputs()}

    def compute(self, batch):
        import numpy

        longest = max(map(len, batch))
        ids = numpy.zeros((len(batch), longest), numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        self.session.run(None, {name: value for name, value in feed.items() if name in self.names})

    def all(self, size):
        tokens = sorted(tokens_of(self.model, self.texts), key=len)
        for at in range(0, len(tokens), size):
            self.compute(tokens[at : at + size])

    def round(self):
        best, question = {}, []
        for size in BATCHES:
            start = time.perf_counter()
            self.all(size)
            best[size] = len(self.texts) / (time.perf_counter() - start)
        size = max(best, key=best.get)
        for _ in range(60):
            start = time.perf_counter()
            self.compute(tokens_of(self.model, [QUESTION]))
            question.append(time.perf_counter() - start)
        return {"engine": f"{self.engine}, {size} at once", "passages_s": best[size],
                "question_ms": min(question) * 1e3}


class Rten:
    """Tokens are made before it is timed, so that it is shown a little better than it is."""

    def __init__(self, path, tokens, threads):
        folder = ROOT / "xtask/encoder/rten"
        target = ROOT / "target/rten"
        subprocess.run(["cargo", "build", "--quiet", "--locked", "--release", "--target-dir", str(target)],
                       cwd=folder, check=True)
        self.engine = f"rten {path.stem}"
        self.command = [str(target / "release/rten-speed"), str(path), str(tokens), *map(str, BATCHES)]
        self.environment = os.environ | {"RTEN_NUM_THREADS": str(threads)}

    def round(self):
        done = subprocess.run(self.command, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            print(f"{self.engine}: {done.stderr.strip()[:200]}", file=sys.stderr)
            return None
        result = json.loads(done.stdout)
        return result | {"engine": f"{self.engine}, {result['batch']} at once"}


class Bound:
    """What matrix products alone would allow."""

    def __init__(self, model, lengths, threads, kind):
        shape = json.loads((Path(model) / "config.json").read_text())
        hidden, inner, layers = (shape[key] for key in ("hidden_size", "intermediate_size",
                                                        "num_hidden_layers"))
        # A multiplication and an addition for each weight and token, and for each pair of tokens of a
        # text twice as many as the hidden size.
        once = [n * (4 * hidden * hidden + 2 * hidden * inner) + 2 * n * n * hidden for n in lengths]
        self.operations = 2 * layers * sum(once) / len(once)
        self.threads, self.kind = threads, kind

    def round(self):
        import torch

        torch.set_num_threads(self.threads)
        if self.kind == "int8":
            make = lambda n: torch.randint(-127, 127, (n, n), dtype=torch.int8)
            product = torch._int_mm
        else:
            make, product = (lambda n: torch.randn(n, n)), torch.mm
        most = 0
        for size in (512, 1024, 2048):
            left, right = make(size), make(size)
            for _ in range(10):
                start = time.perf_counter()
                product(left, right)
                most = max(most, 2 * size**3 / (time.perf_counter() - start))
        return {"engine": f"bound of {self.kind} products, {most / 1e12:.2f} TOP/s",
                "passages_s": most / self.operations}


class Ours:
    def __init__(self, model, texts, threads, precision, kernel):
        program = str(ROOT / "target/release/examples/speed")
        self.command = [program, str(model), str(texts), precision, kernel, str(threads)]

    def round(self):
        done = subprocess.run(self.command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{' '.join(self.command[3:])}: {done.stderr.strip()[:200]}", file=sys.stderr)
            return None
        return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("notes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kernels", nargs="+", default=["best"])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    model, notes, threads = asked.model, asked.notes, asked.threads
    texts = passages(notes)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        file = work / "texts.json"
        file.write_text(json.dumps(texts))
        engines = [Ours(model, file, threads, precision, kernel)
                   for precision in ("q8", "f32") for kernel in asked.kernels]
        models = export(model, work)
        engines += [Onnx(path, model, texts, threads) for path in models]
        tokens = work / "tokens.json"
        lists = sorted(tokens_of(model, texts), key=len)
        tokens.write_text(json.dumps(tokens_of(model, [QUESTION]) + lists))
        engines += [Rten(path, tokens, threads) for path in models if "fused" not in path.stem]
        engines += [Bound(model, list(map(len, lists)), threads, kind) for kind in ("int8", "f32")]
        best = {}
        for _ in range(asked.rounds):
            for engine in engines:
                result = engine.round()
                if result is None:
                    continue
                print(result, file=sys.stderr)
                known = best.setdefault(id(engine), result)
                if result["passages_s"] > known["passages_s"]:
                    known |= {key: result[key] for key in ("engine", "passages_s")}
                for key in ("question_ms", "cold_ms"):
                    if key in result:
                        known[key] = min(known[key], result[key])
    print("| engine | passages/s | question ms | cold ms | peak MB |\n| --- | --- | --- | --- | --- |")
    for row in best.values():
        question = f"{row['question_ms']:.2f}" if "question_ms" in row else ""
        print(f"| {row['engine']} | {row['passages_s']:.1f} | {question} | "
              f"{row.get('cold_ms', '')} | {row.get('peak_mb', '')} |")


main()
