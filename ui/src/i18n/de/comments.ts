// Comments on moments of a video.
import type { comments as english } from "../en/comments";

export const comments: typeof english = {
  comments: {
    none: "Noch keine Kommentare.",
    addAt: (time) => `Bei ${time} kommentieren`,
    text: "Kommentar",
    hint: "Kommentar zu diesem Moment schreiben",
    name: "Name (freiwillig)",
    edit: "Ändern",
    reply: "Antworten",
    replies: "Antworten",
    replyTo: (author, time) => `Auf den Kommentar von ${author} bei ${time} antworten`,
    editOf: (author, time) => `Kommentar von ${author} bei ${time} ändern`,
    removeOf: (author, time) => `Kommentar von ${author} bei ${time} löschen`,
    deleteTitle: "Diesen Kommentar endgültig löschen?",
    removed: "Kommentar gelöscht.",
    edited: "geändert",
    settle: "Erledigt",
    reopen: "Wieder öffnen",
    settledBy: (author, when) => `Erledigt von ${author}, ${when}`,
    onlyOpen: (open, all) => `Nur offene (${open} von ${all})`,
    more: "Weitere Kommentare",
    noneAnywhere: "Hier erscheinen die Kommentare zu Momenten aller Videos, die neuesten zuerst.",
    goTo: (time) => `Zu ${time} springen`,
  },
};
