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
export type Utterance = Schemas["Utterance"];
export type Entity = Schemas["Entity"];
export type Deleted = Schemas["Deleted"];
export type IngestAccepted = Schemas["IngestAccepted"];
export type Plan = Schemas["Plan"];
export type Alert = Schemas["Alert"];
export type AlertMatch = Schemas["AlertMatch"];
export type AlertMatchList = Schemas["AlertMatchList"];
export type Bin = Schemas["Bin"];
export type BinList = Schemas["BinList"];
export type BinChanged = Schemas["BinChanged"];
export type Select = Schemas["Select"];
export type SelectList = Schemas["SelectList"];
export type SelectUpdate = Schemas["SelectUpdateRequest"];
export type Comment = Schemas["Comment"];
export type Activity = Schemas["Activity"];
export type ActivityList = Schemas["ActivityList"];
export type CommentList = Schemas["CommentList"];
export type Person = Schemas["Person"];
export type PeopleList = Schemas["PeopleList"];
export type PersonPage = Schemas["PersonPage"];
export type Appearance = Schemas["Appearance"];
export type Share = Schemas["Share"];
export type ShareList = Schemas["ShareList"];
export type RerunAccepted = Schemas["RerunAccepted"];

export type Job = Omit<Schemas["Job"], "detail" | "result"> & {
  detail: {
    chunks?: number;
    analyzer?: string;
    /** Number of requested analyzers, and how many of them come before the one that runs. */
    analyzers?: number;
    analyzers_done?: number;
    aggregator?: string;
    /** Speech recogniser, while it runs; `done` and `total` then count speech segments. */
    recogniser?: string;
    done?: number;
    total?: number;
    traceback?: string;
  };
  result: Partial<Schemas["IngestResult"] & Schemas["AggregatesResult"] & Schemas["CollectionResult"]> | null;
};

/** A value of user metadata. */
export type MetadataValue = string | number | boolean | string[];
/** Changes to user metadata by key; null removes a key. */
export type MetadataPatch = Record<string, MetadataValue | null>;

export type Span = { start: number; end: number };

/** `box` is left, top, width and height as fractions (0..1) of the frame. */
export type Box = { t: number; box: [number, number, number, number] };

/** A box that is drawn over the picture, with the name of the analysis that found it. */
export type DrawnBox = { label: string; source: string; box: Box };

/** A JSON object whose fields depend on the analyzer or aggregator. */
export type Fields = Record<string, unknown>;

/** How the page shows the outputs of an analyzer or the results of an aggregator. */
export type Presentation = Schemas["Presentation"];
export type Track = Schemas["PresentationTrack"];
export type TrackLane = Schemas["PresentationLane"];
export type ChartSpec = Schemas["PresentationChart"];

/** A chunk with the output of each analyzer, by id. */
export type Chunk = Span & { chunk_id: number; timecode: string; [analyzer: string]: unknown };

/** A search result at any level of detail, or a cited moment. */
export type Hit = Pick<Schemas["MinimalResult"], "video_id" | "start" | "end"> &
  Partial<Schemas["MinimalResult"] & Schemas["FullResult"]>;

export type Intervals = Schemas["Intervals"];
export type VideoIntervals = Schemas["VideoIntervals"];
export type IntervalSpan = Schemas["IntervalSpan"];
export type IntervalProof = Schemas["IntervalProof"];

export type Diagnostics = Schemas["Diagnostics"];
export type AuditedSentence = Schemas["AuditedSentence"];
export type QueryResponse = Omit<Schemas["QueryResponse"], "results"> & { results: Hit[] };

export type AskResponse = Omit<Schemas["AskResponse"], "results"> & { results: Hit[] };

/** A level of sections of a text; each section has its text in the field that holds the whole text. */
export type Tier = { level: number; section_count: number; sections: (Span & Fields)[] };

/** Results of aggregators, by id. */
export type Aggregates = Fields;
