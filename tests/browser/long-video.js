// Mocks a video of three hours with 2,000 chunks, for tests and benchmarks.
const ID = "00c0ffee00c0ffee";
const DURATION = 10_800;
const COUNT = 2_000;

/** `more` are further fields of the video. */
export async function longVideo(page, more = {}) {
  const each = DURATION / COUNT;
  const span = (index) => ({ chunk_id: index, start: index * each, end: (index + 1) * each, timecode: `${index}` });
  const chunks = Array.from({ length: COUNT }, (_, index) => ({
    ...span(index),
    default_video: { description: `Moment ${index} of a long day at the harbour.`, setting: "", people: [], objects: [], actions: [], tags: [] },
    diarization: { speakers: [`S${index % 4}`], turns: [{ speaker: `S${index % 4}`, start: index * each, end: (index + 0.9) * each, text: `Sentence ${index}.` }] },
    object_detection: { objects: ["boat"], detections: ["boat", "person", "bird"].map((label) => ({ label, count: 1, first_seen: index * each, last_seen: (index + 0.8) * each })) },
  }));
  const video = {
    video_id: ID, filename: "long.mp4", video_url: "/storage/none.mp4", poster_url: null, duration: DURATION, chunks: COUNT, chunk_config: "interval:5.4",
    analyzers: ["default_video"], storage_path: `${ID}/long.mp4`, size_bytes: 1e9, preset: "interval", params: {}, aggregates: [], ...more,
  };
  const aggregates = {
    novelty: { basis: "", mean_distance: 0, ranked: chunks.map((one, index) => ({ ...span(index), novelty: (index % 10) / 10 })), outliers: [] },
    sentiment: { timeline: chunks.map((one, index) => ({ ...span(index), positive: 0.5, neutral: 0.3, negative: 0.2, dominant: index % 3 ? "neutral" : "positive" })) },
    events: { events: chunks.filter((_, index) => index % 5 === 0).map((one) => ({ ...one, event: "A boat leaves.", actor: "", category: "movement" })) },
  };
  await page.route((url) => url.pathname.startsWith(`/videos/${ID}`), (route) => {
    const url = new URL(route.request().url());
    const rest = url.pathname.slice(`/videos/${ID}`.length);
    if (rest === "") return route.fulfill({ json: video });
    if (rest === "/aggregates") return route.fulfill({ json: { video_id: ID, available: Object.keys(aggregates), aggregates } });
    if (rest === "/chunks") {
      const [offset, limit] = [Number(url.searchParams.get("offset")), Number(url.searchParams.get("limit"))];
      return route.fulfill({ json: { video_id: ID, analyzers: video.analyzers, total: COUNT, offset, limit, chunks: chunks.slice(offset, offset + limit) } });
    }
    return route.fulfill({ status: 404, json: { detail: "not here" } });
  });
  return ID;
}
