#!/usr/bin/env python3
"""Writes __test__/testdata/mean-embedding.onnx: a sentence embedding that a test can recompute.

    pip install onnx==1.23.2 && python scripts/make_onnx_model.py

The inputs are those of common sentence embeddings: `input_ids` and `attention_mask` (int64) and
`token_type_ids` (int32), each [rows, length]. The output is `embedding` (float32), [rows, 4]: the mean of
sin((id + type id) * frequency) over the unmasked tokens, for the frequencies 0.5, 0.25, 0.125 and
0.0625.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

SHAPE = ["rows", "length"]
INPUTS = [("input_ids", TensorProto.INT64), ("attention_mask", TensorProto.INT64), ("token_type_ids", TensorProto.INT32)]

nodes = [
    *(helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT) for name, _ in INPUTS),
    helper.make_node("Add", ["input_ids_f", "token_type_ids_f"], ["sum"]),
    helper.make_node("Unsqueeze", ["sum", "last"], ["column"]),
    helper.make_node("Mul", ["column", "frequencies"], ["angles"]),
    helper.make_node("Sin", ["angles"], ["tokens"]),
    helper.make_node("Unsqueeze", ["attention_mask_f", "last"], ["mask"]),
    helper.make_node("Mul", ["tokens", "mask"], ["kept"]),
    helper.make_node("ReduceSum", ["kept", "length"], ["total"], keepdims=0),
    helper.make_node("ReduceSum", ["mask", "length"], ["count"], keepdims=0),
    helper.make_node("Div", ["total", "count"], ["embedding"]),
]
constants = [
    helper.make_tensor("frequencies", TensorProto.FLOAT, [4], [0.5, 0.25, 0.125, 0.0625]),
    helper.make_tensor("last", TensorProto.INT64, [1], [2]),
    helper.make_tensor("length", TensorProto.INT64, [1], [1]),
]
graph = helper.make_graph(
    nodes,
    "mean_embedding",
    [helper.make_tensor_value_info(name, kind, SHAPE) for name, kind in INPUTS],
    [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["rows", 4])],
    constants,
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model, full_check=True)
target = Path(__file__).parent.parent / "__test__" / "testdata" / "mean-embedding.onnx"
target.write_bytes(model.SerializeToString())
print(f"{target}: {target.stat().st_size} bytes")
