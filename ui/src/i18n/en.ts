// The English catalogue, which is the reference for all others: the types and a test require every other
// language to have the same entries. A text with placeholders is a function of them; counted nouns go
// through `counter`, which picks the plural form.
import { bins } from "./en/bins";
import { comments } from "./en/comments";
import { corrections } from "./en/corrections";
import { frame } from "./en/frame";
import { jobs } from "./en/jobs";
import { library } from "./en/library";
import { persons } from "./en/people";
import { search } from "./en/search";
import { share } from "./en/share";
import { video } from "./en/video";

export const en = {
  ...frame,
  ...library,
  ...jobs,
  ...video,
  ...comments,
  ...persons,
  ...corrections,
  ...search,
  ...share,
  ...bins,
};

/** The texts that every language provides. */
export type Messages = typeof en;
