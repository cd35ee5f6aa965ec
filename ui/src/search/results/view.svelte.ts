// How results are arranged; the choice is remembered.
import { loadPreference, savePreference } from "../../browser/preferences";

export type View = "list" | "grid";

export const arrangement = $state<{ view: View }>({
  view: loadPreference<string>("results.view", "") === "grid" ? "grid" : "list",
});

export function chooseView(view: View) {
  arrangement.view = view;
  savePreference("results.view", view);
}
