"""Draws and voices the sample clip "A day in Port Ellery"; called by examples/make_sample.sh.

    sample_clip.py sound WAV TRUTH    speaks the dialogue, writes the sound and the ground truth
    sample_clip.py pictures TRUTH     writes raw rgb24 frames to standard output

The ground truth holds shots, cuts, on-screen text, turns and words, all in seconds.
"""

import ctypes
import functools
import json
import math
import sys
import wave

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT, FPS = 1280, 720, 25
FONTS = "/usr/share/fonts/truetype/dejavu/"
LEAD_IN, PAUSE, LEAD_OUT, FADE = 0.8, 0.6, 0.9, 0.8

ANNA, BEN = "Anna", "Ben"
# espeak-ng voice, words per minute, base pitch 0..100, pitch range 0..100
VOICES = {ANNA: ("en-us+f4", 158, 62, 55), BEN: ("en-gb-x-rp+m7", 150, 24, 45)}

# One entry per shot: name, how the shot begins, the text drawn on it, what is said over it.
SHOTS = [
    ("title", "start", ["A day in Port Ellery", "A short film in five pictures"], [
        (ANNA, "This is Port Ellery, a small town by the sea."),
    ]),
    ("harbour", "cut", ["05:40  PORT ELLERY HARBOUR"], [
        (ANNA, "Captain Marta Lindgren leaves the harbour every morning at five forty."),
        (BEN, "Her boat is called the Blue Heron. On board are four scientists, who count seals."),
    ]),
    ("kitchen", "cut", ["11:15  ROSA'S KITCHEN", "Fish soup for 60"], [
        (ANNA, "On shore, Rosa Delgado cooks fish soup for sixty people."),
        (BEN, "She needs twelve kilos of potatoes, and she opened her kitchen in nineteen ninety eight."),
    ]),
    ("chart", "cut", ["16:30  MARINE LABORATORY", "Seals counted per year"], [
        (BEN, "In twenty nineteen the scientists counted one hundred and twenty seals. "
              "Last year they counted two hundred and fourteen."),
        (ANNA, "That is the highest number ever recorded here."),
    ]),
    ("city", "fade", ["23:00  LIGHTS OUT"], [
        (ANNA, "At night the town turns off half of its street lamps."),
        (BEN, "The dark helps young birds to find the sea."),
    ]),
]


# ---------------------------------------------------------------------------------- sound

class Event(ctypes.Structure):
    """espeak_EVENT of espeak-ng's speak_lib.h."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


class Speaker:
    """espeak-ng, called as a library because the program does not report when each word is said."""

    RETRIEVAL, WORD, UTF8 = 1, 1, 1
    RATE, PITCH, RANGE = 1, 3, 4

    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.library.espeak_Initialize(self.RETRIEVAL, 500, None, 0)
        if self.rate <= 0:
            raise SystemExit("sample_clip: espeak-ng cannot be initialised; is espeak-ng-data installed?")
        signature = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))
        self.callback = signature(self.collect)
        self.library.espeak_SetSynthCallback(self.callback)

    def collect(self, samples, count, events):
        if samples and count > 0:
            self.samples.append(np.ctypeslib.as_array(samples, (count,)).copy())
        index = 0
        while events[index].type != 0:
            event = events[index]
            if event.type == self.WORD:
                self.words.append((event.text_position - 1, event.length, event.audio_position / 1000))
            index += 1
        return 0

    def say(self, voice, text):
        """Returns samples in -1..1 and the words as (word, start, end) in seconds."""
        name, rate, pitch, spread = VOICES[voice]
        self.samples, self.words = [], []
        if self.library.espeak_SetVoiceByName(name.encode()) != 0:
            raise SystemExit(f"sample_clip: espeak-ng has no voice {name}")
        for parameter, value in ((self.RATE, rate), (self.PITCH, pitch), (self.RANGE, spread)):
            self.library.espeak_SetParameter(parameter, value, 0)
        raw = text.encode()
        self.library.espeak_Synth(raw, len(raw) + 1, 0, 0, 0, self.UTF8, None, None)
        self.library.espeak_Synchronize()
        sound = np.concatenate(self.samples).astype(np.float64) / 32768
        audible = np.flatnonzero(np.abs(sound) > 0.004)
        sound = sound[: audible[-1] + int(0.05 * self.rate)]
        end = len(sound) / self.rate
        words = []
        for index, (position, length, start) in enumerate(self.words):
            following = self.words[index + 1][2] if index + 1 < len(self.words) else end
            spoken = text[position:position + length].strip(".,;:!?")
            words.append((spoken, start, min(following, end)))
        return sound, words


def on_frame(seconds):
    """The first frame boundary at or after a time."""
    return math.ceil(round(seconds * FPS, 6)) / FPS


def make_sound(wav_path, truth_path):
    speaker = Speaker()
    rate = speaker.rate
    truth = {"fps": FPS, "shots": [], "cuts": [], "fades": [], "texts": [], "turns": [], "words": []}
    pieces, now = [], 0.0

    def silence(until):
        nonlocal now
        pieces.append(np.zeros(max(0, round(until * rate) - sum(map(len, pieces)))))
        now = until

    for number, (name, begins, texts, turns) in enumerate(SHOTS):
        start = now
        if begins == "cut":
            truth["cuts"].append(round(start, 3))
        elif begins == "fade":
            truth["fades"].append({"start": round(start - FADE, 3), "black": round(start, 3),
                                   "end": round(start + FADE, 3)})
        silence(now + LEAD_IN + (FADE if begins == "fade" else 0))
        for index, (who, text) in enumerate(turns):
            if index:
                silence(now + PAUSE)
            sound, words = speaker.say(who, text)
            truth["turns"].append({"speaker": who, "start": round(now, 3),
                                   "end": round(now + len(sound) / rate, 3), "text": text})
            for word, first, last in words:
                truth["words"].append({"word": word, "start": round(now + first, 3),
                                       "end": round(now + last, 3), "speaker": who})
            pieces.append(sound)
            now += len(sound) / rate
        following_fades = number + 1 < len(SHOTS) and SHOTS[number + 1][1] == "fade"
        silence(on_frame(now + LEAD_OUT + (FADE if following_fades else 0)))
        truth["shots"].append({"name": name, "start": round(start, 3), "end": round(now, 3)})
        for line in texts:
            truth["texts"].append({"text": line, "start": round(start, 3), "end": round(now, 3)})
    truth["duration"] = round(now, 3)
    truth["boundaries"] = sorted(truth["cuts"] + [fade["black"] for fade in truth["fades"]])

    sound = np.concatenate(pieces)
    sound *= 0.7 / np.abs(sound).max()
    # A very quiet sea, about -62 dBFS, so that pauses are not digital silence.
    noise = np.random.default_rng(7).standard_normal(len(sound))
    spectrum = np.fft.rfft(noise)
    spectrum /= np.maximum(1, np.arange(len(spectrum)) * rate / len(sound) / 200)
    sea = np.fft.irfft(spectrum, len(sound))
    swell = 1 + 0.5 * np.sin(2 * np.pi * np.arange(len(sound)) / rate / 7)
    sound += sea / np.sqrt(np.mean(sea**2)) * 0.0008 * swell

    with wave.open(wav_path, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    with open(truth_path, "w", encoding="utf-8") as out:
        json.dump(truth, out, indent=1)
        out.write("\n")


# ---------------------------------------------------------------------------------- pictures

def font(size, bold=False):
    return ImageFont.truetype(FONTS + ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"), size)


def gradient(stops, width=WIDTH, height=HEIGHT):
    """A vertical gradient from [(position 0..1, (r, g, b)), …], dithered against banding."""
    rows = np.linspace(0, 1, height)
    positions = [stop[0] for stop in stops]
    columns = [np.interp(rows, positions, [stop[1][c] for stop in stops]) for c in range(3)]
    picture = np.repeat(np.stack(columns, 1)[:, None, :], width, 1)
    picture += np.random.default_rng(3).uniform(-0.7, 0.7, (height, width, 1))
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8), "RGB").convert("RGBA")


class Layer:
    """A transparent layer drawn at twice the size and scaled down, which smooths every edge."""

    def __init__(self, width=WIDTH, height=HEIGHT, background=(0, 0, 0)):
        self.size = (width, height)
        self.image = Image.new("RGBA", (width * 2, height * 2), (*background, 0))
        self.draw = ImageDraw.Draw(self.image)

    @staticmethod
    def double(points):
        return [(2 * x, 2 * y) for x, y in points]

    def polygon(self, points, fill):
        self.draw.polygon(self.double(points), fill)

    def rectangle(self, x, y, width, height, fill, radius=0):
        self.draw.rounded_rectangle([2 * x, 2 * y, 2 * (x + width), 2 * (y + height)], 2 * radius, fill)

    def ellipse(self, x, y, rx, ry, fill):
        self.draw.ellipse([2 * (x - rx), 2 * (y - ry), 2 * (x + rx), 2 * (y + ry)], fill)

    def line(self, points, fill, width):
        self.draw.line(self.double(points), fill, 2 * width, joint="curve")

    def text(self, x, y, text, size, fill, bold=False, anchor="la"):
        self.draw.text((2 * x, 2 * y), text, fill, font(2 * size, bold), anchor=anchor)

    def done(self, blur=0):
        image = self.image.resize(self.size, Image.Resampling.BOX)
        return image.filter(ImageFilter.GaussianBlur(blur)) if blur else image


def over(base, layer, x=0, y=0):
    base.alpha_composite(layer, (max(0, x), max(0, y)), (max(0, -x), max(0, -y)))


def caption(base, clock_and_place, second=None):
    """The lower third: a clock and a place, and under them a second line."""
    layer = Layer()
    clock, place = clock_and_place.split("  ", 1)
    width = 92 + font(30, True).getlength(place) + 28
    top = 596 if second is None else 566
    layer.rectangle(64, top, width + 12, 56, (10, 16, 28, 215), 6)
    layer.rectangle(64, top, 6, 56, (255, 176, 59, 255), 2)
    layer.text(86, top + 28, clock, 24, (255, 196, 105, 255), True, "lm")
    layer.text(170, top + 28, place, 28, (255, 255, 255, 255), True, "lm")
    if second is not None:
        width = font(26).getlength(second) + 44
        layer.rectangle(64, top + 62, width, 46, (10, 16, 28, 180), 6)
        layer.text(86, top + 85, second, 26, (235, 240, 248, 255), False, "lm")
    over(base, layer.done())


def glow(x, y, radius, colour, strength=1.0):
    """A soft round light as an RGBA layer."""
    ys, xs = np.mgrid[0:HEIGHT, 0:WIDTH]
    falloff = np.exp(-(((xs - x) ** 2 + (ys - y) ** 2) / (2 * radius**2))) * 255 * strength
    layer = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    layer[..., :3] = colour
    layer[..., 3] = np.clip(falloff, 0, 255)
    return Image.fromarray(layer, "RGBA")


def hills(layer, seed, base, height, fill):
    rng = np.random.default_rng(seed)
    phases, xs = rng.uniform(0, 6.28, 4), np.arange(0, WIDTH + 20, 10)
    ridge = sum(np.sin(xs / span + phase) * part for span, phase, part in
                zip((210, 120, 67, 31), phases, (0.5, 0.28, 0.15, 0.07)))
    points = [(float(x), float(base - height * (0.55 + 0.45 * r))) for x, r in zip(xs, ridge)]
    layer.polygon([(0, HEIGHT), *points, (WIDTH + 20, HEIGHT)], fill)


def title_shot():
    base = gradient([(0, (11, 28, 52)), (0.6, (21, 66, 96)), (1, (38, 112, 128))])
    over(base, glow(640, 760, 330, (255, 190, 120), 0.55))
    bright = Layer()
    bright.text(640, 312, "A day in Port Ellery", 76, (255, 255, 255, 255), True, "mm")
    bright.rectangle(580, 378, 120, 5, (255, 176, 59, 255), 2)
    bright.text(640, 424, "A short film in five pictures", 32, (205, 226, 236, 255), False, "mm")
    text = bright.done()
    waves = []
    for index, (y, alpha) in enumerate(((590, 70), (630, 100), (672, 140))):
        layer = Layer(WIDTH + 400, 140)
        xs = np.arange(0, WIDTH + 410, 8)
        crest = [(float(x), 26 + 15 * math.sin(x / 200 * 2 * math.pi + index * 1.9)) for x in xs]
        layer.polygon([*crest, (WIDTH + 400, 140), (0, 140)], (14, 58 + 12 * index, 88 + 10 * index, alpha))
        waves.append((layer.done(), y))

    def frame(t):
        picture = base.copy()
        for index, (wave_layer, y) in enumerate(waves):
            over(picture, wave_layer, -int(t * (26 + 17 * index)) % 200 - 200, y)
        over(picture, text)
        return picture

    return frame


def harbour_shot():
    base = gradient([(0, (52, 66, 118)), (0.25, (146, 108, 146)), (0.44, (244, 160, 118)),
                     (0.58, (255, 212, 150)), (0.5801, (226, 150, 120)), (0.75, (92, 104, 138)),
                     (1, (30, 48, 82))])
    over(base, glow(880, 412, 150, (255, 226, 160), 0.9))
    land = Layer()
    land.ellipse(880, 412, 46, 46, (255, 244, 214, 255))
    land.rectangle(0, 418, WIDTH, 302, (0, 0, 0, 0))
    hills(far := Layer(), 11, 430, 92, (112, 86, 122, 255))
    far.draw.rectangle([0, 836, 2560, 1440], (0, 0, 0, 0))
    over(base, land.done())
    over(base, far.done())
    near = Layer()
    near.polygon([(0, 418), (0, 330), (90, 322), (200, 352), (290, 392), (340, 418)], (66, 56, 92, 255))
    # the lighthouse on its rock
    near.polygon([(150, 345), (164, 196), (200, 196), (214, 345)], (238, 228, 220, 255))
    near.polygon([(154, 305), (158, 262), (206, 262), (210, 305)], (198, 62, 58, 255))
    near.polygon([(161, 228), (164, 196), (200, 196), (203, 228)], (198, 62, 58, 255))
    near.rectangle(160, 166, 44, 30, (255, 238, 170, 255), 4)
    near.polygon([(156, 168), (208, 168), (182, 142)], (70, 44, 60, 255))
    # houses along the quay
    for x, width, height, colour in ((984, 58, 60, (150, 70, 74)), (1046, 66, 82, (214, 176, 122)),
                                     (1116, 54, 66, (92, 120, 140)), (1174, 72, 92, (176, 92, 82)),
                                     (1248, 60, 70, (206, 196, 176))):
        near.rectangle(x, 410 - height, width, height + 12, (*colour, 255))
        near.polygon([(x - 4, 410 - height), (x + width / 2, 384 - height), (x + width + 4, 410 - height)],
                     (62, 44, 66, 255))
        for wx in (x + 11, x + width - 24):
            near.rectangle(wx, 424 - height, 13, 17, (255, 214, 132, 255), 2)
    near.rectangle(960, 416, 330, 20, (58, 46, 70, 255))
    over(base, near.done())

    boat = Layer(300, 190)
    boat.polygon([(14, 112), (286, 104), (252, 160), (52, 160)], (34, 74, 128, 255))
    boat.polygon([(14, 112), (286, 104), (282, 114), (18, 122)], (240, 240, 236, 255))
    boat.rectangle(92, 66, 92, 46, (242, 238, 230, 255), 4)
    boat.rectangle(86, 58, 104, 10, (196, 66, 58, 255), 3)
    for x in (102, 130, 158):
        boat.rectangle(x, 76, 20, 20, (74, 104, 136, 255), 3)
    boat.line([(150, 58), (150, 12)], (60, 50, 64, 255), 3)
    boat.polygon([(152, 14), (184, 22), (152, 30)], (255, 176, 59, 255))
    for x in (204, 224, 244, 262):  # the four scientists
        boat.ellipse(x, 84, 6, 7, (60, 44, 52, 255))
        boat.rectangle(x - 7, 91, 14, 18, (236, 150, 60, 255), 4)
    boat.text(70, 138, "BLUE HERON", 17, (236, 242, 250, 255), True, "lm")
    boat_image = boat.done()

    shimmer = []
    rng = np.random.default_rng(23)
    for _ in range(6):
        layer = Layer()
        for _ in range(70):
            y = 426 + 290 * rng.random() ** 1.5
            reach = 30 + (y - 420) * 0.9
            x = 880 + rng.normal() * reach
            length = 8 + (y - 420) * 0.16
            layer.rectangle(x, y, length, 2 + (y - 420) / 120, (255, 226, 176, 110), 1)
        shimmer.append(layer.done())
    gull = Layer(40, 20)
    gull.draw.arc([4, 10, 40, 40], 200, 340, (70, 60, 84, 255), 5)
    gull.draw.arc([38, 10, 74, 40], 200, 340, (70, 60, 84, 255), 5)
    gull_image = gull.done()

    def frame(t):
        picture = base.copy()
        over(picture, shimmer[int(t * 5) % len(shimmer)])
        x = 300 + t * 46
        over(picture, boat_image, int(x), int(404 + 5 * math.sin(t * 1.7)))
        wake = Image.new("RGBA", (280, 12), (0, 0, 0, 0))
        ImageDraw.Draw(wake).ellipse([0, 2, 279, 9], (255, 236, 214, 90))
        over(picture, wake, int(x) - 120, 562)
        for index in range(3):
            over(picture, gull_image, int(500 + index * 74 - t * 18), int(150 + index * 31 + 9 * math.sin(t * 2 + index)))
        return picture

    return frame


def kitchen_shot():
    base = gradient([(0, (250, 226, 182)), (1, (238, 196, 140))])
    room = Layer()
    for row in range(7):  # tiles
        for column in range(17):
            shade = 244 + (row * 7 + column * 5) % 9
            room.rectangle(column * 78 - 20, 170 + row * 42, 75, 39, (shade, shade - 8, shade - 28, 255), 2)
    room.rectangle(0, 452, WIDTH, 26, (142, 88, 52, 255))
    room.rectangle(0, 478, WIDTH, 242, (110, 140, 128, 255))
    for x in range(0, WIDTH, 320):
        room.rectangle(x + 16, 500, 288, 240, (126, 158, 145, 255), 6)
        room.ellipse(x + 280, 560, 8, 8, (226, 196, 110, 255))
    # the window and its view
    room.rectangle(850, 52, 330, 236, (120, 76, 46, 255), 6)
    room.rectangle(866, 68, 298, 204, (166, 214, 236, 255))
    room.rectangle(866, 200, 298, 72, (72, 140, 170, 255))
    room.ellipse(1100, 112, 26, 26, (255, 250, 214, 255))
    room.rectangle(1009, 68, 12, 204, (120, 76, 46, 255))
    # shelf with jars
    room.rectangle(70, 196, 430, 14, (122, 76, 44, 255), 3)
    for x, colour in ((92, (196, 74, 58)), (168, (222, 170, 72)), (244, (110, 146, 82)), (320, (150, 96, 60)), (396, (224, 214, 196))):
        room.rectangle(x, 122, 56, 74, (*colour, 255), 8)
        room.rectangle(x + 4, 110, 48, 16, (92, 66, 50, 255), 4)
        room.rectangle(x + 10, 146, 36, 24, (255, 250, 240, 220), 3)
    # potatoes
    for x, y in ((890, 440), (934, 444), (978, 438), (912, 416), (956, 414), (1010, 446), (934, 392)):
        room.ellipse(x, y, 26, 19, (176, 128, 74, 255))
        room.ellipse(x - 7, y - 5, 10, 6, (206, 162, 106, 255))
    # the pot
    room.rectangle(500, 300, 270, 154, (66, 78, 96, 255), 22)
    room.rectangle(470, 330, 40, 18, (66, 78, 96, 255), 8)
    room.rectangle(760, 330, 40, 18, (66, 78, 96, 255), 8)
    room.rectangle(520, 316, 22, 118, (110, 126, 148, 255), 10)
    room.ellipse(635, 304, 135, 26, (92, 108, 130, 255))
    room.ellipse(635, 305, 120, 20, (232, 142, 62, 255))
    over(base, room.done())

    cook = Layer(300, 400)
    cook.rectangle(64, 166, 172, 234, (246, 246, 242, 255), 44)
    cook.rectangle(98, 236, 104, 164, (196, 66, 58, 255), 10)
    cook.ellipse(150, 112, 58, 64, (222, 166, 126, 255))
    cook.ellipse(150, 88, 64, 46, (64, 40, 32, 255))
    cook.ellipse(150, 122, 50, 50, (222, 166, 126, 255))
    cook.rectangle(96, 24, 108, 52, (255, 255, 255, 255), 18)
    cook.rectangle(104, 60, 92, 26, (240, 240, 238, 255), 6)
    for x in (132, 170):
        cook.ellipse(x, 118, 6, 7, (44, 30, 28, 255))
    cook.draw.arc([264, 250, 340, 298], 20, 160, (150, 60, 50, 255), 7)
    cook_image = cook.done()

    steam = []
    for index in range(5):
        layer = Layer(120, 160, (255, 255, 255))
        layer.line([(60 + 26 * math.sin(y / 26 + index * 1.3), y) for y in range(150, 10, -6)], (255, 255, 255, 150), 13)
        steam.append(layer.done(7))

    def frame(t):
        picture = base.copy()
        over(picture, cook_image, 228 + int(4 * math.sin(t * 2.2)), 92)
        spoon = Layer(220, 230)
        angle = 0.35 * math.sin(t * 2.2)
        top = (58 + 46 * angle, 8)
        spoon.line([top, (118 + 70 * angle, 206)], (150, 104, 62, 255), 11)
        over(picture, spoon.done(), 530, 112)
        over(picture, pot_front)
        for index, image in enumerate(steam):
            rise = (t * 34 + index * 29) % 145
            over(picture, image, 520 + index * 36, int(190 - rise))
        return picture

    front = Layer()
    front.rectangle(500, 308, 270, 146, (66, 78, 96, 255), 22)
    front.rectangle(520, 322, 22, 112, (110, 126, 148, 255), 10)
    front.rectangle(0, 452, 860, 26, (142, 88, 52, 255))
    front.rectangle(0, 478, 860, 242, (110, 140, 128, 255))
    for x in (0, 320, 640):
        front.rectangle(x + 16, 500, 204 if x == 640 else 288, 240, (126, 158, 145, 255), 6)
    pot_front = front.done()
    return frame


def chart_shot():
    base = gradient([(0, (244, 248, 250)), (1, (220, 230, 236))])
    board = Layer()
    board.rectangle(110, 44, 1060, 500, (255, 255, 255, 255), 18)
    board.text(160, 78, "Seals counted per year", 34, (24, 44, 66, 255), True)
    for index, value in enumerate((0, 50, 100, 150, 200)):
        y = 480 - value * 1.55
        board.line([(230, y), (1110, y)], (214, 222, 228, 255), 2)
        board.text(212, y, str(value), 20, (100, 118, 134, 255), False, "rm")
    over(base, board.done())
    years = ((2019, 120), (2020, 131), (2021, 150), (2022, 163), (2023, 188), (2024, 214))

    @functools.lru_cache(maxsize=2)
    def bars(grown_bars):
        layer = Layer()
        for index, ((year, value), grown) in enumerate(zip(years, grown_bars)):
            grown = 1 - (1 - grown) ** 3
            x, height = 268 + index * 142, value * 1.55 * grown
            last = index in (0, len(years) - 1)
            layer.rectangle(x, 480 - height, 92, height, (22, 122, 138, 255) if last else (128, 186, 194, 255), 4)
            layer.text(x + 46, 504, str(year), 22, (60, 78, 94, 255), False, "mm")
            if grown > 0.6:
                layer.text(x + 46, 466 - height, str(value), 26, (24, 44, 66, 255), True, "mm")
        return layer.done()

    def frame(t):
        picture = base.copy()
        over(picture, bars(tuple(
            min(1.0, max(0.0, (t - 0.5 - index * 0.85) / 0.8)) for index in range(len(years)))))
        return picture

    return frame


def city_shot():
    base = gradient([(0, (6, 8, 28)), (0.55, (24, 26, 66)), (1, (58, 44, 88))])
    rng = np.random.default_rng(41)
    sky = Layer()
    for _ in range(170):
        x, y, size = rng.random() * WIDTH, rng.random() ** 1.6 * 400, rng.random() * 1.3 + 0.5
        sky.ellipse(x, y, size, size, (255, 255, 240, int(90 + 150 * rng.random())))
    sky.ellipse(1040, 130, 54, 54, (250, 244, 222, 255))
    sky.ellipse(1062, 116, 46, 46, (0, 0, 0, 0))
    over(base, glow(1030, 136, 110, (200, 206, 255), 0.28))
    over(base, sky.done())
    town = Layer()
    windows = []
    x = -20
    while x < WIDTH:
        width, height = int(rng.integers(80, 150)), int(rng.integers(150, 370))
        shade = int(rng.integers(14, 30))
        town.rectangle(x, 620 - height, width, height + 100, (shade, shade + 2, shade + 22, 255), 2)
        for wy in range(620 - height + 18, 590, 30):
            for wx in range(x + 14, x + width - 18, 26):
                if rng.random() < 0.5:
                    windows.append((wx, wy, rng.random()))
        x += width + int(rng.integers(2, 14))
    town.rectangle(0, 612, WIDTH, 108, (12, 14, 26, 255))
    for lane in range(0, WIDTH, 120):
        town.rectangle(lane, 664, 62, 5, (120, 116, 100, 255), 2)
    over(base, town.done())
    lamps = []
    for index, lamp_x in enumerate(range(70, WIDTH, 160)):
        layer = Layer(150, 260)
        layer.rectangle(72, 60, 6, 200, (44, 46, 60, 255))
        layer.rectangle(58, 48, 34, 14, (52, 54, 70, 255), 5)
        lit = Layer(150, 260)
        lit.ellipse(75, 72, 60, 56, (255, 206, 120, 120))
        lamps.append((lamp_x - 75, layer.done(), lit.done(22), index % 2 == 1))
    car = Layer(190, 74)
    car.rectangle(14, 30, 156, 28, (170, 52, 60, 255), 12)
    car.polygon([(44, 32), (62, 10), (124, 10), (148, 32)], (150, 44, 52, 255))
    car.polygon([(54, 31), (66, 15), (92, 15), (92, 31)], (170, 200, 220, 255))
    car.polygon([(98, 31), (98, 15), (120, 15), (138, 31)], (170, 200, 220, 255))
    for wheel in (50, 138):
        car.ellipse(wheel, 58, 14, 14, (16, 16, 20, 255))
        car.ellipse(wheel, 58, 6, 6, (140, 140, 150, 255))
    car.ellipse(168, 42, 6, 6, (255, 244, 190, 255))
    car_image = car.done()

    windows.sort(key=lambda window: window[2])

    @functools.lru_cache(maxsize=2)
    def lit_windows(dark):
        layer = Layer()
        for wx, wy, _ in windows[dark:]:
            layer.rectangle(wx, wy, 11, 15, (255, 208, 118, 255), 1)
        return layer.done()

    def frame(t):
        picture = base.copy()
        over(picture, lit_windows(sum(late <= (t - 2.5) / 9 for _, _, late in windows)))
        for lamp_x, post, lit, turned_off in lamps:
            over(picture, post, lamp_x, 420)
            if not turned_off or t < 3.2:
                over(picture, lit, lamp_x, 420)
        over(picture, car_image, int(-180 + t * 165), 606)
        return picture

    return frame


DRAWN = {"title": title_shot, "harbour": harbour_shot, "kitchen": kitchen_shot, "chart": chart_shot, "city": city_shot}


def make_pictures(truth_path):
    with open(truth_path, encoding="utf-8") as file:
        truth = json.load(file)
    total = round(truth["duration"] * FPS)
    fades = truth["fades"]
    done = 0
    for (name, _, texts, _), shot in zip(SHOTS, truth["shots"]):
        draw = DRAWN[name]()
        captions = Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
        if name == "chart":
            caption(captions, texts[0])
        elif name != "title":
            caption(captions, *texts)
        for number in range(round(shot["start"] * FPS), round(shot["end"] * FPS)):
            picture = draw((number / FPS) - shot["start"])
            over(picture, captions)
            pixels = np.asarray(picture.convert("RGB"))
            for fade in fades:
                distance = abs(number / FPS - fade["black"])
                if distance < FADE:
                    pixels = (pixels * (distance / FADE)).astype(np.uint8)
            sys.stdout.buffer.write(pixels.tobytes())
            done += 1
            if sys.stderr.isatty() or done == total:
                end = "\n" if done == total else ""
                print(f"\rsample clip: {done * 100 // total} % drawn", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sound", wav, truth_file]:
            make_sound(wav, truth_file)
        case ["pictures", truth_file]:
            make_pictures(truth_file)
        case _:
            raise SystemExit(__doc__)
