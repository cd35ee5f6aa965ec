// Links to parts of videos, for people without a token.

export const share = {
  share: {
    open: "Share link",
    heading: (times: string) => (times ? `Share ${times}` : "Share video"),
    about: "Whoever has the link can play and download this part without signing in.",
    title: "Title",
    expiry: "Expires in",
    days: (days: number) => (days === 1 ? "1 day" : `${days} days`),
    create: "Create link",
    links: "Links to this video",
    link: (name: string) => `Link to ${name}`,
    expires: (when: string) => `expires ${when}`,
    expired: "expired",
    copy: "Copy",
    copied: "Copied",
    notCopied: "The browser cannot copy here. Select the link to copy it.",
    withdraw: "Withdraw",
  },
};
