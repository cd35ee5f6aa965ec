// Mocks a minute of speech by two people, as a file without a picture, for tests of the transcript.
const ID = "05b0ce05b0ce05b0";
const DURATION = 60;
const SPEAKERS = ["S1", "S2"];
/** The sentences of each turn; a turn is ten seconds long. */
const TURNS = [
  ["The ferry leaves at nine.", "Bring the web tickets."],
  ["Which ferry do you mean?"],
  ["The one to the island.", "It never waits."],
  ["Then we meet at the harbour."],
  ["No, at the ferry office.", "The web page says so."],
  ["I will be there, with the tickets."],
];

const turns = TURNS.map((sentences, index) => ({
  speaker: SPEAKERS[index % 2], start: index * 10 + 1, end: index * 10 + 9, text: sentences.join(" "),
}));
const sentences = TURNS.flatMap((texts, index) => texts.map((text, place) => {
  const length = 8 / texts.length;
  return { speaker: SPEAKERS[index % 2], start: index * 10 + 1 + place * length, end: index * 10 + 1 + (place + 1) * length, text, confidence: 0.9 };
}));
const chunks = turns.map((turn, index) => ({
  chunk_id: index, start: index * 10, end: (index + 1) * 10, timecode: `${index}`, diarization: { speakers: [turn.speaker], turns: [turn] },
}));
const video = {
  video_id: ID, filename: "harbour.wav", video_url: `/storage/${ID}/harbour.wav`, poster_url: null, duration: DURATION, chunks: chunks.length,
  chunk_config: "interval:10", analyzers: ["diarization"], storage_path: `${ID}/harbour.wav`, size_bytes: 480_044, preset: "interval", params: {}, aggregates: [],
};

/** A tone of eight bits and 8 kHz that swells and fades. */
function sound() {
  const rate = 8000;
  const count = rate * DURATION;
  const file = Buffer.alloc(44 + count);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + count, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  for (const [at, value] of [[20, 1], [22, 1], [32, 1], [34, 8]]) file.writeUInt16LE(value, at);
  for (const at of [24, 28]) file.writeUInt32LE(rate, at);
  file.write("data", 36);
  file.writeUInt32LE(count, 40);
  for (let at = 0; at < count; at += 1) file[44 + at] = 128 + Math.round(60 * Math.sin(at / 6) * Math.abs(Math.sin(at / rate)));
  return file;
}

/** The texts with corrections applied, as the service would. */
function corrected(text, corrections, span) {
  return corrections.reduce((result, { from, to, start, end }) => {
    const elsewhere = start !== undefined && (end <= span.start || start >= span.end);
    return elsewhere ? result : result.replace(new RegExp(`\\b${from.replace(/\W+$/, "")}\\b`, "gi"), to.replace(/\W+$/, ""));
  }, text);
}

/** Returns the id, and the corrections that the page sends. */
export async function spokenVideo(page) {
  const sent = [];
  const file = sound();
  await page.route((url) => url.pathname === video.video_url, (route) => {
    const [, from, to] = route.request().headers().range?.match(/bytes=(\d+)-(\d*)/) ?? [];
    const [start, end] = [Number(from ?? 0), Number(to || file.length - 1)];
    return route.fulfill({
      status: from === undefined ? 200 : 206,
      contentType: "audio/wav",
      headers: { "accept-ranges": "bytes", "content-range": `bytes ${start}-${end}/${file.length}` },
      body: file.subarray(start, end + 1),
    });
  });
  await page.route((url) => url.pathname.startsWith(`/videos/${ID}`), (route) => {
    const rest = new URL(route.request().url()).pathname.slice(`/videos/${ID}`.length);
    const fix = (one) => ({ ...one, text: corrected(one.text, sent, one) });
    if (rest === "") return route.fulfill({ json: video });
    if (rest === "/transcript") return route.fulfill({ json: { video_id: ID, duration: DURATION, language: "en", total: sentences.length, utterances: sentences.map(fix) } });
    if (rest === "/aggregates") return route.fulfill({ json: { video_id: ID, available: [], aggregates: {} } });
    if (rest === "/peaks") return route.fulfill({ json: { interval: 0.5, peaks: Array.from({ length: DURATION * 2 }, (_, at) => Math.abs(Math.sin(at / 3))) } });
    if (rest === "/chunks") {
      const all = chunks.map((chunk, index) => ({ ...chunk, diarization: { ...chunk.diarization, turns: [fix(turns[index])] } }));
      return route.fulfill({ json: { video_id: ID, analyzers: video.analyzers, total: all.length, offset: 0, limit: 500, chunks: all } });
    }
    if (rest === "/corrections") {
      const made = route.request().method() === "POST" ? route.request().postDataJSON().corrections : [];
      sent.push(...made);
      return route.fulfill({ json: { corrections: made.map((one, index) => ({ id: `c${index}`, start: null, end: null, created_at: "", places: 1, spans: [], ...one })), job_id: null } });
    }
    return route.fulfill({ status: 404, json: { detail: "not here" } });
  });
  return { id: ID, sent };
}
