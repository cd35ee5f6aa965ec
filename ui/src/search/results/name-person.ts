// Names the person in a result of a search for a picture of them.
import { api, videoPath } from "../../api/client";
import { errorMessage } from "../../api/failure";
import type { Entity, Hit } from "../../api/types";
import { m } from "../../i18n/language.svelte";
import { link } from "../../state/address.svelte";
import { app, toast } from "../../state/app.svelte";

/** The people who are visible in a moment. */
export const peopleIn = (all: Entity[], { start, end }: Pick<Hit, "start" | "end">): Entity[] =>
  all.filter(({ timeline, first_seen, last_seen }) =>
    (timeline?.spans ?? [[first_seen, last_seen]]).some(([from, to]) => from < end && to > start),
  );

/** Names the only person in a moment. If there are several, or none who is linked, the user names them in the video. */
export async function namePerson(hit: Hit, name: string) {
  const path = videoPath(hit.video_id);
  try {
    const { entities } = await api<{ entities: Entity[] }>(`${path}/entities`);
    const [person, ...others] = peopleIn(entities, hit);
    if (!person || others.length) {
      const tab = app.schema?.presentation.aggregators.find(({ kind }) => kind === "linked_people")?.tab?.id;
      const href = link("videos", { t: hit.start, until: hit.end, tab }, hit.video_id);
      toast(m.persons.uncertain, [{ text: m.hits.openVideo, href }]);
      return;
    }
    const json = { corrections: [{ of: "person", from: person.entity_id, to: name }] };
    const { corrections } = await api<{ corrections: { id: string }[] }>(`${path}/corrections`, { json });
    const undo = async () => {
      for (const { id } of corrections) await api(`${path}/corrections/${id}`, { method: "DELETE" });
      toast(m.corrections.undone);
    };
    toast(m.persons.isNamed(name), [
      { text: m.bin.undo, run: () => void undo().catch((reason) => toast(errorMessage(reason))), undo: true },
    ]);
  } catch (reason) {
    toast(errorMessage(reason));
  }
}
