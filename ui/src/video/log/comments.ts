// Calls to the comments on a video.
import { loadPreference, savePreference } from "../../browser/preferences";
import { api, videoPath } from "../../api/client";
import type { Comment, CommentList, Span } from "../../api/types";

const PAGE = 100;
const OWN = "ownComments";

/** Ids of the last comments that were written in this browser. */
export const ownComments = () => loadPreference<string[]>(OWN, []);

const commentsPath = (video: string) => `${videoPath(video)}/comments`;
const commentPath = ({ video_id, comment_id }: Comment) =>
  `${commentsPath(video_id)}/${encodeURIComponent(comment_id)}`;

/** Loads a page of comments in the order of the video. */
export const listComments = (video: string, cursor = "") =>
  api<CommentList>(
    `${commentsPath(video)}?${new URLSearchParams({ limit: String(PAGE), ...(cursor ? { cursor } : {}) })}`,
  );

/** Adds a comment on a span, or a reply; an empty `author` means the name of the token. */
export async function addComment(
  video: string,
  place: Span | { reply_to: string },
  text: string,
  author: string,
) {
  const json = { ...place, text, author: author || null };
  const { comment_id: id } = await api<Comment>(commentsPath(video), { json });
  savePreference(OWN, [...ownComments(), id].slice(-PAGE));
}

export const editComment = (
  comment: Comment,
  json: { text: string } | { settled: boolean; author: string | null },
) => api<Comment>(commentPath(comment), { method: "PATCH", json });

export const deleteComment = (comment: Comment) => api(commentPath(comment), { method: "DELETE" });
