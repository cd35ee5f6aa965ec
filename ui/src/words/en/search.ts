// Searching and asking, and what comes of it.
import { counting } from "../counting";
import type { Names } from "../names";

const many = counting("en");

export const search = {
  search: {
    label: "Search the footage",
    example: "A boat leaving the harbour",
    search: "Search",
    searching: "Searching…",
    filters: "Filters",
    lookIn: "Look in",
    everything: "Everything",
    matchOn: "Match on",
    fields: {
      combined: "Everything",
      description: "The description",
      people: "People",
      actions: "Actions",
      objects: "Objects",
    } as Names,
    fieldHints: {
      combined: "All that is known of a moment.",
      description: "What the picture is said to show.",
      people: "How the people look.",
      actions: "What is done, and with what.",
      objects: "What the things are called.",
    } as Names,
    searchBy: "Search by",
    whateverFits: "Whatever fits",
    modes: { vector: "Meaning", text: "Words", hybrid: "Meaning and words" } as Names,
    modeHints: {
      "": "Meaning and words in everything, meaning alone in one thing.",
      vector: "Moments that mean it, in whatever words.",
      text: "Moments where the words are said, shown or described; “quoted words” stand together.",
      hybrid: "Both, joined: what is near in meaning and what has the words.",
    } as Names,
    atMost: "At most",
    alike: "At least this alike (0–1)",
    useAdvised: (value: string) => `Use ${value}, measured here`,
    probable: "At least this probable (0–1)",
    answer: "Sum the moments up in an answer",
    order: "Order",
    orders: { "": "Best first", video: "By video", time: "By time" },
    answerName: "Answer",
    unanswered: (why: string) => `The answer could not be written: ${why}`,
    doubtful:
      "Probably none of these is what you are looking for: they are the nearest there is. How sure that is stands beside each.",
    upTo: (count: number) => `Show up to ${count}`,
    empty: "Find a moment by what it means",
    emptyAbout:
      "Describe what you are looking for in your own words. The results are the moments whose description, speech or text on screen come closest; each plays where it is.",
    fromAnywhere: "brings you here from any page.",
  },
  scope: { label: "In these videos", all: "all videos" },
  picker: {
    any: "any",
    another: "and another",
    chosen: "Chosen",
    remove: (name: string) => `Remove ${name}`,
    choices: "To choose from",
    unlisted: "What there is cannot be listed now; type it.",
  },
  filters: {
    all: "All of these at once",
    names: {
      min_people: "At least so many people",
      max_people: "At most so many people",
      after: "From this second of the video",
      before: "Up to this second of the video",
      recorded_after: "Recorded after",
      recorded_before: "Recorded before",
    } as Names,
    noSuch: (name: string) => `There is no filter “${name}”.`,
    notFoundOut: (name: string) => `“${name}” is not found out by this service.`,
    elsewhere: (name: string, analyzers: string) =>
      `“${name}” is told by ${analyzers} alone: look there, or in everything.`,
    notAnalysed: (name: string, analyzers: string) =>
      `“${name}” is told by ${analyzers}, which no video here was analysed for.`,
    apart: (names: string) =>
      `${names} are told apart from each other, so that no moment can have all of them.`,
  },
  searches: {
    title: "Kept and recent searches",
    kept: "Kept",
    recent: "Recent",
    keep: "Keep this search",
    forget: "Forget the recent ones",
    within: (videos: string) => `in ${videos}`,
  },
  hits: {
    foundIn: (analyzers: string) => `found in ${analyzers}`,
    onTimeline: "Show on the timeline",
    inVideo: "Search in this video",
    alike: "More like this",
    likeness: "Likeness",
    likenessHint:
      "How near the meanings of the search and of the moment are, 0 to 1. It is not a probability.",
    reallyHere: "Really here",
    reallyHereHint:
      "Measured against unrelated searches: how probable it is that what is searched for is really here.",
    words: "Words",
    wordsHint: "How well the words themselves match; it has no upper end.",
    openVideo: "Open the video",
  },
  none: {
    matches: (query: string) => `Nothing matches “${query}”.`,
    narrowed: "Filters only ever remove results: try without them.",
    other: "Try other words, or look in something else.",
    without: (filter: string, moments: string) => `Without “${filter}” there would be ${moments}.`,
    elsewhere: (analyzer: string) => `“${analyzer}” has it: look in everything.`,
    closest: (score: string) => `The closest moment is ${score} alike.`,
    closestOf: (score: string, asked: string) =>
      `The closest moment is ${score} alike, and you asked for at least ${asked}.`,
    notAnalysed: (names: string, count: number) =>
      `${names} ${count === 1 ? "has" : "have"} not been analysed for this.`,
    nothingStored: (names: string, count: number) =>
      `${names} ${count === 1 ? "has" : "have"} nothing stored that this search matches on.`,
    noVideo: (names: string) => `There is no video ${names}.`,
  },
  ask: {
    label: "Ask about the footage",
    example: "Who leaves the harbour, and when?",
    more: "What else?",
    ask: "Ask",
    stop: "Stop",
    thinking: "Thinking…",
    stopped: "You stopped it.",
    sameVideos: (count: number) =>
      `Ask on about ${count === 1 ? "this video" : `these ${many(count, "video", "videos")}`}`,
    evidence: "Evidence from",
    whateverFits: "Whatever fits",
    empty: "Ask in plain words",
    emptyAbout:
      "The answer is drawn from the footage alone, and every sentence names the moments it rests on: click one to see for yourself.",
    reading: (moments: string) => `Reading ${moments}…`,
    looking: "Looking for the moments that bear on it…",
    nothing: "There is no answer to that in the footage.",
    copy: "Copy with sources",
    copied: "The answer is copied, with its sources.",
    noCopy: "This browser does not let pages copy here.",
    nearest: (count: number) => many(count, "nearest moment", "nearest moments"),
    other: (count: number) => many(count, "other moment", "other moments"),
  },
  answer: {
    refusal: "Not in the footage",
    weak: "Weak",
    weakHint: "The moments bear this out in part",
    leftOut: "Left out",
    checked: (told: string) => `Checked sentence by sentence: ${told}`,
    verdicts: { supported: "borne out", weak: "weak", unsupported: "left out" },
    read: "What was read for this",
    nothing: "nothing that fits",
    counts: {
      chunks: (count: number) => many(count, "moment", "moments"),
      sections: (count: number) => many(count, "part of the summary", "parts of the summary"),
      summary: (count: number) => many(count, "summary", "summaries"),
      entities: (count: number) => many(count, "person", "people"),
      object_entities: (count: number) => many(count, "object", "objects"),
      ner: (count: number) => many(count, "name", "names"),
      events: (count: number) => many(count, "event", "events"),
      chapters: (count: number) => many(count, "chapter", "chapters"),
    } as Record<string, (count: number) => string>,
  },
};
