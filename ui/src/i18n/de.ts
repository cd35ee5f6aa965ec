// The German catalogue. It avoids "du" and "Sie": buttons and hints are infinitives.
import type { Messages } from "./en";
import { bins } from "./de/bins";
import { comments } from "./de/comments";
import { corrections } from "./de/corrections";
import { frame } from "./de/frame";
import { jobs } from "./de/jobs";
import { library } from "./de/library";
import { persons } from "./de/people";
import { search } from "./de/search";
import { share } from "./de/share";
import { video } from "./de/video";

export const de: Messages = {
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
