import { expect, test } from "bun:test";
import { createServerClient, createMachine, expectSuccess } from "../support/machine.ts";
import { pollUntil } from "../support/status-client.ts";
import { replyWith, startTarget } from "../support/target.ts";
import type { Json } from "../support/json.ts";
import { waitUntil } from "../support/poll.ts";

const create = (org: string, email: string) => ["users", "create", "--org", org, "--email", email];

test("an organization that the command line deletes disappears from a running server: checks, pages, keys, people, open streams", async () => {
  await using box = createMachine();
  await using site = await startTarget(replyWith(200));
  for (const name of ["Acme", "Umbrella"]) await expectSuccess(box.run(["orgs", "create", name]));
  await expectSuccess(box.run([...create("umbrella", "ada@team.example"), "--name", "Ada"]));
  const secret = await expectSuccess(
    box.run([...create("acme", "bea@team.example"), "--name", "Bea"]),
  );
  const key = await expectSuccess(box.run(["keys", "create", "--org", "acme", "--name", "Script"]));
  const server = await box.serve({ flags: ["--allow-target", "127.0.0.0/8"] });
  const api = createServerClient(server.url, key);
  const result = await api("POST", "/api/v1/monitors", {
    type: "http",
    name: "Web shop",
    url: site.at("/"),
    interval: 5,
  });
  expect(result.status).toBe(201);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const host = "status.acme.example";
  const hosted = { hosts: [host] };
  expect((await api("PATCH", `/api/v1/status-pages/${page.id}`, hosted)).status).toBe(200);
  const signedIn = await fetch(`${server.url}/dashboard/sign-in`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" },
    body: JSON.stringify({ email: "bea@team.example", password: secret }),
  });
  const Cookie = signedIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  const live = await fetch(`${server.url}/dashboard/live`, { headers: { Cookie } });
  const ended = live.text();
  await pollUntil(`${server.url}/status/acme`, (text) => text.includes("Acme"));
  await pollUntil(`${server.url}/`, (text) => text.includes("Acme"), { Host: host });
  const theirs = ["keys", "create", "--org", "umbrella", "--name", "Script"];
  const other = createServerClient(server.url, await expectSuccess(box.run(theirs)));
  const monitor = { type: "http", name: "Blog", url: site.at("/blog"), interval: 5 };
  expect((await other("POST", "/api/v1/monitors", monitor)).status).toBe(201);
  const checksOf = (path: string) => site.asked.filter((one) => one.path === path).length;
  const waitUntilChecked = async (path: string, times: number) => {
    while (checksOf(path) < times) await site.waitUntilRequested(site.asked.length + 1);
  };
  await waitUntilChecked("/", 1);

  const unsaid = await box.run(["orgs", "delete", "acme"]);
  expect([unsaid.exitCode, unsaid.stdout]).toEqual([2, ""]);
  expect(unsaid.stderr).toContain("--yes is needed to delete Acme");
  const { exitCode, stdout, stderr } = await box.run(["orgs", "delete", "acme", "--yes"]);
  expect([exitCode, stdout, stderr]).toEqual([0, "", "Acme is deleted.\n"]);

  expect(await ended).toContain("event: hello");
  await pollUntil(`${server.url}/status/acme`, (text) => text.includes("Nothing here"));
  await pollUntil(`${server.url}/`, (text) => !text.includes("Acme"), { Host: host });
  const session = await fetch(`${server.url}/dashboard/session`, { headers: { Cookie } });
  expect(((await session.json()) as Json).data.state).toBe("signed-out");
  await waitUntil(async () => (await api("GET", "/api/v1/monitors")).status === 401);
  // The other organization's monitor is still checked.
  const checks = checksOf("/");
  await waitUntilChecked("/blog", checksOf("/blog") + 2);
  expect(checksOf("/")).toBe(checks);
  const left = JSON.parse(await expectSuccess(box.run(["orgs", "list", "--json"])));
  expect(left.map(({ slug }: { slug: string }) => slug)).toEqual(["umbrella"]);
  expect(await expectSuccess(box.run(["orgs", "create", "Acme"]))).toBe("acme");
  const again = await box.run(["orgs", "delete", "nobody", "--yes"]);
  expect([again.exitCode, again.stderr.includes("no organization")]).toEqual([1, true]);
});

test("the command line adds and removes administrators, but never the last one", async () => {
  await using box = createMachine();
  for (const name of ["Acme", "Umbrella"]) await expectSuccess(box.run(["orgs", "create", name]));
  await expectSuccess(box.run([...create("acme", "ada@team.example"), "--name", "Ada"]));
  await expectSuccess(box.run([...create("umbrella", "bea@team.example"), "--name", "Bea"]));
  const listAdministrators = async () => {
    const users = JSON.parse(await expectSuccess(box.run(["users", "list", "--json"])));
    return users
      .filter((one: { administrator: string }) => one.administrator === "yes")
      .map(({ email }: { email: string }) => email);
  };
  const buildUsers = (...args: string[]) => box.run(["users", ...args]);
  expect(await listAdministrators()).toEqual(["ada@team.example"]);
  const last = await buildUsers("revoke-administrator", "ada@team.example");
  expect([last.exitCode, last.stderr]).toEqual([
    1,
    "signalbox: The appliance needs an administrator. Make another person an administrator first.\n",
  ]);
  const unsaid = await buildUsers("grant-administrator", "BEA@team.example");
  expect([unsaid.exitCode, unsaid.stderr]).toEqual([2, expect.stringContaining("--org")]);
  const grant = (email: string) => buildUsers("grant-administrator", email, "--org", "umbrella");
  const granted = await grant("BEA@team.example");
  expect([granted.exitCode, granted.stdout, granted.stderr]).toEqual([
    0,
    "",
    "Bea (bea@team.example, of umbrella) is an administrator of the appliance.\n",
  ]);
  const stored = await box.run(["orgs", "delete", "umbrella", "--yes"]);
  expect([stored.exitCode, stored.stderr]).toEqual([
    1,
    expect.stringContaining("administrator of this appliance"),
  ]);
  await expectSuccess(buildUsers("revoke-administrator", "ada@team.example"));
  expect(await listAdministrators()).toEqual(["bea@team.example"]);
  expect((await grant("nobody@team.example")).stderr).toContain("No person signs in");
  await expectSuccess(box.run(["orgs", "delete", "acme", "--yes"]));
  expect(await listAdministrators()).toEqual(["bea@team.example"]);
});
