// Response types of the service. Most come from its OpenAPI document; declared here are only those that the
// document leaves open, because an installation may have more analyzers and aggregators.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Video = Schemas["Video"];
export type VideoDetail = Schemas["VideoDetail"];
export type Health = Schemas["Health"];
export type Schema = Schemas["Schema"];
export type Storyboard = Schemas["Storyboard"];
export type Peaks = Schemas["Peaks"];
export type Preview = Schemas["Preview"];
export type Detector = Schemas["Detector"];
export type Turn = Schemas["Turn"];
export type Entity = Schemas["Entity"];
export type Deleted = Schemas["Deleted"];
export type IngestAccepted = Schemas["IngestAccepted"];
export type Plan = Schemas["Plan"];
export type Alert = Schemas["Alert"];
export type RerunAccepted = Schemas["RerunAccepted"];

export type Job = Omit<Schemas["Job"], "detail" | "result"> & {
  detail: {
    chunks?: number;
    analyzer?: string;
    aggregator?: string;
    /** Speech recogniser, while it runs; `done` and `total` then count speech segments. */
    recogniser?: string;
    done?: number;
    total?: number;
    traceback?: string;
  };
  result: Partial<Schemas["IngestResult"] & Schemas["AggregatesResult"] & Schemas["CollectionResult"]> | null;
};

export type Span = { start: number; end: number };

/** `box` is left, top, width and height as fractions (0..1) of the frame. */
export type Box = { t: number; box: [number, number, number, number] };

/** A person, an object or a line of text in a chunk. */
export type Detection = {
  label?: string;
  text?: string;
  person?: string;
  description?: string;
  first_seen?: number;
  last_seen?: number;
  locations?: Box[];
};

export type Chunk = Span & {
  chunk_id: number;
  timecode: string;
  default_video?: Schemas["DefaultVideoOutput"];
  diarization?: Schemas["DiarizationOutput"];
  transcript?: { text: string; language?: string | null; segments: (Span & { text: string })[] };
  object_detection?: { objects: string[]; detections: Detection[] };
  ocr?: { text: string; texts: Detection[] };
  people?: { people: Detection[]; people_count: number };
};

/** A search result at any level of detail, or a cited moment. */
export type Hit = Pick<Schemas["MinimalResult"], "video_id" | "start" | "end"> &
  Partial<Schemas["MinimalResult"] & Schemas["FullResult"]>;

export type Diagnostics = Schemas["Diagnostics"];
export type AuditedSentence = Schemas["AuditedSentence"];
export type QueryResponse = Omit<Schemas["QueryResponse"], "results"> & { results: Hit[] };

export type AskResponse = Omit<Schemas["AskResponse"], "results"> & { results: Hit[] };

type Mood = { positive: number; neutral: number; negative: number; dominant: string };

export type Tier = { level: number; section_count: number; sections: (Span & { summary: string })[] };

export type ObjectTrack = {
  entity_id: string;
  label: string;
  appearances: number;
  first_seen: number;
  last_seen: number;
  description?: string;
  narrative?: string;
};

export type Aggregates = {
  summary?: { summary: string; key_points: string[]; topics: string[]; tiers: Tier[] };
  chapters?: { chapters: (Span & { title: string; summary: string })[] };
  events?: { events: (Span & { event: string; actor: string; category: string })[] };
  stats?: {
    people?: { series: (Span & { people_count: number })[] };
    objects?: { most_common: [string, number][] };
  };
  novelty?: { ranked: (Span & { chunk_id: number; novelty: number })[]; outliers: { chunk_id: number }[] };
  speaker_stats?: {
    speakers: { speaker: string; seconds: number; turns: number; share: number }[];
    handovers: number;
    total_speech_seconds: number;
  };
  sentiment?: { timeline: (Span & Mood & { speaker?: string })[]; note?: string; dominant?: string };
  ner?: { entities: { text: string; label: string; count: number }[] };
  cooccurrence?: { pairs: { a: string; b: string; chunks: number; seconds: number }[] };
  object_entities?: { objects: ObjectTrack[] };
};
