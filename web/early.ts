// Runs before the first paint, while the page's script is still on its way.
import { sendEarly } from "./data/early.ts";

sendEarly();

// So that a chosen theme never flashes as the other one.
const wall = location.pathname === "/wall";
const lightWall = wall && new URLSearchParams(location.search).get("theme") === "light";
const own = localStorage.getItem("mantine-color-scheme-value") ?? "auto";
const chosen = wall ? (lightWall ? "light" : "dark") : own;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset["mantineColorScheme"] =
  chosen === "auto" ? (dark ? "dark" : "light") : chosen;
