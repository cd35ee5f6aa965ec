// Comments with the replies to them.
import type { Comment } from "../../api/types";

/** A comment and the replies to it, oldest first. */
export type Thread = { first: Comment; replies: Comment[] };

/** Groups listed comments. The first reply to a deleted comment takes its place. */
export function threads(comments: Comment[]): Thread[] {
  const byComment = new Map<string, Thread>();
  for (const comment of comments) {
    const id = comment.reply_to ?? comment.comment_id;
    const thread = byComment.get(id);
    if (thread) thread.replies.push(comment);
    else byComment.set(id, { first: comment, replies: [] });
  }
  return [...byComment.values()];
}
