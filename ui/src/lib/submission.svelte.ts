import { errorMessage } from "./state.svelte";

/** What a dialog sends: whether it is on its way, and why it was refused. */
export class Submission {
  busy = $state(false);
  error = $state("");

  /** Sends a form; its dialog closes when that has worked. */
  async send(event: SubmitEvent, dialog: HTMLDialogElement, work: () => Promise<void>): Promise<void> {
    event.preventDefault();
    this.busy = true;
    this.error = "";
    try {
      await work();
      dialog.close();
    } catch (reason) {
      this.error = errorMessage(reason);
    } finally {
      this.busy = false;
    }
  }
}
