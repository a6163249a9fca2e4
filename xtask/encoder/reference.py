"""Models that cannot be had as real weights, made up, with what `transformers` computes of them.

    python3 -m venv VENV && VENV/bin/pip install torch transformers sentencepiece safetensors
    VENV/bin/python xtask/encoder/reference.py target/encoder-reference target/weights
    VENV/bin/python xtask/encoder/reference.py --small crates/encoder/tests/reference

Writes folders with random weights in the shapes of the family and, for each, `reference.safetensors`
with the tokens and the state of every token after every layer, of a few texts in several languages.
`cargo test -p lorewell-encoder layers` compares. The Unigram tokenizer is trained on the texts of
this repository's documents and brings SentencePiece's own normal form along. `--small` writes members
of the family that are small enough to be kept in the repository, so that every run of the tests compares
them.
"""

import io
import json
import sys
from pathlib import Path

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel
from transformers.convert_slow_tokenizer import XLMRobertaConverter

TEXTS = [
    "kiln",
    "How do I keep a wood stove clean?",
    "  Two  spaces,\ta tab\nand a new line; ﬁne ligatures, ½ cup, ＦＵＬＬ width, e\u0301clair.  ",
    "Überraschung: naïve café, ÉCOLE — 東京の窯 и печь на дровах, कुम्हार, φούρνος 😀🏺!",
    "A zettelkasten is a box of slips. Each slip holds one thought and has a number. " * 3,
]


def sentences(root):
    for path in sorted(root.rglob("*.md")):
        for line in path.read_text(errors="replace").splitlines():
            if line.strip():
                yield line.strip()
    for text in TEXTS[:4]:
        for _ in range(20):
            yield text


def unigram(root, size=2000):
    """A tokenizer as XLM-RoBERTa's is made, from a small SentencePiece model."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences(root), model_writer=model, vocab_size=size,
        model_type="unigram", character_coverage=0.9995, normalization_rule_name="nmt_nfkc",
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, num_threads=1, minloglevel=2,
    )
    from transformers.convert_slow_tokenizer import import_protobuf

    proto = import_protobuf().ModelProto()
    proto.ParseFromString(model.getvalue())
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(piece.piece, piece.score) for piece in proto.pieces[3:]] + [("<mask>", 0.0)]
    import base64

    charsmap = base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()
    special = [(0, "<s>"), (1, "<pad>"), (2, "</s>"), (3, "<unk>"), (len(pieces) - 1, "<mask>")]
    frame = lambda token: {"SpecialToken": {"id": token, "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id, "content": content, "single_word": False, "lstrip": content == "<mask>",
             "rstrip": False, "normalized": False, "special": True}
            for id, content in special
        ],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        ]},
        "post_processor": {"type": "TemplateProcessing",
            "single": [frame("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, frame("</s>")],
            "pair": [frame("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, frame("</s>")],
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]},
            }},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": False},
    }


def wordpiece(root, size):
    """A tokenizer as BERT's is made."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(sentences(root), vocab_size=size, show_progress=False)
    made = json.loads(tokenizer.to_str())
    token = lambda name: made["model"]["vocab"][name]
    made["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", token("[SEP]")],
                              "cls": ["[CLS]", token("[CLS]")]}
    return made


def write(folder, model, tokenizer_json, pooling):
    from tokenizers import Tokenizer

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json, ensure_ascii=False))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model.eval()
    (folder / "config.json").write_text(json.dumps(model.config.to_dict(), default=str))
    state = {name: value.contiguous().clone() for name, value in model.state_dict().items()
             if not name.startswith("pooler") and "position_ids" not in name and "token_type_ids" not in name}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "modules.json").write_text(json.dumps([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
    reference = {}
    for index, text in enumerate(TEXTS):
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            # With its mask, and padded, as sentence-transformers calls it.
            padded = torch.tensor([ids + [model.config.pad_token_id] * 3])
            mask = torch.tensor([[1] * len(ids) + [0] * 3])
            out = model(input_ids=padded, attention_mask=mask, output_hidden_states=True)
        reference[f"{index}.ids"] = torch.tensor(ids, dtype=torch.int32)
        for layer, hidden in enumerate(out.hidden_states):
            reference[f"{index}.{layer}"] = hidden[0, : len(ids)].contiguous().clone()
    save_file(reference, folder / "reference.safetensors", metadata={"texts": json.dumps(TEXTS)})


def spread(model):
    """Weights as wide as trained ones, so that attention and norms have something to do."""
    torch.manual_seed(7)
    for name, value in model.named_parameters():
        if "LayerNorm.weight" in name:
            torch.nn.init.normal_(value, 1.0, 0.2)
        elif "LayerNorm.bias" in name or name.endswith("bias"):
            torch.nn.init.normal_(value, 0.0, 0.1)
        else:
            torch.nn.init.normal_(value, 0.0, 0.06)
    return model


def small(out):
    root = Path(__file__).parents[2]
    xlmr, bert = unigram(root, 400), wordpiece(root, 600)
    common = dict(attention_probs_dropout_prob=0, hidden_dropout_prob=0, hidden_size=64, num_hidden_layers=2,
                  num_attention_heads=2, intermediate_size=128)
    write(out / "xlmr", spread(XLMRobertaModel(XLMRobertaConfig(
        vocab_size=len(xlmr["model"]["vocab"]), max_position_embeddings=200, type_vocab_size=1,
        layer_norm_eps=1e-5, bos_token_id=0, pad_token_id=1, eos_token_id=2, **common))), xlmr, "mean_tokens")
    write(out / "bert", spread(BertModel(BertConfig(
        vocab_size=len(bert["model"]["vocab"]), max_position_embeddings=200, **common))), bert, "cls_token")


def main():
    if sys.argv[1] == "--small":
        return small(Path(sys.argv[2]))
    out, weights = Path(sys.argv[1]), Path(sys.argv[2])
    root = Path(__file__).parents[2]
    xlmr = unigram(root)
    bert = json.loads((weights / "all-MiniLM-L6-v2/tokenizer.json").read_text())
    bert["truncation"] = bert["padding"] = None
    size = len(xlmr["model"]["vocab"])
    common = dict(attention_probs_dropout_prob=0, hidden_dropout_prob=0)
    # multilingual-e5-base is XLM-RoBERTa: positions begin at 2.
    write(out / "xlmr-base-shape", spread(XLMRobertaModel(XLMRobertaConfig(
        vocab_size=size, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5,
        num_hidden_layers=4, bos_token_id=0, pad_token_id=1, eos_token_id=2, **common))), xlmr, "mean_tokens")
    # multilingual-e5-small is BERT with XLM-RoBERTa's tokenizer.
    write(out / "e5-small-shape", spread(BertModel(BertConfig(
        vocab_size=size, hidden_size=384, num_hidden_layers=12, num_attention_heads=12,
        intermediate_size=1536, **common))), xlmr, "mean_tokens")
    write(out / "bge-base-shape", spread(BertModel(BertConfig(vocab_size=30522, **common))), bert, "cls_token")
    write(out / "bge-large-shape", spread(BertModel(BertConfig(
        vocab_size=30522, hidden_size=1024, num_hidden_layers=3, num_attention_heads=16,
        intermediate_size=4096, **common))), bert, "cls_token")


main()
