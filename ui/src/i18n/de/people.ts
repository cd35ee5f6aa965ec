// The people who have a name, across videos, and the selection of people in a video.
import type { persons as english } from "../en/people";

export const persons: typeof english = {
  persons: {
    about: "Personen und Sprecher mit demselben Namen sind hier eine Person, in allen Videos.",
    find: "Namen suchen",
    empty: "Noch keine Namen",
    emptyAbout:
      "Ein Video öffnen und jemanden benennen: eine Person unter „Personen“ oder einen Sprecher im Transkript. Wer dieselbe Person ist, bekommt denselben Namen.",
    noMatches: "Keine passenden Namen.",
    open: (name, videos) => `${name} anzeigen, in ${videos}`,
    visible: "Im Bild",
    speaking: "Spricht",
    visibleFor: (time) => `${time} im Bild`,
    speaksFor: (time) => `spricht ${time}`,
    more: "Weitere Personen",
    moreAppearances: "Weitere Auftritte",
    omitted: (videos) => `${videos} mit Korrekturen, die ältesten, sind nicht berücksichtigt.`,
    play: (video, kind, time) => `${kind} in ${video} bei ${time}`,
    all: "Alle Personen",
    rename: "Umbenennen",
    lookFor: "In anderen Videos suchen",
    isHere: (name) => `Das ist ${name}`,
    isNamed: (name) => `Die Person in diesem Moment heißt jetzt ${name}.`,
    uncertain: "Es ist unklar, wer gemeint ist. Die Person bitte im Video benennen.",
    renameTitle: (name) => `${name} umbenennen`,
    renameAbout: (videos) =>
      `Der Name ändert sich in ${videos}. Hat schon jemand diesen Namen, werden beide eine Person.`,
    renamed: (from, to, videos) => `${from} heißt jetzt ${to}, in ${videos}.`,
    allVideos: (name) => `${name} in allen Videos`,
    select: (name) => `${name} auswählen`,
    selected: (n) => `${n} Personen`,
    nameSelected: (n) => `${n} Personen benennen`,
    named: (persons, name) => `${persons} heißen jetzt ${name}.`,
    takeBack: (name, person) => `„${name}“ von ${person} entfernen`,
    unlinked: (appearances) =>
      `Außerdem zu sehen: ${appearances} von Personen, die sich nicht unterscheiden lassen. Sie werden nur gezählt.`,
  },
};
