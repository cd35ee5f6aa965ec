// The page frame and texts shared by all pages: counts, names, header, sign-in, settings.
import { counter } from "../counting";
import type { Names } from "../names";

const count = counter("en");

export const frame = {
  /** Counted nouns. */
  count: {
    videos: (n: number) => count(n, "video", "videos"),
    moments: (n: number) => count(n, "moment", "moments"),
    files: (n: number) => count(n, "file", "files"),
    calls: (n: number) => count(n, "call", "calls"),
    aiCalls: (n: number) => count(n, "AI call", "AI calls"),
    tokens: (n: number) => count(n, "token", "tokens"),
    seconds: (n: number) => count(n, "second", "seconds"),
    minutes: (n: number) => count(n, "minute", "minutes"),
    sources: (n: number) => count(n, "source", "sources"),
    frames: (n: number) => count(n, "frame", "frames"),
    matches: (n: number) => count(n, "match", "matches"),
    sections: (n: number) => count(n, "section", "sections"),
    speakerChanges: (n: number) => count(n, "speaker change", "speaker changes"),
    speechSegments: (n: number) => count(n, "speech segment", "speech segments"),
  },
  /** Texts that many pages use. */
  common: {
    and: "and",
    tryAgain: "Try again",
    cancel: "Cancel",
    close: "Close",
    delete: "Delete",
    options: "Options",
    all: "All",
    megabytes: (number: string) => `${number} MB`,
    percent: (number: number) => `${number}%`,
    /** A name within a sentence. */
    inText: (name: string) => name.toLowerCase(),
    quoted: (name: string) => `“${name}”`,
  },
  pages: {
    "": "Library",
    videos: "Video",
    search: "Search",
    ask: "Ask",
    jobs: "Jobs",
    alerts: "Alerts",
    compare: "Compare",
    settings: "Settings",
  },
  frame: {
    skip: "Skip to content",
    home: "Shotlog home",
    navigation: "Main navigation",
    keyboardShortcuts: "Keyboard shortcuts",
    signOut: "Sign out",
    inProgress: (count: number) => `${count} in progress`,
    notFound: "Page not found",
    notFoundHeading: "This page does not exist",
    notLoaded: (why: string) => `This page could not be loaded. ${why}`,
    allVideos: "All videos",
    unreachable: "Unreachable",
    connecting: "Connecting…",
    ready: "Ready",
    degraded: "Degraded",
    noStorage: "Storage unreachable",
    schemaFailed: (why: string) => `The list of available features could not be loaded. ${why}`,
    linkCopied: (what: string) => `Copied link to ${what}.`,
  },
  errors: {
    unreachable: "The service cannot be reached. It may have stopped, or the network may be down.",
    status: (status: number) => `The service returned an error (${status}).`,
  },
  signIn: {
    title: "Sign in",
    about: "This service requires an access token. Your browser does not store it.",
    refused: "Token not accepted. Check it and try again.",
    token: "Access token",
  },
  settings: {
    about: "Saved in this browser.",
    theme: "Appearance",
    themes: { system: "Match system", light: "Light", dark: "Dark" },
    language: "Language",
    matchBrowser: (name: string) => `Match browser (${name})`,
    timeFormat: "Time format",
    timeFormatHint: "Used in the player, the timeline and ranges.",
    keyboardShortcuts: "Keyboard shortcuts",
  },
  timeFormats: {
    clock: "Minutes and seconds",
    seconds: "Hundredths of a second",
    frames: "Timecode with frames",
  },
  keys: {
    space: "Space",
    toggle: "Play / pause",
    ten: "Back / forward 10 seconds",
    five: "Back / forward 5 seconds",
    frame: "Previous / next frame",
    range: "Set range start / end",
    clearRange: "Clear range",
    hits: "Next / previous result",
    search: "Search",
    zoom: "Zoom in / zoom out / fit the focused timeline",
    list: "Show keyboard shortcuts",
  },
  /** Labels of the service, which writes them in English. */
  labels: {} as Names,
};
