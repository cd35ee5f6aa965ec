#!/usr/bin/env python3
"""Writes a compact form of VADER's lexicon, and reference scores for the tests of our implementation.

Needs the PyPI package vaderSentiment 3.3.2 (MIT, C.J. Hutto). Run it in the root of the repository:
    python3 scripts/models/make_vader_data.py
"""
import json
import pathlib

import vaderSentiment.vaderSentiment as reference

PACKAGE = pathlib.Path(reference.__file__).parent
DATA = pathlib.Path("adapters/src/sentiment/vader")
FIXTURE = pathlib.Path("adapters/tests/fixtures/vader_reference.json")
NOTICE = "#\tVADER, vaderSentiment 3.3.2, Copyright (c) 2016 C.J. Hutto, MIT License\n"

SENTENCES = [
    "VADER is smart, handsome, and funny.", "VADER is smart, handsome, and funny!",
    "VADER is very smart, handsome, and funny.", "VADER is VERY SMART, handsome, and FUNNY.",
    "VADER is VERY SMART, handsome, and FUNNY!!!",
    "VADER is VERY SMART, uber handsome, and FRIGGIN FUNNY!!!",
    "VADER is not smart, handsome, nor funny.", "The book was good.",
    "At least it isn't a horrible book.", "The book was only kind of good.",
    "The plot was good, but the characters are uncompelling and the dialog is not great.",
    "Today SUX!", "Today only kinda sux! But I'll get by, lol",
    "Make sure you :) or :D today!", "Catch utf-8 emoji such as 💘 and 💋 and 😁",
    "Not bad at all", "I'm happy", "I really love this a lot",
    "The service here is extremely good", "The service here is marginally good",
    "No good deed goes unpunished", "There is no problem", "no hope or joy left", "Yeah right",
    "This is the least interesting movie", "It is at least pleasant",
    "He was the very least helpful of them", "Least liked of all",
    "Never so happy before", "I was never this sad", "without doubt a great man",
    "without a doubt excellent", "a kiss of death for the party", "Her dress is to die for",
    "My phone is the bomb", "That is the shit", "waiting at the bus stop in the rain",
    "You have a beating heart", "What?? Are you mad???", "Really???? That is terrible!!!!!",
    "It was sort of nice", "I hardly trust the kind of people who lie", "good good bad bad but good",
    "bad but bad but good bad", "GREAT", "GREAT DAY", "great DAY", "it ain't so bad",
    "The sun sets over the hill and two people walk by.", "$: :-( ;) <3", "?", "!!!", "I", "a b c",
    "And so my fellow Americans ask not what your country can do for you",
    "ladies and gentlemen please fasten your seat belts we are expecting some turbulence thank you",
    "The food was TERRIBLE but the staff were absolutely lovely and very kind!",
    "Nobody was injured in the crash, though the car was destroyed.", "Ça va très bien, merci!",
    "I don't think I can't be happy", "NOT happy", "I am NOT VERY happy, REALLY",
    "She sobbed uncontrollably while everyone laughed", "win-win situation", "'brilliant'",
    "(superb) [awful] {nice}", "just enough luck", "almost perfect", "kindof sad", "😡 angry 😀 fun",
    "tab\tseparated\nlines of joy", "never good, never bad, never boring",
]


def main():
    lexicon = [line.split("\t")[:2] for line in (PACKAGE / "vader_lexicon.txt").read_text("utf-8").rstrip("\n").split("\n")]
    emoji = [line.strip().split("\t")[:2] for line in (PACKAGE / "emoji_utf8_lexicon.txt").read_text("utf-8").rstrip("\n").split("\n")]
    DATA.mkdir(parents=True, exist_ok=True)
    # The reference strips each line, so it drops tokens that consist of white space.
    short = [(w, m) for w, m in lexicon if w.strip()]
    (DATA / "lexicon.tsv").write_text(NOTICE + "".join(f"{w}\t{m}\n" for w, m in short), "utf-8")
    # The reference looks up single code points, so longer sequences never match.
    single = [(e, d) for e, d in emoji if len(e) == 1]
    (DATA / "emoji.tsv").write_text(NOTICE + "".join(f"{e}\t{d}\n" for e, d in single), "utf-8")
    analyzer = reference.SentimentIntensityAnalyzer()
    scores = [{"text": s, **analyzer.polarity_scores(s)} for s in SENTENCES]
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(scores, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
