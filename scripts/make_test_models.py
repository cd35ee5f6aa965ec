#!/usr/bin/env python3
"""Writes tiny detection networks for the detector's tests, one per output layout.

Each network divides a 64 × 64 image into cells of 16 × 16 (one box per cell) and scores two classes, "red" and
"blue", by the mean of that channel, so the image of a test determines the expected boxes exactly.
Needs the PyPI packages numpy and onnx. Run it in the root of the repository:
    python3 scripts/make_test_models.py
"""
import pathlib

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

FIXTURES = pathlib.Path("adapters/tests/fixtures")
SIDE, CELL = 64, 16
CELLS = SIDE // CELL


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], []

    def const(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def save(self, name, outputs):
        graph = helper.make_graph(
            self.nodes, name,
            [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, [1, f"{o}_rows", f"{o}_columns"]) for o in outputs],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        checker.check_model(model)
        save(model, str(FIXTURES / f"{name}.onnx"))


def channels(graph, red, blue, cell, gain, name="scores"):
    """[1, cells, 2]: the mean of the red and blue channels per cell, times gain."""
    graph.op("AveragePool", ["images"], name + "_pool", kernel_shape=[cell, cell], strides=[cell, cell])
    graph.op("Gather", [name + "_pool", graph.const(name + "_which", np.array([red, blue]))], name + "_two", axis=1)
    graph.op("Reshape", [name + "_two", graph.const(name + "_shape", np.array([1, 2, -1]))], name + "_flat")
    graph.op("Transpose", [name + "_flat"], name + "_rows", perm=[0, 2, 1])
    return graph.op("Mul", [name + "_rows", graph.const(name + "_gain", np.float32(gain))], name)


def centres(cell=CELL):
    steps = (np.arange(SIDE // cell) + 0.5) * cell
    y, x = np.meshgrid(steps, steps, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], 1).astype(np.float32)


def yolov8():
    g = Graph()
    scores = channels(g, 0, 2, CELL, 1.0)
    boxes = np.concatenate([centres(), np.full((CELLS * CELLS, 2), CELL)], 1).astype(np.float32)
    g.op("Concat", [g.const("boxes", boxes[None]), scores], "rows", axis=2)
    g.op("Transpose", ["rows"], "output0", perm=[0, 2, 1])
    g.save("detect_yolov8", ["output0"])


def detr(name, no_object):
    g = Graph()
    # With ImageNet normalisation, full red is 2.25 and no red is -2.1; for 0..1 the sigmoid needs an offset.
    scores = channels(g, 0, 2, CELL, 4.0 if no_object else 12.0)
    if no_object:
        nothing = g.const("nothing", np.full((1, CELLS * CELLS, 1), 2.0, np.float32))
        g.op("Concat", [scores, nothing], "logits", axis=2)
    else:
        g.op("Sub", [scores, g.const("middle", np.float32(6.0))], "logits")
    boxes = np.concatenate([centres() / SIDE, np.full((CELLS * CELLS, 2), CELL / SIDE)], 1)
    g.op("Identity", [g.const("boxes", boxes[None].astype(np.float32))], "pred_boxes")
    g.save(name, ["logits", "pred_boxes"])


def yolox():
    g = Graph()
    rows = []
    for stride in (8, 16, 32):
        count = (SIDE // stride) ** 2
        scores = channels(g, 2, 0, stride, 1 / 255 if stride == CELL else 0.0, f"s{stride}")
        # Half a cell from the cell's corner, one cell wide, objectness 1.
        head = np.tile(np.array([0.5, 0.5, 0.0, 0.0, 1.0], np.float32), (1, count, 1))
        rows.append(g.op("Concat", [g.const(f"h{stride}", head), scores], f"r{stride}", axis=2))
    g.op("Concat", rows, "output", axis=1)
    g.save("detect_yolox", ["output"])


def distances(stride, corner):
    """Distributions over 8 bins; their means give the box of a 16-pixel cell."""
    count = (SIDE // stride) ** 2
    target = np.array([0.0, 0.0, 1.0, 1.0] if corner else [0.5, 0.5, 0.5, 0.5])
    bins = np.full((count, 4, 8), -40.0, np.float32)
    bins[:, :, 0] = np.where(target == 1.0, -40.0, 0.0)
    bins[:, :, 1] = np.where(target == 0.0, -40.0, 0.0)
    return bins.reshape(1, count, 32)


def nanodet(name, combined):
    g = Graph()
    scores, places = [], []
    for stride in (8, 16, 32, 64):
        # With ImageNet normalisation, full red is 2.25: the score is (x + 2) / 4.5.
        two = channels(g, 2, 0, stride, 1 / 4.5 if stride == CELL else 0.0, f"s{stride}")
        lift = g.const(f"l{stride}", np.float32(2 / 4.5 if stride == CELL else 0.0))
        scores.append(g.op("Add", [two, lift], f"score{stride}"))
        places.append(g.const(f"d{stride}", distances(stride, combined)))
    if combined:
        for s, p, stride in zip(list(scores), places, (8, 16, 32, 64)):
            g.op("Concat", [s, p], f"r{stride}", axis=2)
        g.op("Concat", [f"r{s}" for s in (8, 16, 32, 64)], "output", axis=1)
        g.save(name, ["output"])
    else:
        outputs = [g.op("Identity", [p], f"place{i}") for i, p in enumerate(places)]
        g.save(name, scores + outputs)


def main():
    FIXTURES.mkdir(parents=True, exist_ok=True)
    yolov8()
    detr("detect_detr", True)
    detr("detect_rtdetr", False)
    yolox()
    nanodet("detect_picodet", False)
    nanodet("detect_nanodet_plus", True)
    (FIXTURES / "red_blue.txt").write_text("red\nblue\n")


if __name__ == "__main__":
    main()
