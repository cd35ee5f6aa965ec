// Comments on moments of a video.

export const comments = {
  comments: {
    none: "No comments yet.",
    addAt: (time: string) => `Comment at ${time}`,
    text: "Comment",
    hint: "Write a comment on this moment",
    name: "Your name (optional)",
    edit: "Edit",
    reply: "Reply",
    replies: "Replies",
    replyTo: (author: string, time: string) => `Reply to the comment of ${author} at ${time}`,
    editOf: (author: string, time: string) => `Edit the comment of ${author} at ${time}`,
    removeOf: (author: string, time: string) => `Delete the comment of ${author} at ${time}`,
    deleteTitle: "Delete this comment permanently?",
    removed: "Comment deleted.",
    edited: "edited",
    settle: "Settle",
    reopen: "Reopen",
    settledBy: (author: string, when: string) => `Settled by ${author}, ${when}`,
    onlyOpen: (open: number, all: number) => `Only open ones (${open} of ${all})`,
    more: "More comments",
    noneAnywhere: "Comments on the moments of all videos appear here, the newest first.",
    goTo: (time: string) => `Go to ${time}`,
  },
};
