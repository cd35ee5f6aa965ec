import { errorMessage } from "../api/failure";

/** The state of a dialog's form submission. */
export class Submission {
  busy = $state(false);
  error = $state("");

  /** Submits the form and closes the dialog on success. */
  async send(event: Event, dialog: HTMLDialogElement, work: () => Promise<void>): Promise<void> {
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
