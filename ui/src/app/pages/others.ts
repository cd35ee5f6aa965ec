// The smaller pages, which are one script: together they compress better.
export { default as activity } from "./Activity.svelte";
export { default as alerts } from "./Alerts.svelte";
export { default as compare } from "./Compare.svelte";
export { default as jobs } from "./Jobs.svelte";
export { default as persons } from "./People.svelte";
