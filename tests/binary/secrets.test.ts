import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import type { Client } from "../support/appliance.ts";
import { crawlRoutes, readRoutes } from "../support/crawler.ts";
import { canary, newChannels, newMonitors, signingCanary } from "../support/samples.ts";

test("no secret is in the data directory, a backup, the output, the command line or any response", async () => {
  await using box = await createMachineWithKey();
  const ada = ["--org", "acme", "--email", "ada@acme.example", "--name", "Ada", "--json"];
  const { email, password } = JSON.parse(await expectSuccess(box.run(["users", "create", ...ada])));
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const cmdline = readFileSync(`/proc/${server.child.pid}/cmdline`, "utf8");
  const api = createServerClient(server.url, box.key);
  const ids: Record<string, string> = {};
  const make = async (noun: string, body: object) => {
    const { status, json } = await api("POST", `/api/v1/${noun}`, body);
    expect([noun, status, json.error]).toEqual([noun, 201, undefined]);
    ids[noun] = json.data.id;
    return json.data;
  };
  for (const [type, { secrets, others, instead }] of Object.entries(newChannels))
    for (const one of [{ secrets, others }, ...(instead ? [instead] : [])])
      await make("alert-channels", { type, name: type, ...one.others, ...one.secrets });
  await make("monitors", {
    type: "http",
    name: "Intranet",
    ...newMonitors.http,
    basicAuth: { username: "probe", password: canary },
    headers: { "X-Api-Key": canary },
  });
  const { pushUrl } = await make("monitors", { type: "push", name: "Job" });
  // People who can read a monitor can report for it; people who only see files cannot.
  const pushToken = pushUrl.split("/").at(-1);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const locked = { visibility: "password", password: `${canary} of the page` };
  expect((await api("PATCH", `/api/v1/status-pages/${page.id}`, locked)).status).toBe(200);
  const settings = {
    smtp: { host: "mail.lan", user: "probe", password: canary, from: "a@team.example" },
  };
  expect((await api("PATCH", "/api/v1/settings", settings)).json.error).toBeUndefined();
  const signIn = await fetch(`${server.url}/dashboard/sign-in`, {
    method: "POST",
    headers: { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  const session = /=([^;]+)/.exec(signIn.headers.getSetCookie()[0] ?? "")?.[1] ?? "";
  expect([signIn.status, session.length > 20]).toEqual([200, true]);
  // Failed requests are the ones that get into messages.
  await api("POST", `/api/v1/alert-channels/${ids["alert-channels"]}/test`);
  await api("POST", `/api/v1/monitors/${ids["monitors"]}/check`);

  const sources: Record<string, string> = { cmdline };
  const read = async (_: string, path: string) => {
    const headers = { Authorization: `Bearer ${box.key}` };
    const answered = await fetch(`${server.url}${path}`, { headers });
    return Object.assign(answered, { text: await answered.text() });
  };
  ids["status-pages"] = page.id;
  for (const { path, text } of await crawlRoutes(readRoutes.api, ids, read as unknown as Client))
    sources[path] = text;
  for (const path of ["/metrics", "/status/acme", "/", "/healthz"])
    sources[path] = (await read("GET", path)).text;
  const readFiles = (directory: string) => {
    for (const name of readdirSync(directory))
      sources[name] = readFileSync(join(directory, name), "latin1");
  };
  const backup = join(box.directory, "backup.db");
  await expectSuccess(box.run(["backup", backup]));
  sources["backup"] = readFileSync(backup, "latin1");
  readFiles(box.dataDir);
  expect(sources["signalbox.db-wal"]?.length).toBeGreaterThan(100_000);
  await server.stop();
  readFiles(box.dataDir);
  sources["stdout"] = await new Response(server.child.stdout).text();
  sources["stderr"] = await new Response(server.child.stderr).text();
  expect(Object.keys(sources).length).toBeGreaterThan(30);

  // Other values are found in the same places.
  for (const place of ["backup", "signalbox.db", "/api/v1/monitors/"])
    expect(sources[place]).toContain("Intranet");
  const secrets = { canary, signingCanary, key: box.key, password, session };
  for (const [place, text] of Object.entries(sources)) {
    const found = Object.entries(secrets).flatMap(([name, one]) =>
      text.includes(one) ? name : [],
    );
    expect([place, found]).toEqual([place, []]);
    if (!place.startsWith("/")) expect([place, text.includes(pushToken)]).toEqual([place, false]);
  }
});
