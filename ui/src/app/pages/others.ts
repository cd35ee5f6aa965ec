// The smaller pages and the dialog of links, which are one script: together they compress better.
export { default as activity } from "./Activity.svelte";
export { default as alerts } from "./Alerts.svelte";
export { default as compare } from "./Compare.svelte";
export { default as jobs } from "./Jobs.svelte";
export { default as persons } from "./People.svelte";
export { default as shares } from "./Shares.svelte";
export { default as ShareDialog } from "../../share/ShareDialog.svelte";
