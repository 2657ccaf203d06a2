import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type adminWorld, inTheme, ownFaults } from "./admin-world.ts";
import { overflowOf, screenshots, violations, visit } from "./browsing.ts";

type World = Awaited<ReturnType<typeof adminWorld>>;

const widths = [360, 768, 1440];

/** What axe finds in both themes, and where the page is wider than its window; kept as pictures. */
export async function flawsOfLooks(page: Page, name: string): Promise<string[]> {
  const flaws: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.setViewportSize({ width: 1440, height: 1_600 });
    await inTheme(page, scheme);
    flaws.push(...(await violations(page)).map((flaw) => `${scheme} ${flaw}`));
    for (const width of scheme === "light" ? widths : [1440]) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await overflowOf(page);
      if (overflow > 0) flaws.push(`${width} px wide: ${overflow} px too wide`);
      await page.screenshot({ path: join(screenshots, `admin-${name}-${width}-${scheme}.png`) });
    }
  }
  return flaws;
}

/** What tests run in every frame is blocked in the preview of a status page, where no script runs at all. */
export const ownFaultsBesidePreview = (faults: readonly string[]) =>
  ownFaults(faults).filter(
    (fault) => !fault.startsWith("Blocked script execution in 'about:srcdoc'"),
  );

/** Somebody who may only look: opens pages as they see them. */
export async function viewerOf({ url, ask }: World) {
  const email = "vic@acme.example";
  const { link } = await ask("POST", "/invitations", { email, role: "viewer" });
  const token = new URL(link, url).hash.slice(1);
  const response = await fetch(`${url}/dashboard/invitations/accept`, {
    method: "POST",
    headers: { Origin: url, "Content-Type": "application/json" },
    body: JSON.stringify({ token, name: "Vic", password: "only looking here" }),
  });
  if (!response.ok) throw new Error(await response.text());
  const [pair = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  const [name = "", value = ""] = pair.split("=");
  return (browser: Browser, path: string) =>
    visit(browser, url + path, {
      reducedMotion: "reduce",
      storageState: {
        cookies: [
          {
            name,
            value,
            domain: "127.0.0.1",
            path: "/",
            expires: -1,
            httpOnly: true,
            secure: false,
            sameSite: "Strict",
          },
        ],
        origins: [],
      },
    });
}
