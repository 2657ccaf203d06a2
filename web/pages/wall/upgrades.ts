import { minuteMs } from "../../../src/core/time/clock.ts";
import { dashboard, unwrapData } from "../../data/client.ts";
import { connection } from "../../data/connection.ts";

const pollMs = 10_000;
const compareMs = 5 * minuteMs;

/**
 * Polls the server. This detects a lost network on an idle screen and keeps the session alive.
 * Reloads the page after an upgrade of the server.
 */
export function followUpgrades(): () => void {
  const look = setInterval(() => void unwrapData(dashboard.session.get()).catch(() => {}), pollMs);
  const compare = setInterval(reloadIfOld, compareMs);
  const unsubscribe = connection.onRestored(reloadIfOld);
  return () => {
    clearInterval(look);
    clearInterval(compare);
    unsubscribe();
  };
}

function reloadIfOld() {
  isOld()
    .then((old) => old && location.reload())
    .catch(() => {});
}

async function isOld(): Promise<boolean> {
  const response = await fetch("/wall", { cache: "no-store" });
  const [script] = /\/assets\/main-[\w-]+\.js/.exec(await response.text()) ?? [];
  const ownScript = document.querySelector<HTMLScriptElement>("script[type=module]")?.src;
  return (
    response.ok && script !== undefined && ownScript !== undefined && !ownScript.endsWith(script)
  );
}
