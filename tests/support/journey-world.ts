import type { Page } from "playwright-core";
import { startOwnedMachine } from "./admin-world.ts";
import { createServerClient, expectSuccess } from "./machine.ts";
import { replyWith, startTarget } from "./target.ts";

/** A machine with two groups and a REST client. */
export async function createJourneyWorld() {
  const owned = await startOwnedMachine();
  const { ask, url, box } = owned;
  const site = await startTarget(replyWith(200));
  const { key } = await ask("POST", "/api-keys", {
    name: "Script",
    scope: "write",
    expiresInDays: null,
  });
  const rest = createServerClient(url, key);
  const get = async (path: string) => (await rest("GET", `/api/v1${path}`)).json.data;
  const groupIds: Record<string, string> = {};
  for (const name of ["Shop", "Office"])
    groupIds[name] = (await ask("POST", "/api/v1/monitor-groups", { name })).id;
  const [shop = "", office = ""] = [groupIds["Shop"], groupIds["Office"]];
  const createJourneyMonitor = async (name: string, groupId: string | null): Promise<string> =>
    (
      await ask("POST", "/api/v1/monitors", {
        type: "http",
        name,
        url: site.at(`/${name.toLowerCase()}`),
        groupId,
        interval: 86_400,
        timeout: 2,
      })
    ).id;
  const ids: Record<string, string> = {};
  for (const name of ["Router", "Printer"]) ids[name] = await createJourneyMonitor(name, office);
  ids["Blog"] = await createJourneyMonitor("Blog", null);
  return {
    ...owned,
    site,
    get,
    rest,
    shop,
    office,
    idOf: (name: string) => ids[name] ?? "",
    /** Number of checks of this path. */
    countChecks: (path: string) => site.asked.filter((one) => one.path === path).length,
    /** Creates a person with this role and a password. */
    async createPerson(role: string) {
      const email = `${role}@acme.example`;
      const args = ["--org", "acme-gmbh", "--email", email, "--name", role, "--role", role];
      const text = await expectSuccess(box.run(["users", "create", ...args]));
      return { email, password: text.split("\n").at(-1) ?? "" };
    },
    async [Symbol.asyncDispose]() {
      await owned[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

export async function signInOnPage(
  page: Page,
  { email, password }: { email: string; password: string },
) {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
}

/** The server's response to an action that the person's page does not offer. */
export const requestRefused = (page: Page, method: string, path: string, body?: object) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`/dashboard${path}`, {
        method,
        ...(body !== undefined && { headers, body: JSON.stringify(body) }),
      });
      const { error } = (await response.json()) as { error?: { code: string } };
      return `${response.status} ${error?.code ?? ""}`;
    },
    [method, path, body] as const,
  );
