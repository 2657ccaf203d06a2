import { connection } from "../../data/connection.ts";
import { get } from "../../data/client.ts";

const everyMs = 5 * 60_000;

/** Loads the page anew once the server has another one; being asked keeps the session from idling, too. */
export function followUpgrades(): () => void {
  const look = () => void reloadIfOld().catch(() => {});
  const timer = setInterval(look, everyMs);
  const heard = connection.onHealed(look);
  return () => {
    clearInterval(timer);
    heard();
  };
}

async function reloadIfOld() {
  await get("/session");
  const response = await fetch("/wall", { cache: "no-store" });
  const [script] = /\/assets\/main-[\w-]+\.js/.exec(await response.text()) ?? [];
  const own = document.querySelector<HTMLScriptElement>("script[type=module]")?.src;
  if (response.ok && script !== undefined && own !== undefined && !own.endsWith(script))
    location.reload();
}
