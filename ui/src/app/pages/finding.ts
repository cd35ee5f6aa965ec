// The pages for searches and questions, which share most of their components and are one script.
export { default as ask } from "./Ask.svelte";
export { default as search } from "./Search.svelte";
