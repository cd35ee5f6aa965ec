// English: the catalogue that the others are held to. A text that speaks of something is a function of it; a
// count goes through `many`, which picks the form. Whoever adds a text here adds it to the others too: the
// types and a test see to it.
import { corrections } from "./en/corrections";
import { frame } from "./en/frame";
import { jobs } from "./en/jobs";
import { library } from "./en/library";
import { search } from "./en/search";
import { video } from "./en/video";

export const en = { ...frame, ...library, ...jobs, ...video, ...corrections, ...search };

/** The texts that every language has. */
export type Messages = typeof en;
