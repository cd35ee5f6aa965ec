// The built-in page: a client of the public API and of nothing else. It holds no credential: the
// sign-in form posts to /session, and the browser sends the cookie it gets.

const $ = (id) => document.getElementById(id);
const base = new URL(".", document.baseURI);
const at = (path) => new URL(path, base);

const state = {
  schema: null,
  videos: new Map(),
  jobs: new Map(),
  current: null, // id of the open video
  chunks: [],
  chunksTotal: 0,
};

const PAGE = 100;
const SNIPPET = 180; // the length the service cuts snippets to
const STAGES = {
  queued: [0, "Waiting for its turn"],
  starting: [2, "Starting"],
  fetching: [8, "Fetching"],
  chunking: [20, "Finding the moments"],
  chunked: [35, "Moments found"],
  analyzing: [50, "Watching"],
  indexing: [65, "Indexing"],
  aggregating: [85, "Summing up"],
  complete: [100, "Done"],
};

// ---------------------------------------------------------------- talking to the service

class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function failure(status, body) {
  if (status === 401) showGate();
  return new ApiError(status, body?.detail ?? `The service answered ${status}.`);
}

async function api(path, { json, ...options } = {}) {
  if (json !== undefined) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(json);
  }
  let response;
  try {
    response = await fetch(at(path), { credentials: "same-origin", ...options });
  } catch {
    setHealth("down", "Not reachable");
    throw new ApiError(0, "The service cannot be reached.");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw failure(response.status, body);
  return body;
}

// XMLHttpRequest, because fetch does not tell how much has been sent.
function upload(form, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", at("videos"));
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(failure(request.status, request.response));
    });
    request.addEventListener("error", () => reject(new ApiError(0, "The upload was interrupted.")));
    request.send(form);
  });
}

// A service on the same machine may be configured as 127.0.0.1 and opened as localhost, which a
// browser treats as another site: stored objects are then asked for under the page's own name.
function stored(address) {
  if (!address) return "";
  const url = new URL(address, base);
  const loopback = (host) => ["localhost", "127.0.0.1", "[::1]"].includes(host);
  if (loopback(url.hostname) && loopback(location.hostname) && url.port === location.port) {
    return location.origin + url.pathname + url.search;
  }
  return url.href;
}

// ---------------------------------------------------------------- small things

function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.includes("-")) node.setAttribute(key, value);
    else node[key] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
const words = (id) => id.replaceAll("_", " ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const title = (videoId) => state.videos.get(videoId)?.filename ?? videoId;

const ANALYZER_NAMES = {
  default_video: "What is seen",
  diarization: "What is said, and by whom",
  transcript: "What is said",
  people: "People",
  object_detection: "Objects",
  ocr: "Text on screen",
};
const analyzerName = (id) => ANALYZER_NAMES[id] ?? capital(words(id));

function announce(text) {
  $("announce").textContent = text;
}

let toastTimer;
function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 7000);
}

// For handlers: an error nobody handled is shown, except the one that opens the sign-in form.
const guarded = (action) => async (...args) => {
  try {
    await action(...args);
  } catch (error) {
    if (error.status !== 401) toast(error.message);
  }
};

// ---------------------------------------------------------------- signing in, health

function showGate() {
  $("app").hidden = true;
  $("gate").hidden = false;
  $("gate-error").hidden = new URLSearchParams(location.search).get("session") !== "refused";
  $("gate-token").focus();
}

// True when the service may be used: it asks for no token, or this browser has signed in.
async function signedIn() {
  const { required, authenticated } = await api("session");
  $("sign-out").hidden = !(required && authenticated);
  return authenticated;
}

const signOut = guarded(async () => {
  await fetch(at("session"), { method: "DELETE", credentials: "same-origin" });
  location.assign(base);
});

function setHealth(kind, text) {
  $("health").dataset.state = kind;
  $("health-text").textContent = text;
}

async function checkHealth() {
  try {
    const health = await api("health");
    if (health.status === "ok") setHealth("ok", "Ready");
    else setHealth("degraded", health.storage?.ok === false ? "Storage unreachable" : "Degraded");
  } catch {
    setHealth("down", "Not reachable");
  }
}

// ---------------------------------------------------------------- choices that come from /schema

function fillChoices() {
  const { analyzers, exclusive_groups: groups, vector_fields: fields } = state.schema;
  const preferred = [];
  for (const id of analyzers) {
    const clash = groups.some((group) => group.includes(id) && group.some((other) => preferred.includes(other)));
    if (!clash) preferred.push(id);
  }
  for (const id of analyzers) {
    const box = element("input", { type: "checkbox", name: "analyzer", value: id, defaultChecked: preferred.includes(id) });
    box.addEventListener("change", () => {
      if (!box.checked) return;
      for (const group of groups.filter((group) => group.includes(id))) {
        for (const other of document.querySelectorAll('input[name="analyzer"]')) {
          if (other !== box && group.includes(other.value)) other.checked = false;
        }
      }
    });
    $("analyzers").append(element("label", {}, box, analyzerName(id)));
    $("find-analyzer").append(new Option(analyzerName(id), id));
  }
  for (const [id, description] of Object.entries(fields)) {
    const option = new Option(id === "combined" ? "Everything" : capital(words(id)), id);
    option.title = description;
    $("find-field").append(option);
  }
}

// ---------------------------------------------------------------- the list of videos

function poster(video) {
  const picture = element("span", { class: "tile-picture" });
  if (video?.poster_url) picture.append(element("img", { src: stored(video.poster_url), alt: "", loading: "lazy" }));
  return picture;
}

async function loadVideos() {
  const { videos } = await api("videos");
  state.videos = new Map(videos.map((video) => [video.video_id, video]));
  $("library-count").textContent = videos.length || "";
  $("empty").hidden = videos.length > 0;
  $("videos").replaceChildren(...videos.map((video) => {
    const picture = poster(video);
    picture.append(element("span", { class: "time" }, clock(Math.round(video.duration))));
    return element("li", {}, element("button", {
      type: "button", class: "tile", "data-video": video.video_id,
      "aria-label": `Open ${video.filename}, ${clock(Math.round(video.duration))}`,
      onclick: () => go(video.video_id),
    }, picture, element("span", { class: "tile-name" }, video.filename),
    element("span", { class: "quiet" }, `${plural(video.chunks, "moment")} · ${video.analyzers.map(analyzerName).join(", ")}`)));
  }));
  const scope = $("find-scope");
  const chosen = scope.value;
  scope.replaceChildren(new Option("All videos", ""), ...videos.map((video) => new Option(video.filename, video.video_id)));
  scope.value = state.videos.has(chosen) ? chosen : "";
}

// ---------------------------------------------------------------- one video

function go(videoId, seconds) {
  const hash = `#/video/${videoId}${seconds === undefined ? "" : `?t=${Number(seconds.toFixed(2))}`}`;
  if (location.hash === hash) route();
  else location.hash = hash;
}

const route = guarded(async () => {
  const match = location.hash.match(/^#\/video\/([^?]+)(?:\?t=([\d.]+))?$/);
  if (!match) return closePlayer();
  await openVideo(decodeURIComponent(match[1]), match[2] === undefined ? null : Number(match[2]));
});

function closePlayer() {
  state.current = null;
  $("player").hidden = true;
  $("video").removeAttribute("src");
  $("video").load();
}

async function openVideo(videoId, seconds) {
  const player = $("video");
  if (state.current !== videoId) {
    const video = await api(`videos/${encodeURIComponent(videoId)}`);
    state.current = videoId;
    state.chunks = [];
    player.poster = video.poster_url ? stored(video.poster_url) : "";
    player.src = stored(video.video_url);
    $("player-title").textContent = video.filename;
    $("player-facts").textContent = [
      clock(Math.round(video.duration)), plural(video.chunks, "moment"), video.chunk_config, video.analyzers.map(analyzerName).join(", "),
    ].join(" · ");
    $("strip").replaceChildren();
    $("moments").replaceChildren();
    for (const id of ["summary", "chapters-block"]) $(id).hidden = true;
    $("player").hidden = false;
    loadChunks(videoId);
    loadAggregates(videoId);
  }
  if (seconds !== null) play(seconds);
  $("player").scrollIntoView({ block: "start", behavior: "smooth" });
  $("player-title").focus({ preventScroll: true });
}

function play(seconds) {
  const player = $("video");
  const start = () => {
    player.currentTime = seconds;
    // A browser may refuse to start with sound: the picture then waits at the right second.
    player.play().catch(() => {});
  };
  if (player.readyState >= HTMLMediaElement.HAVE_METADATA) start();
  else player.addEventListener("loadedmetadata", start, { once: true });
}

function chunkText(chunk) {
  const { default_video: seen, diarization, transcript, ocr } = chunk;
  return seen?.description
    || diarization?.turns?.map((turn) => `${turn.speaker}: ${turn.text}`).join(" ")
    || transcript?.text || ocr?.text || "";
}

function moment(start, heading, text) {
  return element("li", {}, element("button", { type: "button", class: "moment", onclick: () => go(state.current, start) },
    element("span", { class: "time" }, clock(start)),
    element("span", {}, heading ? element("strong", {}, heading) : null, text)));
}

const loadChunks = guarded(async (videoId) => {
  const page = await api(`videos/${encodeURIComponent(videoId)}/chunks?limit=${PAGE}&offset=${state.chunks.length}`);
  if (state.current !== videoId) return;
  state.chunks.push(...page.chunks);
  state.chunksTotal = page.total;
  $("moments-count").textContent = page.total;
  $("moments-more").hidden = state.chunks.length >= page.total;
  for (const chunk of page.chunks) {
    $("moments").append(moment(chunk.start, null, chunkText(chunk)));
    const part = element("button", {
      type: "button", "aria-label": `Play from ${clock(chunk.start)}`, title: clock(chunk.start),
      tabIndex: -1, onclick: () => go(videoId, chunk.start),
    });
    part.style.flexGrow = Math.max(0.1, chunk.end - chunk.start);
    $("strip").append(part);
  }
});

const loadAggregates = guarded(async (videoId) => {
  const { aggregates } = await api(`videos/${encodeURIComponent(videoId)}/aggregates`);
  if (state.current !== videoId) return;
  const { summary, chapters } = aggregates;
  if (summary?.summary) {
    $("summary-text").textContent = summary.summary;
    $("summary-topics").replaceChildren(...(summary.topics ?? []).slice(0, 8).map((topic) => element("li", {}, topic)));
    $("summary").hidden = false;
  }
  if (chapters?.chapters?.length) {
    $("chapters").replaceChildren(...chapters.chapters.map((chapter) => moment(chapter.start, chapter.title, chapter.summary)));
    $("chapters-block").hidden = false;
  }
});

function markCurrentMoment() {
  const now = $("video").currentTime;
  const parts = $("strip").children;
  state.chunks.forEach((chunk, index) => {
    const here = now >= chunk.start && now < chunk.end;
    if (here) parts[index]?.setAttribute("aria-current", "true");
    else parts[index]?.removeAttribute("aria-current");
  });
}

function confirmed(text) {
  $("confirm-text").textContent = text;
  const dialog = $("confirm");
  dialog.returnValue = "cancel";
  dialog.showModal();
  $("confirm-cancel").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "delete"), { once: true });
  });
}

const deleteCurrent = guarded(async () => {
  const videoId = state.current;
  const name = title(videoId);
  if (!await confirmed(`“${name}”, its moments and everything found in them will be removed. This cannot be undone.`)) return;
  const outcome = await api(`videos/${encodeURIComponent(videoId)}`, { method: "DELETE" });
  toast(outcome.storage_error ? `${name} is removed, but its file is not: ${outcome.storage_error}` : `${name} is deleted.`);
  location.hash = "#/";
  clearResults();
  await loadVideos();
});

// ---------------------------------------------------------------- search and ask

const kind = () => new FormData($("find-form")).get("kind");

function switchKind() {
  const asking = kind() === "ask";
  $("find-submit").textContent = asking ? "Ask" : "Search";
  $("find-text").placeholder = asking ? "Who leaves the harbour, and when?" : "A boat leaving the harbour";
  document.querySelector('label[for="find-text"]').textContent = asking ? "Ask about the footage" : "Search the footage";
  $("find-field-label").hidden = asking;
  const analyzer = $("find-analyzer");
  analyzer.querySelector('option[value=""]')?.remove();
  if (asking) analyzer.prepend(new Option("Whatever fits", ""));
  analyzer.selectedIndex = 0;
}

function clearResults() {
  $("results").hidden = true;
  $("hits").replaceChildren();
  $("answer").replaceChildren();
}

function hitCard(hit) {
  const video = state.videos.get(hit.video_id);
  const picture = poster(video);
  picture.append(element("span", { class: "time" }, clock(hit.start)));
  const score = hit.score.toFixed(2);
  const snippet = hit.snippet?.length >= SNIPPET ? `${hit.snippet.trimEnd()}…` : hit.snippet;
  const text = snippet || hit.description || hit.turns?.map((turn) => `${turn.speaker}: ${turn.text}`).join(" ") || "";
  return element("li", {}, element("button", {
    type: "button", class: "hit", "data-start": hit.start, "data-video": hit.video_id,
    onclick: () => go(hit.video_id, hit.start),
  }, picture, element("span", { class: "hit-body" },
    element("span", { class: "hit-head" },
      element("span", { class: "time" }, `${clock(hit.start)}–${clock(hit.end)}`),
      element("span", { class: "quiet" }, title(hit.video_id)),
      element("span", { class: "score", title: "How close the match is, from 0 to 1" },
        element("meter", { min: 0, max: 1, value: hit.score, "aria-label": "match" }), score)),
    element("span", { class: "hit-text" }, text))));
}

// Citations look like [<video_id> 12.3-15.8s]; each becomes a button that plays the moment.
function cited(text) {
  const paragraph = element("p");
  let last = 0;
  for (const match of text.matchAll(/\[([0-9A-Za-z_-]+) (\d+(?:\.\d+)?)\s*[-–]\s*(\d+(?:\.\d+)?)s?\]/g)) {
    const [whole, videoId, start] = match;
    paragraph.append(text.slice(last, match.index));
    paragraph.append(element("button", {
      type: "button", class: "cite", title: title(videoId), "data-start": start, "data-video": videoId,
      "aria-label": `Play ${title(videoId)} from ${clock(Number(start))}`,
      onclick: () => go(videoId, Number(start)),
    }, clock(Number(start))));
    last = match.index + whole.length;
  }
  paragraph.append(text.slice(last));
  return paragraph;
}

function showResults(heading, answer, hits, note) {
  $("results-title").textContent = heading;
  $("answer").hidden = !answer;
  $("answer").replaceChildren(...(answer ? [cited(answer)] : []));
  $("results-note").hidden = !note;
  $("results-note").textContent = note ?? "";
  $("hits").replaceChildren(...hits.map(hitCard));
  $("results").hidden = false;
  $("results-title").focus({ preventScroll: true });
  $("results").scrollIntoView({ block: "start", behavior: "smooth" });
}

const find = guarded(async (event) => {
  event.preventDefault();
  const text = $("find-text").value.trim();
  if (!text) return;
  const scope = $("find-scope").value;
  const videoIds = scope ? [scope] : null;
  const analyzer = $("find-analyzer").value || null;
  const button = $("find-submit");
  button.disabled = true;
  announce(kind() === "ask" ? "Asking…" : "Searching…");
  try {
    if (kind() === "ask") {
      const reply = await api("ask", { json: { question: text, video_ids: videoIds, analyzer } });
      const note = reply.answer ? null : reply.error ?? "There is no answer to that in the footage.";
      showResults(text, reply.answer, reply.results, note);
      announce(reply.answer ? `Answer: ${reply.answer}` : note);
    } else {
      const found = await api("query", { json: {
        text, video_ids: videoIds, analyzer: analyzer ?? undefined, field: $("find-field").value,
        limit: 12, synthesize: false, detail: "minimal",
      } });
      const note = found.results.length ? null : "Nothing matches. Try other words, or look in something else.";
      showResults(plural(found.results.length, "moment"), null, found.results, note);
      announce(note ?? `${plural(found.results.length, "moment")} found`);
    }
  } finally {
    button.disabled = false;
  }
});

// ---------------------------------------------------------------- adding a video

function options() {
  const mode = $("mode").value;
  const chosen = {
    analyzers: [...document.querySelectorAll('input[name="analyzer"]:checked')].map((box) => box.value).join(","),
    mode,
  };
  const number = (id) => ($(id).value === "" ? undefined : Number($(id).value));
  if (mode === "preset") chosen.preset = $("preset").value;
  if (mode === "weights") for (const name of ["speaker", "silence", "cut", "semantic"]) chosen[name] = number(`weight-${name}`);
  if (mode === "interval") chosen.interval = number("interval");
  else Object.assign(chosen, { min_duration: number("min-duration"), max_duration: number("max-duration") });
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined && value !== ""));
}

function showMode() {
  for (const block of document.querySelectorAll("[data-mode]")) {
    block.hidden = !block.dataset.mode.split(" ").includes($("mode").value);
  }
}

function pickFile(file) {
  $("file-name").textContent = file ? `${file.name}, ${(file.size / 1e6).toFixed(1)} MB` : "Any format FFmpeg reads";
}

function addError(text) {
  $("add-error").textContent = text;
  $("add-error").hidden = !text;
}

async function add(event) {
  event.preventDefault();
  addError("");
  const file = $("file").files[0];
  const url = $("url").value.trim();
  if (!file && !url) return addError("Choose a file or give an address.");
  if (file && url) return addError("Choose either a file or an address, not both.");
  const button = $("add-submit");
  button.disabled = true;
  const analyzers = options().analyzers?.split(",").length ?? 1;
  let card;
  try {
    let accepted;
    if (file) {
      const form = new FormData();
      for (const [key, value] of Object.entries(options())) form.append(key, value);
      form.append("file", file, file.name);
      card = jobCard(`upload-${Date.now()}`, file.name);
      card.show(0, "Uploading");
      accepted = await upload(form, (part) => card.show(part * 100, part < 1 ? `Uploading, ${Math.floor(part * 100)} %` : "Uploaded"));
    } else {
      accepted = await api("videos/url", { json: { url, ...options() } });
    }
    card?.remove();
    $("add-form").reset();
    pickFile(null);
    showMode();
    announce(`${accepted.source} is accepted`);
    follow(accepted.job_id, accepted.source, analyzers);
  } catch (error) {
    card?.remove();
    if (error.status !== 401) addError(error.message);
  } finally {
    button.disabled = false;
  }
}

// ---------------------------------------------------------------- jobs

function jobCard(id, name) {
  const bar = element("progress", { max: 100, value: 0, "aria-label": `Progress of ${name}` });
  const text = element("p", { class: "quiet" });
  const node = element("li", { class: "job", "data-job": id },
    element("div", { class: "job-head" }, element("span", { class: "job-name" }, name)), bar, text);
  $("jobs").append(node);
  $("jobs-card").hidden = false;
  const remove = () => {
    node.remove();
    $("jobs-card").hidden = $("jobs").children.length === 0;
  };
  return {
    remove,
    show(percent, line) {
      bar.value = percent;
      if (text.textContent !== line) text.textContent = line;
    },
    fail(line) {
      bar.remove();
      text.className = "notice notice-error";
      text.textContent = line;
      node.append(element("button", { type: "button", onclick: remove }, "Dismiss"));
    },
  };
}

const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

async function follow(jobId, name, analyzers = 1) {
  if (state.jobs.has(jobId)) return;
  const card = jobCard(jobId, name);
  state.jobs.set(jobId, card);
  let passes = 0;
  let last = "";
  let unreachable = 0;
  for (let round = 0; ; round += 1) {
    let job;
    try {
      job = await api(`jobs/${encodeURIComponent(jobId)}`);
      unreachable = 0;
    } catch (error) {
      if (error.status === 0 && (unreachable += 1) < 30) {
        card.show(0, "The service cannot be reached; trying again");
        await pause(2000);
        continue;
      }
      // After a restart the job is unknown, and the video is there if it was finished.
      card.fail(error.status === 404 ? "The service was restarted. If the video is not in the list, add it again." : error.message);
      await loadVideos().catch(() => {});
      return;
    }
    if (job.status === "failed") {
      card.fail(job.error ?? "The job failed.");
      announce(`${name} failed`);
      state.jobs.delete(jobId);
      return;
    }
    if (job.status === "done") {
      card.remove();
      state.jobs.delete(jobId);
      announce(`${name} is ready`);
      await loadVideos().catch(() => {});
      checkHealth();
      return;
    }
    const stage = job.status === "queued" ? "queued" : job.stage;
    const detail = job.detail ?? {};
    const line = [STAGES[stage]?.[1] ?? capital(words(stage)),
      detail.analyzer && analyzerName(detail.analyzer).toLowerCase(), detail.aggregator && words(detail.aggregator),
      detail.chunks && plural(detail.chunks, "moment")].filter(Boolean).join(": ");
    if (stage === "analyzing" && line !== last) passes += 1;
    last = line;
    const watched = stage === "analyzing" || stage === "indexing";
    const percent = watched ? 35 + 50 * Math.min(1, (passes - (stage === "analyzing" ? 0.7 : 0.2)) / analyzers) : STAGES[stage]?.[0] ?? 50;
    card.show(percent, line);
    await pause(round < 20 ? 500 : 2000);
  }
}

async function followRunning() {
  const { jobs } = await api("jobs");
  for (const job of jobs) {
    if (job.status === "queued" || job.status === "running") follow(job.job_id, job.source ?? `Job ${job.job_id.slice(0, 8)}`);
  }
}

// ---------------------------------------------------------------- start

function listen() {
  addEventListener("hashchange", route);
  $("find-form").addEventListener("submit", find);
  for (const choice of document.querySelectorAll('input[name="kind"]')) choice.addEventListener("change", switchKind);
  $("results-clear").addEventListener("click", clearResults);
  $("add-form").addEventListener("submit", add);
  $("mode").addEventListener("change", showMode);
  $("file").addEventListener("change", () => pickFile($("file").files[0]));
  const drop = $("drop");
  for (const [name, inside] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", inside);
      if (name === "drop" && event.dataTransfer.files.length) {
        $("file").files = event.dataTransfer.files;
        pickFile($("file").files[0]);
      }
    });
  }
  $("video").addEventListener("timeupdate", markCurrentMoment);
  $("video").addEventListener("error", () => {
    if ($("video").getAttribute("src")) toast("This browser cannot play the file. Search and answers work all the same.");
  });
  $("sign-out").addEventListener("click", signOut);
  $("delete").addEventListener("click", deleteCurrent);
  $("close").addEventListener("click", () => { location.hash = "#/"; });
  $("moments-more").addEventListener("click", () => loadChunks(state.current));
}

async function start() {
  listen();
  await checkHealth();
  setInterval(checkHealth, 30_000);
  if (!await signedIn()) return showGate();
  state.schema = await api("schema");
  fillChoices();
  switchKind();
  showMode();
  await loadVideos();
  $("app").hidden = false;
  await followRunning();
  await route();
}

guarded(start)();
