// Links to parts of videos, for people without a token.

export const share = {
  share: {
    open: "Share link",
    heading: (what: string) => `Share ${what || "video"}`,
    about: "People who have the link can play and download what it shares without signing in.",
    asNow: "The link has the selects as they are now.",
    openToAll:
      "This service has no sign-in: anyone who can reach its address sees everything, not only this part. Setting auth.tokens changes that.",
    title: "Title",
    expiry: "Expires in",
    days: (days: number) => (days === 1 ? "1 day" : `${days} days`),
    create: "Create link",
    all: "All links",
    none: "No links yet.",
    by: (name: string) => `created by ${name}`,
    link: (name: string) => `Link to ${name}`,
    expires: (when: string) => `expires ${when}`,
    expired: "expired",
    copy: "Copy",
    copied: "Copied",
    notCopied: "The browser cannot copy here. Select the link to copy it.",
    withdraw: "Withdraw",
  },
};
