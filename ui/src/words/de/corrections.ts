// Richtigstellen, was falsch gehört, gelesen oder erkannt wurde.
import { counting } from "../counting";

const many = counting("de");

export const corrections = {
  corrections: {
    correct: "Korrigieren",
    correctAt: (time: string) => `Gesprochenes bei ${time} korrigieren`,
    correctAll: "Überall korrigieren",
    nameOf: (person: string) => `${person} benennen`,
    somebody: "Namen vergeben",
    newName: "Name der Person",
    nameAbout:
      "Der Name gilt überall, wo diese Person im Video zu sehen ist, und lässt sich rückgängig machen.",
    named: (person: string, name: string) => `${person} heißt jetzt ${name}.`,
    sentence: "Gesprochenes korrigieren",
    said: "Was gesagt wird",
    speaker: "Wer es sagt",
    everywhereSpeaker: (speaker: string) => `Überall, wo ${speaker} spricht`,
    hereOnly: "Nur hier",
    everywhereWords: "Dieselben Wörter auch überall sonst in diesem Video",
    what: "Was falsch ist",
    of: { words: "Wörter", screen_text: "Text im Bild", speaker: "Ein Sprecher", person: "Eine Person" },
    from: "So steht es da",
    to: "Was richtig ist",
    toHint: "Bleibt das Feld leer, entfallen die Wörter.",
    name: "Richtiger Name",
    save: "Speichern",
    nothing: "Noch ist nichts geändert.",
    done: (places: string) => `Korrigiert: ${places}.`,
    places: (count: number) => many(count, "Stelle", "Stellen"),
    undo: "Rückgängig machen",
    undoOf: (from: string) => `Korrektur von „${from}“ rückgängig machen`,
    undoAll: "Alle rückgängig machen",
    undone: "Angezeigt wird wieder, was gefunden wurde.",
    explained:
      "Korrekturen gelten sofort in Untertiteln, Exporten, Suche und Antworten, kurz darauf in Zusammenfassungen, und bleiben bei einer neuen Analyse erhalten.",
    everywhere: "überall",
    between: (start: string, end: string) => `${start} bis ${end}`,
    nowhere: "trifft auf nichts zu, was jetzt gefunden wird",
    removed: "entfernt",
    corrected: "korrigiert",
    was: (text: string) => `Korrigiert; vorher „${text}“`,
    other: "Anderes korrigieren",
  },
};
