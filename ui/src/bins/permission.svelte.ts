// Whether the caller may change bins. The service has no route that states it, so a change that can never
// apply is attempted once: it is refused with 403 if the token is read-only.
import { api, ApiError } from "../api/client";
import { app } from "../state/app.svelte";

const FORBIDDEN = 403;
/** An id that no bin has, and a version that no bin has. */
const NO_BIN = "000000000000";
const NO_VERSION = '"0"';

let probed = $state<boolean | null>(null);
let probing = false;

async function probe() {
  probing = true;
  try {
    await api(`bins/${NO_BIN}/undo`, { method: "POST", headers: { "If-Match": NO_VERSION } });
    probed = true;
  } catch (error) {
    probed = !(error instanceof ApiError && error.status === FORBIDDEN);
  }
}

/** Whether changes to bins may be offered; false until it is known. */
export function canWrite(): boolean {
  // Without tokens, everyone may write.
  if (!app.canSignOut) return true;
  if (probed === null && !probing) void probe();
  return probed ?? false;
}
