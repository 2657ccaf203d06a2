/** Runs before the first paint, while the page's script still loads. */
import { sendEarly } from "./data/early-requests.ts";
import { wasSignedIn } from "./data/stored-organization.ts";

sendEarly();

// Shows the outline of the frame until the script has loaded.
if (wasSignedIn() && !/^\/(wall|sign-in|set-up|invitation)$/.test(location.pathname))
  document.documentElement.dataset["hasFrame"] = "";

// Sets the theme now, so that the page does not flash in the wrong colors.
const isWall = location.pathname === "/wall";
const lightWall = isWall && new URLSearchParams(location.search).get("theme") === "light";
const chosenScheme = localStorage.getItem("mantine-color-scheme-value") ?? "auto";
const shownScheme = isWall ? (lightWall ? "light" : "dark") : chosenScheme;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset["mantineColorScheme"] =
  shownScheme === "auto" ? (dark ? "dark" : "light") : shownScheme;
