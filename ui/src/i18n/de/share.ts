// Links to parts of videos, for people without a token.
import type { share as english } from "../en/share";

export const share: typeof english = {
  share: {
    open: "Link teilen",
    heading: (what) => `${what || "Video"} teilen`,
    about: "Mit dem Link lässt sich ohne Anmeldung abspielen und herunterladen, was geteilt ist.",
    asNow: "Der Link enthält die Clips, wie sie jetzt sind.",
    openToAll:
      "Dieser Dienst hat keine Anmeldung: Wer seine Adresse erreicht, sieht alles, nicht nur diesen Teil. Mit auth.tokens lässt sich das ändern.",
    title: "Titel",
    expiry: "Gültig für",
    days: (days) => (days === 1 ? "1 Tag" : `${days} Tage`),
    create: "Link erstellen",
    all: "Alle Links",
    none: "Noch keine Links.",
    by: (name) => `erstellt von ${name}`,
    link: (name) => `Link zu ${name}`,
    expires: (when) => `gültig bis ${when}`,
    expired: "abgelaufen",
    copy: "Kopieren",
    copied: "Kopiert",
    notCopied: "Der Browser kann hier nicht kopieren. Den Link zum Kopieren auswählen.",
    withdraw: "Zurückziehen",
  },
};
