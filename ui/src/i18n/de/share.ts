// Links to parts of videos, for people without a token.
import type { share as english } from "../en/share";

export const share: typeof english = {
  share: {
    open: "Link teilen",
    heading: (times) => (times ? `${times} teilen` : "Video teilen"),
    about: "Mit dem Link lässt sich dieser Teil ohne Anmeldung abspielen und herunterladen.",
    title: "Titel",
    expiry: "Gültig für",
    days: (days) => (days === 1 ? "1 Tag" : `${days} Tage`),
    create: "Link erstellen",
    links: "Links zu diesem Video",
    link: (name) => `Link zu ${name}`,
    expires: (when) => `gültig bis ${when}`,
    expired: "abgelaufen",
    copy: "Kopieren",
    copied: "Kopiert",
    notCopied: "Der Browser kann hier nicht kopieren. Den Link zum Kopieren auswählen.",
    withdraw: "Zurückziehen",
  },
};
