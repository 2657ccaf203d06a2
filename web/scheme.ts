// Runs before the first paint, so that a chosen theme never flashes as the other one.
const chosen = localStorage.getItem("mantine-color-scheme-value") ?? "auto";
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset["mantineColorScheme"] =
  chosen === "auto" ? (dark ? "dark" : "light") : chosen;
