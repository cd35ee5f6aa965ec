// Putting right what the service heard, read or saw.
import { counting } from "../counting";

const many = counting("en");

export const corrections = {
  corrections: {
    correct: "Correct",
    correctAt: (time: string) => `Correct what is said at ${time}`,
    correctAll: "Correct everywhere",
    nameOf: (person: string) => `Say who ${person} is`,
    somebody: "Give a name",
    newName: "Name",
    nameAbout: "The name shows wherever this person is seen in the video, and can be undone.",
    named: (person: string, name: string) => `${person} is now ${name}.`,
    sentence: "Correct what is said",
    said: "What is said",
    speaker: "Who says it",
    everywhereSpeaker: (speaker: string) => `Wherever ${speaker} speaks`,
    hereOnly: "Only here",
    everywhereWords: "The same words everywhere in this video too",
    what: "What is wrong",
    of: { words: "Words", screen_text: "Text on screen", speaker: "A speaker", person: "A person" },
    from: "As it is shown",
    to: "What is right",
    toHint: "Left empty, the words go.",
    name: "Name",
    save: "Save",
    nothing: "Nothing is changed yet.",
    done: (places: string) => `Corrected in ${places}.`,
    places: (count: number) => many(count, "place", "places"),
    undo: "Undo",
    undoOf: (from: string) => `Undo the correction of “${from}”`,
    undoAll: "Undo all",
    undone: "What was found is shown again.",
    explained:
      "Corrections show at once in captions, exports, search and answers, in summaries after a moment, and stay when the video is analysed again.",
    everywhere: "everywhere",
    between: (start: string, end: string) => `${start} to ${end}`,
    nowhere: "applies to nothing that is found now",
    removed: "removed",
    corrected: "corrected",
    was: (text: string) => `Corrected; it was “${text}”`,
    other: "Correct something else",
  },
};
