// Corrections of recognised speech, on-screen text, speakers and people.
import { counter } from "../counting";
import type { corrections as english } from "../en/corrections";

const count = counter("de");

export const corrections: typeof english = {
  corrections: {
    correct: "Korrigieren",
    correctAt: (time) => `Transkript bei ${time} korrigieren`,
    correctAll: "Überall korrigieren",
    namePerson: (person) => `${person} benennen`,
    addName: "Namen hinzufügen",
    newName: "Name",
    nameAbout:
      "Der Name erscheint überall, wo die Person im Video vorkommt, und lässt sich rückgängig machen.",
    named: (person, name) => `${person} heißt jetzt ${name}.`,
    sentence: "Transkript korrigieren",
    text: "Gesprochener Text",
    speaker: "Sprecher",
    everywhereSpeaker: (speaker) => `Überall, wo ${speaker} spricht`,
    hereOnly: "Nur hier",
    everywhereWords: "Diese Wörter überall in diesem Video korrigieren",
    kind: "Was korrigieren",
    kinds: {
      words: "Wörter",
      screen_text: "Text im Bild",
      speaker: "Sprecher",
      person: "Person",
      chapter: "Titel eines Kapitels",
    },
    from: "Ersetzen",
    to: "Durch",
    toHint: "Leer lassen, um die Wörter zu entfernen.",
    name: "Name",
    save: "Speichern",
    noChanges: "Noch keine Änderungen.",
    done: (places) => `Korrigiert: ${places}.`,
    places: (n) => count(n, "Stelle", "Stellen"),
    undo: "Rückgängig machen",
    undoOf: (from) => `Korrektur von „${from}“ rückgängig machen`,
    undoAll: "Alle rückgängig machen",
    editTitle: (title: string) => `Titel „${title}“ bearbeiten`,
    titleChanged: "Titel geändert.",
    newChapter: "Neues Kapitel",
    chapterAdded: "Kapitel hinzugefügt.",
    chapterHint: "Um ein Kapitel hinzuzufügen, Anfang und Ende auf der Zeitleiste markieren.",
    undone: "Original wiederhergestellt.",
    about:
      "Korrekturen gelten sofort in Untertiteln, Exporten, Suche und Antworten, kurz darauf auch in Zusammenfassungen. Eine neue Analyse erhält sie.",
    everywhere: "überall",
    between: (start, end) => `${start} bis ${end}`,
    nowhere: "keine Treffer",
    removed: "entfernt",
    corrected: "korrigiert",
    was: (text) => `Korrigiert, vorher „${text}“`,
    add: "Korrektur hinzufügen",
  },
};
