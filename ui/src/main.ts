// Mounts the page. It is a client of the public API and of nothing else, and holds no credential.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";

const target = document.getElementById("root");
if (target) mount(App, { target });
