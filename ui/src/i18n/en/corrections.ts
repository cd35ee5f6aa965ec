// Corrections of recognised speech, on-screen text, speakers and people.
import { counter } from "../counting";

const count = counter("en");

export const corrections = {
  corrections: {
    correct: "Correct",
    correctAt: (time: string) => `Correct transcript at ${time}`,
    correctAll: "Correct everywhere",
    namePerson: (person: string) => `Name ${person}`,
    addName: "Add name",
    newName: "Name",
    nameAbout: "The name is shown wherever this person appears in the video. You can undo this.",
    named: (person: string, name: string) => `${person} is now ${name}.`,
    sentence: "Correct transcript",
    text: "Text",
    speaker: "Speaker",
    everywhereSpeaker: (speaker: string) => `Everywhere ${speaker} speaks`,
    hereOnly: "Only here",
    everywhereWords: "Correct these words everywhere in this video",
    kind: "What to correct",
    kinds: {
      words: "Words",
      screen_text: "On-screen text",
      speaker: "Speaker",
      person: "Person",
      chapter: "Title of a chapter",
    },
    from: "Replace",
    to: "With",
    toHint: "Leave empty to remove the words.",
    name: "Name",
    save: "Save",
    noChanges: "No changes yet.",
    done: (places: string) => `Corrected in ${places}.`,
    places: (n: number) => count(n, "place", "places"),
    undo: "Undo",
    undoOf: (from: string) => `Undo correction of “${from}”`,
    undoAll: "Undo all",
    editTitle: (title: string) => `Edit title “${title}”`,
    titleChanged: "Title changed.",
    undone: "Original restored.",
    about:
      "Corrections apply to captions, exports, search and answers at once, and to summaries shortly after. They are kept when the video is analysed again.",
    everywhere: "everywhere",
    between: (start: string, end: string) => `${start} to ${end}`,
    nowhere: "no matches",
    removed: "removed",
    corrected: "corrected",
    was: (text: string) => `Corrected from “${text}”`,
    add: "Add correction",
  },
};
