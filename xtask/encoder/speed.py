"""Passages a second side by side with ONNX Runtime, in one run, on one model.

    python3 -m venv VENV && VENV/bin/pip install torch transformers onnx onnxscript onnxruntime
    cargo build --release -p lorewell-encoder --example speed
    VENV/bin/python xtask/encoder/speed.py MODEL_DIR NOTES_DIR [THREADS]

Cuts 96 passages of some 820 characters from the Markdown files of a folder. ONNX Runtime computes the
same weights in floats and in int8 per channel, each with and without its own fusion of transformer
layers, at six batch sizes of texts sorted by length; its best counts. Engines take turns, three
rounds, and each is shown at its best. `cpu` is passages a second of processor time on one thread,
which can be compared even while the machine is busy.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUESTION = "How do I keep the embers of a wood stove alive overnight?"
BATCHES = (1, 2, 4, 8, 16, 32)
KERNELS = ("amx", "avx512-vnni", "avx-vnni", "avx2", "neon-dot", "neon", "plain")


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


class Onnx:
    def __init__(self, path, model, texts, threads):
        import onnxruntime

        self.engine = f"ONNX Runtime {path.stem}"
        self.texts = texts
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256 if "MiniLM" in str(model) else 512)
        self.sessions = []
        for count in (threads, 1):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = count
            self.sessions.append(onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"]))
        self.names = {value.name for value in self.sessions[0].get_inputs()}

    def compute(self, session, batch):
        import numpy

        longest = max(map(len, batch))
        ids = numpy.zeros((len(batch), longest), numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        session.run(None, {name: value for name, value in feed.items() if name in self.names})

    def all(self, session, size):
        tokens = sorted((one.ids for one in self.tokenizer.encode_batch(self.texts)), key=len)
        for at in range(0, len(tokens), size):
            self.compute(session, tokens[at : at + size])

    def round(self):
        best, question, cpu = {}, [], []
        for size in BATCHES:
            start = time.perf_counter()
            self.all(self.sessions[0], size)
            best[size] = len(self.texts) / (time.perf_counter() - start)
        size = max(best, key=best.get)
        for _ in range(60):
            start = time.perf_counter()
            self.compute(self.sessions[0], [self.tokenizer.encode(QUESTION).ids])
            question.append(time.perf_counter() - start)
        start = time.process_time()
        self.all(self.sessions[1], size)
        cpu = len(self.texts) / (time.process_time() - start)
        return {"engine": f"{self.engine}", "passages_s": best[size], "question_ms": min(question) * 1e3,
                "passages_cpu_s": cpu, "batch": size}


class Ours:
    def __init__(self, model, texts, threads, precision, kernel):
        self.command = [str(ROOT / "target/release/examples/speed"), str(model), str(texts), precision, kernel]
        self.threads = threads

    def run(self, threads):
        done = subprocess.run([*self.command, str(threads)], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def round(self):
        result, single = self.run(self.threads), self.run(1)
        if result is None or single is None:
            return None
        return result | {"passages_cpu_s": single["passages_cpu_s"]}


def main():
    model, notes = sys.argv[1], sys.argv[2]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    texts = passages(notes)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        file = work / "texts.json"
        file.write_text(json.dumps(texts))
        engines = [Ours(model, file, threads, "q8", kernel) for kernel in KERNELS[:-1]]
        engines += [Ours(model, file, threads, "f32", kernel) for kernel in ("amx", "avx2", "neon")]
        engines += [Onnx(path, model, texts, threads) for path in export(model, work)]
        best = {}
        for _ in range(3):
            for engine in engines:
                result = engine.round()
                if result is None:
                    continue
                known = best.setdefault(result["engine"], result)
                for key, better in (("passages_s", max), ("passages_cpu_s", max), ("question_ms", min), ("cold_ms", min)):
                    if key in result:
                        known[key] = better(known[key], result[key])
    print("| engine | passages/s | cpu | question ms | cold ms | peak MB |\n| --- | --- | --- | --- | --- | --- |")
    for row in best.values():
        print(f"| {row['engine']} | {row['passages_s']:.0f} | {row['passages_cpu_s']:.0f} | "
              f"{row['question_ms']:.2f} | {row.get('cold_ms', '')} | {row.get('peak_mb', '')} |")


main()
