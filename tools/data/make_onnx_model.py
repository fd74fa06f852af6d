#!/usr/bin/env python3
"""Writes the models in __test__/testdata. A test can compute their outputs itself.

    pip install onnx==1.23.2 && python tools/data/make_onnx_model.py

The inputs are those of BERT-like models: `input_ids` and `attention_mask` (int64) and
`token_type_ids`, each [rows, length].

mean-embedding.onnx is a sentence embedding. `token_type_ids` is int32, as in some exports. The
output is `embedding` (float32), [rows, 4]: the mean of sin((id + type id) * frequency) over the
unmasked tokens, for the frequencies 0.5, 0.25, 0.125 and 0.0625.

overlap-reranker.onnx is a cross-encoder. All inputs are int64. The output is `logits` (float32),
[rows, 1]: the number of pairs of equal ids, one from the unmasked tokens of type 0 and one from
those of type 1, divided by the number of unmasked tokens of type 1.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

TESTDATA = Path(__file__).parent.parent.parent / "__test__" / "testdata"
SHAPE = ["rows", "length"]


def indices(name, *values):
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def save(name, nodes, inputs, output, width, constants):
    graph = helper.make_graph(
        nodes,
        name.replace("-", "_"),
        [helper.make_tensor_value_info(name, kind, SHAPE) for name, kind in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["rows", width])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    target = TESTDATA / f"{name}.onnx"
    target.write_bytes(model.SerializeToString())
    print(f"{target}: {target.stat().st_size} bytes")


def inputs(type_ids):
    names = ["input_ids", "attention_mask", "token_type_ids"]
    return list(zip(names, [TensorProto.INT64, TensorProto.INT64, type_ids]))


def cast(name):
    return helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT)


save(
    "mean-embedding",
    [
        *(cast(name) for name, _ in inputs(TensorProto.INT32)),
        helper.make_node("Add", ["input_ids_f", "token_type_ids_f"], ["sum"]),
        helper.make_node("Unsqueeze", ["sum", "last"], ["column"]),
        helper.make_node("Mul", ["column", "frequencies"], ["angles"]),
        helper.make_node("Sin", ["angles"], ["tokens"]),
        helper.make_node("Unsqueeze", ["attention_mask_f", "last"], ["mask"]),
        helper.make_node("Mul", ["tokens", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "length"], ["total"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "length"], ["count"], keepdims=0),
        helper.make_node("Div", ["total", "count"], ["embedding"]),
    ],
    inputs(TensorProto.INT32),
    "embedding",
    4,
    [
        helper.make_tensor("frequencies", TensorProto.FLOAT, [4], [0.5, 0.25, 0.125, 0.0625]),
        indices("last", 2),
        indices("length", 1),
    ],
)

save(
    "overlap-reranker",
    [
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["second"]),
        helper.make_node("Sub", ["attention_mask", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["columns"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle"], ["rows_of_ids"]),
        helper.make_node("Equal", ["columns", "rows_of_ids"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["equal_i"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["first", "last"], ["first_mask"]),
        helper.make_node("Unsqueeze", ["second", "middle"], ["second_mask"]),
        helper.make_node("Mul", ["equal_i", "first_mask"], ["of_first"]),
        helper.make_node("Mul", ["of_first", "second_mask"], ["matches"]),
        helper.make_node("ReduceSum", ["matches", "both"], ["overlap"], keepdims=0),
        helper.make_node("ReduceSum", ["second", "middle"], ["count"], keepdims=0),
        cast("overlap"),
        cast("count"),
        helper.make_node("Div", ["overlap_f", "count_f"], ["score"]),
        helper.make_node("Unsqueeze", ["score", "middle"], ["logits"]),
    ],
    inputs(TensorProto.INT64),
    "logits",
    1,
    [indices("last", 2), indices("middle", 1), indices("both", 1, 2)],
)
