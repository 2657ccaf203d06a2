import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";

/** Signs a person in, as the page does. */
async function signInAndRead(url: string, email: string, password: string) {
  const request = (method: string, path: string, body?: object, cookie = "") =>
    fetch(`${url}/dashboard${path}`, {
      method,
      headers: {
        "Sec-Fetch-Site": "same-origin",
        Cookie: cookie,
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const entered = await request("POST", "/sign-in", { email, password });
  expect(entered.status).toBe(200);
  const cookie = entered.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  return (method: string, path: string) => request(method, path, undefined, cookie);
}

const listCopies = (dataDir: string) =>
  readdirSync(dataDir).filter((name) => name.includes("backup"));

test("backups downloaded during writes are complete and contain every earlier acknowledged write", async () => {
  await using box = await createMachineWithKey();
  const ada = ["--org", "acme", "--email", "ada@acme.example", "--name", "Ada", "--json"];
  const { email, password } = JSON.parse(await expectSuccess(box.run(["users", "create", ...ada])));
  const server = await box.serve();
  const api = createServerClient(server.url, box.key);
  let acknowledged = 0;
  let writing = true;
  const writers = Array.from({ length: 4 }, async () => {
    while (writing) {
      const { status } = await api("POST", "/api/v1/incidents", { title: "Slow" });
      if (status === 201) acknowledged++;
    }
  });
  const page = await signInAndRead(server.url, email, password);
  for (let round = 0; round < 5; round++) {
    const before = acknowledged;
    const { data } = (await (await page("POST", "/backup")).json()) as { data: { id: string } };
    const [copy = ""] = listCopies(box.dataDir);
    expect(statSync(join(box.dataDir, copy)).mode & 0o777).toBe(0o600);
    const bytes = await (await page("GET", `/backup/${data.id}`)).bytes();
    const database = Database.deserialize(bytes);
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
    const [[count] = []] = database.query("SELECT count(*) FROM incidents").values();
    expect(Number(count)).toBeGreaterThanOrEqual(before);
    database.close();
  }
  writing = false;
  await Promise.all(writers);
  expect(acknowledged).toBeGreaterThan(50);
  expect(listCopies(box.dataDir)).toEqual([]);
});

test("the next start removes the remains of a crashed backup", async () => {
  await using box = await createMachineWithKey();
  writeFileSync(join(box.dataDir, "signalbox.db.backup-01a1.part"), "half of it");
  await box.serve();
  expect(listCopies(box.dataDir)).toEqual([]);
});

test("the command line writes a backup while the server runs, and never overwrites a file", async () => {
  await using box = await createMachineWithKey();
  await box.serve();
  const file = join(box.directory, "copy.db");
  expect(await expectSuccess(box.run(["backup", file]))).toBe(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const copy = new Database(file, { readonly: true });
  expect(copy.query("SELECT name FROM organizations").values()).toEqual([["Acme"]]);
  copy.close();
  const again = await box.run(["backup", file]);
  expect([again.exitCode, again.stderr.includes("exists already")]).toEqual([1, true]);
  const nowhere = await box.run(["backup", join(box.directory, "gone", "copy.db")]);
  expect(nowhere.exitCode).toBe(1);
});
