import { dashboard, dataOf } from "../../data/client.ts";
import { connection } from "../../data/connection.ts";

const lookMs = 10_000;
const compareMs = 5 * 60_000;

/**
 * Asks for the server now and then, so that a lost network is noticed although nothing is sent and the
 * session does not idle, and loads the page anew once the server has another one.
 */
export function followUpgrades(): () => void {
  const look = setInterval(() => void dataOf(dashboard.session.get()).catch(() => {}), lookMs);
  const compare = setInterval(reloadIfOld, compareMs);
  const heard = connection.onRestored(reloadIfOld);
  return () => {
    clearInterval(look);
    clearInterval(compare);
    heard();
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
  const own = document.querySelector<HTMLScriptElement>("script[type=module]")?.src;
  return response.ok && script !== undefined && own !== undefined && !own.endsWith(script);
}
